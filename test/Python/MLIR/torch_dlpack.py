"""Tensors of PyTorch through DLPack, in and out of programs, of bf16 and 8-bit floats, too."""

# REQUIRES: package, torch
# RUN: %package_python -W ignore %s

import importlib.util
import unittest

import torch
from braid.mlir import ArgumentError, Program, from_dlpack, to_dlpack

SUM = """comm.group @world all
func.func @main(%x: tensor<4xTYPE>) -> tensor<4xTYPE> {
  %t = comm.all_reduce sum %x on @world : tensor<4xTYPE>
  %s = comm.wait %t : !comm.token<tensor<4xTYPE>>
  return %s : tensor<4xTYPE>
}
"""


class TorchTest(unittest.TestCase):
    def test_element_types(self):
        for name, dtype in [("f32", torch.float32), ("f16", torch.float16), ("i64", torch.int64)]:
            with self.subTest(name):
                inputs = [torch.arange(4).to(dtype) + rank for rank in range(2)]
                executable = Program(SUM.replace("TYPE", name)).compile()
                results = executable.run([[x] for x in inputs])
                self.assertEqual(executable.copied_bytes, 0)
                for result in results:
                    found = torch.from_dlpack(to_dlpack(result[0]))
                    self.assertEqual(found.dtype, dtype)
                    self.assertTrue(torch.equal(found, inputs[0] + inputs[1]))

    def test_bf16(self):
        inputs = [torch.arange(4).to(torch.bfloat16) + rank for rank in range(2)]
        executable = Program(SUM.replace("TYPE", "bf16")).compile()
        if importlib.util.find_spec("ml_dtypes") is None:
            with self.assertRaisesRegex(ArgumentError, "arrays of bf16 need the package ml_dtypes"):
                executable.run([[x] for x in inputs])
            return
        results = executable.run([[x] for x in inputs])
        self.assertEqual(executable.copied_bytes, 0)
        for result in results:
            found = torch.from_dlpack(to_dlpack(result[0]))
            self.assertEqual(found.dtype, torch.bfloat16)
            self.assertTrue(torch.equal(found, inputs[0] + inputs[1]))

    def test_memory_is_shared(self):
        tensor = torch.zeros(2, 3).t()
        found = from_dlpack(tensor)
        tensor[2, 1] = 7
        self.assertEqual(found[2, 1], 7)
        self.assertEqual(found.strides, (4, 12))


if __name__ == "__main__":
    unittest.main()
