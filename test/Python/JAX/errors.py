# REQUIRES: jax
# RUN: %jax_python %s
"""What braid.jax says of functions and arguments that it cannot take."""

import subprocess
import sys
import unittest
from unittest import mock

import jax
import jax_testing as jt
import numpy as np
from jax import lax
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

import braid.jax
import braid.mlir
from braid.jax import groups, partition, partitioner
from braid.jax.rewrites import matmuls

LINE = jt.make_mesh((4,), ("r",))
SQUARE = jt.make_mesh((2, 4), ("a", "b"))

# A sharding for other devices than the module has.
MODULE = """module attributes {mhlo.num_replicas = 1 : i32, mhlo.num_partitions = 2 : i32} {
  func.func public @main(%x: tensor<2xf32>) -> tensor<2xf32> {
    %r = stablehlo.add %x, %x {mhlo.sharding = "{devices=[3]<=[3]}"} : tensor<2xf32>
    return %r : tensor<2xf32>
  }
}"""


def shard(fn, in_specs=P("r"), out_specs=P("r")):
    return jax.jit(jax.shard_map(fn, mesh=LINE, in_specs=in_specs, out_specs=out_specs,
                                 check_vma=False))


def make_call(shape):
    """A call of a library that Braid does not know."""
    return jax.ffi.ffi_call("nothing", jax.ShapeDtypeStruct(shape, np.float32))


class UnsupportedTest(unittest.TestCase):
    def test_op_is_named_with_its_line(self):
        call = make_call((1, 4))

        def transform(x):
            y = x * 2
            return call(y)  # this line

        with self.assertRaises(braid.jax.UnsupportedError) as caught:
            braid.jax.export(shard(transform), jt.normals((8, 4)))
        error = caught.exception
        self.assertEqual((error.op, error.primitive), ("stablehlo.custom_call", "ffi_call"))
        self.assertEqual(error.location.file, __file__)
        self.assertEqual(error.location.line, transform.__code__.co_firstlineno + 2)
        self.assertIn(f"{__file__}:{error.location.line}:", str(error))
        self.assertIn("the call of `nothing` has no translation", str(error))

    def test_op_of_a_program_with_shardings(self):
        on = NamedSharding(SQUARE, P("a", "b"))

        call = make_call((8, 16))

        def transform(x):
            y = x * 2
            return call(y) + 1  # this line

        with self.assertRaises(braid.jax.UnsupportedError) as caught:
            braid.jax.export(jax.jit(transform, in_shardings=on), jt.normals((8, 16)))
        error = caught.exception
        self.assertEqual((error.op, error.primitive), ("stablehlo.custom_call", "ffi_call"))
        self.assertEqual((error.location.file, error.location.line),
                         (__file__, transform.__code__.co_firstlineno + 2))

    def test_what_the_partitioner_says(self):
        module = partitioner.parse(MODULE)
        with module.context:
            world = groups.World(module)
            with self.assertRaisesRegex(
                    braid.jax.PartitionError, "^-:3:10: the partitioner failed: .*should have 2 "
                    "devices but has 3") as caught:
                partition.partition(module, world)
        self.assertEqual(caught.exception.location.line, 3)

    def test_place_that_xla_keeps_in_a_name(self):
        error = braid.jax.PartitionError('unexpected %mul.1 = f32[] multiply(), metadata={op_name="jit(f)/mul <- '
                                         '/a b/c.py:12:4" stack_frame_id=7}')
        self.assertEqual(str(error), "/a b/c.py:12:4: the partitioner failed: unexpected %mul.1 = f32[] multiply(); a "
                         "function under jax.shard_map needs no partitioner")

    def test_fault_of_a_translation_names_op_and_line(self):
        def product(x):
            return x @ x.T  # this line

        def fail(op):
            if op.name == "stablehlo.dot_general":
                raise KeyError("a fault")
            return False

        with mock.patch.object(matmuls, "rewrite", fail):
            with self.assertRaisesRegex(
                    braid.jax.UnsupportedError,
                    r"errors.py:\d+:\d+: stablehlo.dot_general \(from dot_general\): its "
                    "translation fails: KeyError: 'a fault'") as caught:
                braid.jax.export(shard(product), jt.normals((8, 4)))
        self.assertEqual(caught.exception.location.line, product.__code__.co_firstlineno + 1)


