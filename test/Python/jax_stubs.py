# REQUIRES: jax
# RUN: %jax_python %s
"""The stubs of braid.mlir and braid.jax say what these have."""

import unittest

import stubs


class ModuleStubs(stubs.Checks, unittest.TestCase):
    def test_mlir(self):
        self.check("braid.mlir")

    def test_jax(self):
        self.check("braid.jax")


if __name__ == "__main__":
    unittest.main()
