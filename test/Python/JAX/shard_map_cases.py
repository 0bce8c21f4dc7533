# REQUIRES: jax
# RUN: env BRAID_OPTIMIZATION_LEVEL=3 %jax_python %s
"""Cases of JAX's own tests of shard_map (`tests/shard_map_test.py`) around the collectives
themselves, against JAX: gradients, specs that differ between arguments and results, axes in
any order, groups, indices, loops."""

import unittest

import jax
import jax_testing as jt
from jax import lax
from jax.sharding import PartitionSpec as P
from jax_testing import CUBE, LINES

PLANE = jt.make_mesh((4, 2), ("x", "y"))


def shard(mesh, in_specs, out_specs, fn, **options):
    return jax.jit(jax.shard_map(fn, mesh=mesh, in_specs=in_specs, out_specs=out_specs, **options))


def rotate(count, step=1):
    return [(i, (i + step) % count) for i in range(count)]


class ShardMapTest(jt.JaxTestCase):
    def test_several_gathers(self):
        spec = P("z", ("x", "y"))
        self.check_equal(shard(CUBE, spec, spec, lambda x: (
            lax.all_gather(x, "z", axis=0, tiled=True),
            lax.all_gather(x, ("x", "y"), axis=-1, tiled=True))), jt.integers((8, 8)))

    def test_gathers_that_do_not_vary(self):
        self.check_equal(shard(CUBE, P("z", ("x", "y")), (P(None, ("x", "y")), P("z")), lambda x: (
            lax.all_gather(x, "z", axis=0, tiled=True, to="invarying"),
            lax.all_gather(x, ("x", "y"), axis=-1, tiled=True, to="invarying"))),
            jt.integers((8, 8)))

    def test_gradient_of_a_gather(self):
        for mesh in LINES.values():
            f = shard(mesh, P("i"), P(),
                      lambda x: lax.all_gather(x, "i", tiled=True, to="invarying"))
            self.check_equal(jax.jit(jax.grad(lambda x, f=f: (f(x) ** 2).sum())),
                             jt.integers((16,)))

    def test_gradient_of_an_exchange(self):
        for mesh in LINES.values():
            f = shard(mesh, P("i", None), P(None, "i"),
                      lambda x: lax.all_to_all(x, "i", split_axis=1, concat_axis=0, tiled=True))
            x = jt.integers((8, 8))
            self.check_equal(f, x)
            self.check_equal(jax.jit(jax.value_and_grad(lambda x, f=f: (f(x) ** 2).sum())), x)

    def test_gradient_of_a_sum(self):
        for mesh in LINES.values():
            f = shard(mesh, P("i"), (P("i"), P()), lambda x: (x, lax.psum(x, "i")))
            self.check_equal(jax.jit(jax.grad(lambda x, f=f: f(x)[0].sum() + (f(x)[1] ** 2).sum())),
                             jt.integers((16,)))

    def test_gradient_of_a_scatter_and_a_permute(self):
        for ranks, mesh in LINES.items():
            def f(x, n=ranks):
                y = lax.psum_scatter(x, "i", scatter_dimension=1, tiled=True)
                return lax.ppermute(y, "i", rotate(n))
            g = shard(mesh, P("i"), P("i"), f)
            self.check_equal(jax.jit(jax.grad(lambda x, g=g: (g(x) ** 2).sum())),
                             jt.integers((8, 8)))

    def test_permute_along_axes_that_are_not_the_last(self):
        for axes in (("x", "y"), ("y", "x"), ("z", "x"), ("x", "y", "z")):
            with self.subTest(axes=axes):
                self.check_equal(shard(
                    CUBE, P("x", ("y", "z")), P("x", ("y", "z")),
                    lambda x: lax.ppermute(x, axes, rotate(lax.axis_size(axes)))),
                    jt.integers((4, 16)))

    def test_transpose_by_an_exchange(self):
        x = jt.integers((8, 8))
        for axes, mesh in (("i", LINES[8]), (("x", "y"), PLANE), (("y", "x"), PLANE)):
            with self.subTest(axes=axes):
                self.check_equal(shard(
                    mesh, P(axes, None), P(None, axes),
                    lambda x: lax.all_to_all(x, axes, split_axis=1, concat_axis=1, tiled=True)), x)

    def test_exchange_of_groups(self):
        for groups in (((0, 1), (2, 3)), ((3, 1), (0, 2))):
            with self.subTest(groups=groups):
                self.check_equal(shard(
                    LINES[4], P("i", None), P(None, "i"),
                    lambda x: lax.all_to_all(x, "i", split_axis=1, concat_axis=0, tiled=True,
                                             axis_index_groups=groups)), jt.integers((4, 4)))

    def test_index_without_arguments(self):
        for mesh in LINES.values():
            self.check_equal(shard(mesh, (), P("i"), lambda: lax.axis_index("i")[None]))

    def test_index_of_some_manual_axes(self):
        mesh = jt.make_mesh((2, 2, 1), ("i", "j", "k"))
        self.check_equal(shard(mesh, (), P("i"), lambda: lax.axis_index("i").reshape((1,)),
                               axis_names={"i"}, check_vma=False))

    def test_permute_of_a_vmapped_axis(self):
        for ranks, mesh in LINES.items():
            self.check_equal(shard(mesh, P(None, "i"), P(None, "i"), lambda x, n=ranks: jax.vmap(
                lambda row: lax.ppermute(row, "i", rotate(n)) + lax.psum(row, ("i", "v")),
                axis_name="v")(x), check_vma=False), jt.integers((3, 16)))

    def test_collective_in_a_scan(self):
        for ranks, mesh in LINES.items():
            def f(x, n=ranks):
                def body(carry, _):
                    return lax.ppermute(carry, "i", rotate(n)) + lax.axis_index("i"), carry.sum()
                return lax.scan(body, x, None, length=n)
            self.check_equal(shard(mesh, P("i"), (P("i"), P(None)), f, check_vma=False),
                             jt.integers((8, 2)))


if __name__ == "__main__":
    unittest.main()
