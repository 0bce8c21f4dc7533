# REQUIRES: jax
# RUN: %jax_python %s
"""Reductions and gathers of JAX through Braid, against JAX: the cases of JAX's own
tests of shard_map that its CPU backend runs, on 2, 4 and 8 ranks."""

import unittest

import jax
import jax_testing as jt
import numpy as np
from jax import lax
from jax.sharding import PartitionSpec as P
from jax_testing import CUBE, LINES, shard


class ReductionTest(jt.JaxTestCase):
    def check_on_lines(self, fn, dtype=np.float32, shape=(3, 4), out=P("i")):
        for ranks, mesh in LINES.items():
            with self.subTest(ranks=ranks):
                x = jt.integers((ranks * shape[0], *shape[1:]), dtype)
                self.check_equal(shard(mesh, P("i"), out, fn), x)

    def test_psum(self):
        for dtype in (np.float32, np.int8, np.int32, np.uint32, np.uint8,
                      np.float16, np.complex64, jax.numpy.bfloat16):
            with self.subTest(dtype=dtype):
                self.check_on_lines(lambda x: lax.psum(x, "i"), dtype)

    def test_psum_of_a_tree(self):
        for ranks, mesh in LINES.items():
            tree = {"a": jt.integers((ranks, 3)), "b": [jt.integers((ranks,), np.int32)]}
            self.check_equal(shard(mesh, P("i"), P("i"), lambda t: lax.psum(t, "i")), tree)

    def test_psum_of_a_scalar_constant(self):
        self.check_on_lines(lambda x: x * lax.psum(1, "i"))

    def test_pmean(self):
        self.check_on_lines(lambda x: lax.pmean(x, "i"))

    def test_pmax_and_pmin(self):
        for dtype in (np.float32, np.int32, np.uint32, np.uint8, np.int16):
            with self.subTest(dtype=dtype):
                self.check_on_lines(lambda x: (lax.pmax(x, "i"), lax.pmin(x, "i")), dtype)

    def test_psum_over_several_axes(self):
        x = jt.integers((8, 8))
        specs = P("z", ("x", "y"))
        for axes in ("x", ("x", "y"), ("z", "x"), ("x", "y", "z")):
            with self.subTest(axes=axes):
                self.check_equal(shard(CUBE, specs, specs, lambda x: lax.psum(x, axes)), x)

    def test_psum_of_groups(self):
        x = jt.integers((8, 3))
        for groups in ([[0, 4, 1, 5], [2, 6, 3, 7]], [[0, 2, 4, 6], [1, 3, 5, 7]]):
            with self.subTest(groups=groups):
                self.check_equal(shard(
                    LINES[8], P("i"), P("i"),
                    lambda x: lax.psum(x, "i", axis_index_groups=groups)), x)

    def test_psum_scatter(self):
        for tiled in (True, False):
            for dimension in (0, 1):
                with self.subTest(tiled=tiled, dimension=dimension):
                    x = jt.integers((16, 8))
                    self.check_equal(shard(
                        LINES[8], P(None, None), P("i"),
                        lambda x: lax.psum_scatter(x[:8], "i", scatter_dimension=dimension,
                                                   tiled=tiled)), x)

    def test_psum_scatter_over_several_axes(self):
        a, b = jt.integers((8, 8)), jt.integers((8, 8), seed=1)

        def matmul(a, b):
            c = a @ b
            return (lax.psum_scatter(c, "y", scatter_dimension=0, tiled=True),
                    lax.psum_scatter(c, ("z", "y"), scatter_dimension=0, tiled=True))
        self.check_equal(shard(CUBE, (P("z", "y"), P("y", None)), P(("z", "y"), None),
                               matmul), a, b)

    def test_psum_scatter_of_groups(self):
        groups = ((0, 2, 4, 6), (1, 3, 5, 7))
        spec = P(None, ("x", "y", "z"))
        self.check_equal(shard(
            CUBE, spec, spec,
            lambda x: lax.psum_scatter(x, ("x", "y", "z"), scatter_dimension=0,
                                       axis_index_groups=groups, tiled=True)),
            jt.integers((8, 8)))

    def test_any_and_all_of_booleans(self):
        x = jt.integers((8, 4)) > 2
        self.check_equal(shard(LINES[8], P("i"), P("i"),
                               lambda x: lax.pmax(x.astype(np.int32), "i") > 0), x)


class GatherTest(jt.JaxTestCase):
    def test_all_gather(self):
        for ranks, mesh in LINES.items():
            for tiled in (True, False):
                for axis in (0, 1):
                    with self.subTest(ranks=ranks, tiled=tiled, axis=axis):
                        x = jt.integers((ranks * 2, 3))
                        self.check_equal(shard(
                            mesh, P("i"), P("i"),
                            lambda x: lax.all_gather(x, "i", axis=axis, tiled=tiled)), x)

    def test_all_gather_of_types(self):
        for dtype in (np.bool_, np.int8, np.uint16, np.float16, np.complex64,
                      jax.numpy.bfloat16, jax.numpy.float8_e4m3fn):
            with self.subTest(dtype=dtype):
                x = jt.integers((8, 3)).astype(dtype)
                self.check_equal(shard(LINES[4], P("i"), P("i"),
                                       lambda x: lax.all_gather(x, "i", tiled=True)), x)

    def test_all_gather_over_several_axes(self):
        spec = P("z", ("x", "y"))
        for axes in ("z", ("x", "y"), ("y", "x")):
            with self.subTest(axes=axes):
                self.check_equal(shard(
                    CUBE, spec, spec,
                    lambda x: lax.all_gather(x, axes, axis=-1, tiled=True)),
                    jt.integers((8, 8)))

    def test_all_gather_of_groups(self):
        spec = P("x", ("y", "z"))
        self.check_equal(shard(
            CUBE, spec, spec,
            lambda x: lax.all_gather(x, ("y", "z"), axis_index_groups=((0, 1), (2, 3)),
                                     axis=-1, tiled=True)), jt.integers((8, 8)))

    def test_groups_in_any_order(self):
        groups = [[3, 0], [1, 2], [7, 4], [5, 6]]
        program = self.check_equal(shard(
            LINES[8], P("i"), P("i"),
            lambda x: lax.all_gather(x, "i", axis_index_groups=groups, tiled=True)),
            jt.integers((8, 2)))
        self.assertIn("[[3, 0], [1, 2], [7, 4], [5, 6]]", program.text)

    def test_all_gather_invariant(self):
        mesh = LINES[4]
        f = jax.jit(jax.shard_map(lambda x: lax.all_gather(x, "i", tiled=True, to="invarying"),
                                  mesh=mesh, in_specs=P("i"), out_specs=P()))
        self.check_equal(f, jt.integers((8,)))


if __name__ == "__main__":
    unittest.main()
