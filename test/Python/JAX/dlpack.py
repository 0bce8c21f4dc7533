# REQUIRES: jax
# RUN: %jax_python %s
"""Arrays of JAX through DLPack, in and out of programs, of bf16 and 8-bit floats, too."""

import unittest

import jax
import jax.numpy as jnp
import numpy as np

import braid.mlir
from braid.mlir import from_dlpack, to_dlpack

SUM = """comm.group @world all
func.func @main(%x: tensor<4xTYPE>) -> tensor<4xTYPE> {
  %t = comm.all_reduce sum %x on @world : tensor<4xTYPE>
  %s = comm.wait %t : !comm.token<tensor<4xTYPE>>
  return %s : tensor<4xTYPE>
}
"""


class OnlyDLPack:
    """An array of JAX as a package without NumPy would give it."""

    def __init__(self, array):
        self.array = array

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)


class JaxTest(unittest.TestCase):
    def test_element_types(self):
        for name, dtype in [("f32", jnp.float32), ("bf16", jnp.bfloat16), ("f16", jnp.float16),
                            ("i32", jnp.int32), ("f8E4M3FN", jnp.float8_e4m3fn),
                            ("f8E5M2", jnp.float8_e5m2)]:
            with self.subTest(name):
                inputs = [jnp.arange(4).astype(dtype) + dtype(rank) for rank in range(2)]
                executable = braid.mlir.Program(SUM.replace("TYPE", name)).compile()
                results = executable.run([[OnlyDLPack(x)] for x in inputs])
                self.assertEqual(executable.copied_bytes, 0)
                expected = np.asarray(inputs[0] + inputs[1])
                for result in results:
                    np.testing.assert_array_equal(result[0], expected)
                    array = jax.dlpack.from_dlpack(to_dlpack(result[0]))
                    self.assertEqual(array.dtype, dtype)
                    np.testing.assert_array_equal(np.asarray(array), expected)

    def test_memory_is_shared(self):
        array = jnp.arange(4, dtype=jnp.bfloat16)
        found = from_dlpack(array)
        self.assertEqual(found.ctypes.data, array.unsafe_buffer_pointer())


if __name__ == "__main__":
    unittest.main()
