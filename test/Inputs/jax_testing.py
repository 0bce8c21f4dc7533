# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the tests of braid.jax share: eight devices of the host, meshes of them, and
the comparison of a function's results with those of JAX itself."""

import os
import unittest

# JAX compiles what it runs once: code that is quick to make.
os.environ["XLA_FLAGS"] = ("--xla_force_host_platform_device_count=8 --xla_backend_optimization_level=0 "
                           "--xla_llvm_disable_expensive_passes=true")
os.environ["JAX_PLATFORMS"] = "cpu"
# Half the time of a compile. programs.py and shard_map_cases.py ask for optimized code.
os.environ.setdefault("BRAID_OPTIMIZATION_LEVEL", "0")

import jax
import numpy as np
from jax.sharding import Mesh

import braid.jax


def make_mesh(shape, names):
    """A mesh of the first devices."""
    count = int(np.prod(shape))
    return Mesh(np.array(jax.devices()[:count]).reshape(shape), names)


CUBE = make_mesh((2, 2, 2), ("x", "y", "z"))
LINES = {ranks: make_mesh((ranks,), ("i",)) for ranks in (2, 4, 8)}


def shard(mesh, in_specs, out_specs, fn):
    # Some cases say of a value that differs between ranks that it does not.
    return jax.jit(jax.shard_map(fn, mesh=mesh, in_specs=in_specs, out_specs=out_specs, check_vma=False))


def integers(shape, dtype=np.float32, seed=0):
    """Small whole numbers: sums of them are exact in every order."""
    return np.random.RandomState(seed).randint(-8, 9, shape).astype(dtype)


def normals(shape, dtype=np.float32, seed=0):
    return np.random.RandomState(seed).standard_normal(shape).astype(dtype)


class JaxTestCase(unittest.TestCase):
    """Compares functions with JAX."""

    def check_equal(self, fn, *args, tolerance=0.0):
        """`fn` gives the same through Braid as in JAX: bit for bit, or within
        `tolerance` of the largest element where products and sums may round
        differently. Gives the program."""
        expected = jax.tree.map(np.asarray, fn(*args))
        program = braid.jax.export(fn, *args)
        found = program.compile()(*args)
        self.assertEqual(jax.tree.structure(found), jax.tree.structure(expected))
        for one, other in zip(jax.tree.leaves(found), jax.tree.leaves(expected)):
            self.assertEqual(one.dtype, other.dtype)
            self.assertEqual(one.shape, other.shape)
            if tolerance and other.size:
                one, other = one.astype(np.float64), other.astype(np.float64)
                largest = np.abs(other).max()
                np.testing.assert_allclose(one, other, rtol=0, atol=tolerance * largest)
            else:
                np.testing.assert_array_equal(one, other)
        return program
