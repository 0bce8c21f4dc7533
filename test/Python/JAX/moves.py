# REQUIRES: jax
# RUN: %jax_python %s
"""Permutes, exchanges, indices of axes and `jax.pmap` through Braid, against JAX: the
cases of JAX's own tests of shard_map and pmap that its CPU backend runs, on 2, 4 and
8 ranks."""

import unittest

import jax
import jax_testing as jt
import numpy as np
from jax import lax
from jax.sharding import PartitionSpec as P
from jax_testing import CUBE, LINES, shard


class MoveTest(jt.JaxTestCase):
    def test_ppermute_rotates(self):
        for ranks, mesh in LINES.items():
            with self.subTest(ranks=ranks):
                pairs = [(i, (i + 1) % ranks) for i in range(ranks)]
                self.check_equal(shard(mesh, P("i"), P("i"),
                                       lambda x: lax.ppermute(x, "i", pairs)),
                                 jt.integers((ranks, 3)))

    def test_ppermute_fills_with_zeros(self):
        self.check_equal(shard(LINES[8], P("i"), P("i"),
                               lambda x: lax.ppermute(x, "i", [(0, 3), (5, 1)])),
                         jt.integers((8, 3)) + 1)

    def test_ppermute_along_each_axis(self):
        spec = P("x", ("y", "z"))
        for axis in ("x", "y", "z", ("y", "z")):
            with self.subTest(axis=axis):
                size = 4 if isinstance(axis, tuple) else 2
                pairs = [(i, (i + 1) % size) for i in range(size)]
                self.check_equal(shard(CUBE, spec, spec,
                                       lambda x: lax.ppermute(x, axis, pairs)),
                                 jt.integers((8, 8)))

    def test_pshuffle(self):
        self.check_equal(shard(LINES[4], P("i"), P("i"),
                               lambda x: lax.pshuffle(x, "i", [2, 0, 3, 1])),
                         jt.integers((4, 3)))

    def test_all_to_all(self):
        cases = [(4, split, concat) for split in range(3) for concat in range(3)]
        for ranks, split, concat in [(2, 1, 0), (8, 0, 1), *cases]:
            for tiled in (True, False):
                with self.subTest(ranks=ranks, tiled=tiled, split=split, concat=concat):
                    shape = [ranks * 2] * 3 if tiled else [ranks] * 3
                    x = jt.integers([ranks * shape[0], *shape[1:]])
                    self.check_equal(shard(
                        LINES[ranks], P("i"), P("i"),
                        lambda x: lax.all_to_all(x, "i", split, concat, tiled=tiled)), x)

    def test_all_to_all_over_several_axes(self):
        spec = P("z", ("x", "y"))
        x = jt.integers((32, 32))
        for axes in ("x", ("x", "y"), ("y", "x"), ("x", "y", "z")):
            with self.subTest(axes=axes):
                self.check_equal(shard(
                    CUBE, spec, spec,
                    lambda x: lax.all_to_all(x, axes, 1, 0, tiled=True)), x)

    def test_all_to_all_of_groups(self):
        self.check_equal(shard(
            CUBE, P(("x", "y", "z")), P(("x", "y", "z")),
            lambda x: lax.all_to_all(x, ("x", "y", "z"), 1, 1, tiled=True,
                                     axis_index_groups=((0, 2, 4, 6), (1, 3, 5, 7)))),
            jt.integers((8, 8)))