class VersionTest(unittest.TestCase):
    def run_with(self, version, statement=""):
        code = f"import jax; jax.__version__ = '{version}'; {statement}import braid.jax"
        return subprocess.run([sys.executable, "-c", code], text=True, capture_output=True, check=False)

    def test_unknown_version(self):
        done = self.run_with("0.99.1")
        self.assertIn("UntestedVersionWarning: braid.jax was never tested with JAX 0.99.1, only with "
                      "0.8.3, ", done.stderr)
        self.assertEqual(done.returncode, 0)

    def test_old_version(self):
        done = self.run_with("0.7.2")
        self.assertIn("VersionError: found JAX 0.7.2, expected 0.8 or newer", done.stderr)

    def test_lacking_name(self):
        done = self.run_with(jax.__version__, "from jaxlib import _jax; del _jax.DeviceList; ")
        self.assertIn("VersionError: braid.jax needs jaxlib._jax.DeviceList, which this jaxlib lacks",
                      done.stderr)


class ArgumentsTest(unittest.TestCase):
    def setUp(self):
        self.function = braid.jax.compile(shard(lambda tree: lax.psum(tree["x"], "r")),
                                          {"x": jt.integers((8, 2))})

    def test_other_tree(self):
        with self.assertRaisesRegex(braid.mlir.ArgumentError, "the arguments are .*'y'.*, "
                                    "expected .*'x'"):
            self.function({"y": jt.integers((8, 2))})

    def test_other_shape(self):
        with self.assertRaisesRegex(braid.mlir.ArgumentError,
                                    r"argument 0 is float32\[4, 2\], expected float32\[8, 2\]"):
            self.function({"x": jt.integers((4, 2))})

    def test_other_type(self):
        with self.assertRaisesRegex(braid.mlir.ArgumentError,
                                    r"argument 0 is int32\[8, 2\], expected float32\[8, 2\]"):
            self.function({"x": jt.integers((8, 2), np.int32)})

    def test_64_bits_become_32_as_in_jax(self):
        x = jt.integers((8, 2), np.float64)
        self.assertEqual(self.function({"x": x}).dtype, np.float32)


def some_ranks_reduce(x):
    return lax.cond(lax.axis_index("r") < 2,
                    lambda x: lax.psum(x, "r"),  # this line
                    lambda x: x, x)


class RanksTest(unittest.TestCase):
    def test_deadlock_is_found_at_the_line_of_the_collective(self):
        line = some_ranks_reduce.__code__.co_firstlineno + 2
        with self.assertRaisesRegex(
                braid.mlir.ToolError,
                rf"errors.py:{line}:\d+: error: 'comm.all_reduce' op starts operation #0 of rank 0 "
                "on group 'world', where rank 2 starts only 0"):
            braid.jax.compile(shard(some_ranks_reduce), jt.integers((8, 2)))

    def test_failure_names_the_line_of_the_collective(self):
        function = braid.jax.export(shard(some_ranks_reduce), jt.integers((8, 2))).compile(
            verify="off")
        with self.assertRaises(braid.mlir.RankError) as caught:
            function(jt.integers((8, 2)))
        error = caught.exception
        self.assertIn(error.rank, (0, 1))
        self.assertEqual(error.op, "all_reduce sum tensor<2x2xf32>")
        self.assertEqual(error.location.file, __file__)
        self.assertEqual(error.location.line, some_ranks_reduce.__code__.co_firstlineno + 2)


if __name__ == "__main__":
    unittest.main()