class IndexTest(jt.JaxTestCase):
    def test_axis_index(self):
        x = jt.integers((8, 8))
        for axes in ("x", "y", "z", ("x", "z"), ("z", "x")):
            with self.subTest(axes=axes):
                self.check_equal(shard(CUBE, P("x", ("y", "z")), P("x", ("y", "z")),
                                       lambda x: x + lax.axis_index(axes)), x)

    def test_devices_in_another_order(self):
        mesh = jax.sharding.Mesh(np.array(jax.devices())[[3, 1, 0, 2]], ("i",))
        self.check_equal(shard(mesh, P("i"), P("i"),
                               lambda x: lax.all_gather(x, "i") + lax.axis_index("i")),
                         jt.integers((4, 3)))

    def test_unused_argument(self):
        self.check_equal(shard(LINES[4], (P("i"), P()), (P("i"), P()),
                               lambda x, y: (lax.psum(x, "i"), y)),
                         jt.integers((4, 3)), jt.integers((2,)))
        self.check_equal(shard(LINES[4], (P("i"), P()), P("i"), lambda x, y: lax.psum(x, "i")),
                         jt.integers((4, 3)), jt.integers((2,)))

    def test_axes_without_devices_to_split(self):
        mesh = jt.make_mesh((4, 1), ("a", "b"))
        self.check_equal(shard(mesh, P("a", "b"), P("a", "b"),
                               lambda x: lax.psum(x, "b") + lax.all_gather(
                                   x, ("a", "b"), tiled=True)[:1]), jt.integers((4, 4)))

    def test_abstract_mesh(self):
        mesh = jax.sharding.AbstractMesh((4,), ("i",))
        program = jt.braid.jax.export(
            jax.shard_map(lambda x: lax.psum(x, "i"), mesh=mesh, in_specs=P("i"),
                          out_specs=P()), jax.ShapeDtypeStruct((8, 2), np.float32))
        x = jt.integers((8, 2))
        np.testing.assert_array_equal(program.compile()(x), x.reshape(4, 2, 2).sum(0))


    def test_mesh_of_the_context(self):
        x = jt.integers((8, 2))
        for mesh in (LINES[4], jax.sharding.AbstractMesh((4,), ("i",))):
            fn = jax.shard_map(lambda x: lax.psum(x, "i"), in_specs=P("i"), out_specs=P())
            program = jt.braid.jax.export(fn, x, mesh=mesh)
            np.testing.assert_array_equal(program.compile()(x), x.reshape(4, 2, 2).sum(0))


class PmapTest(jt.JaxTestCase):
    def check_on_all(self, fn, shape=(3,), axis_name="i"):
        for ranks in (2, 4, 8):
            with self.subTest(ranks=ranks):
                mapped = jax.pmap(fn, axis_name, devices=jax.devices()[:ranks])
                self.check_equal(mapped, jt.integers((ranks, *shape)))

    def test_reductions(self):
        self.check_on_all(lambda x: x - lax.psum(x, "i"))
        self.check_on_all(lambda x: lax.pmean(x, "i"))
        self.check_on_all(lambda x: lax.pmax(x, "i") - lax.pmin(x, "i"))

    def test_gathers(self):
        self.check_on_all(lambda x: lax.all_gather(x, "i"))
        self.check_on_all(lambda x: lax.all_gather(x, "i", axis=-1))

    def test_reduce_scatter(self):
        for ranks in (2, 4, 8):
            mapped = jax.pmap(lambda x: lax.psum_scatter(x, "i"), "i",
                              devices=jax.devices()[:ranks])
            self.check_equal(mapped, jt.integers((ranks, ranks, 3)))

    def test_axis_index(self):
        self.check_on_all(lambda x: x * lax.axis_index("i"))

    def test_ppermute(self):
        self.check_on_all(lambda x: lax.ppermute(x, "i", [(0, 1), (1, 0)]))

    def test_all_to_all(self):
        for ranks in (2, 4, 8):
            mapped = jax.pmap(lambda x: lax.all_to_all(x, "i", 0, 1), "i",
                              devices=jax.devices()[:ranks])
            self.check_equal(mapped, jt.integers((ranks, ranks, 3)))

    def test_psum_of_groups(self):
        mapped = jax.pmap(
            lambda x: lax.psum(x, "i", axis_index_groups=[[0, 3], [7, 4], [1, 2], [6, 5]]),
            "i")
        self.check_equal(mapped, jt.integers((8, 2)))


if __name__ == "__main__":
    unittest.main()
