# REQUIRES: jax
# RUN: %jax_python %s
"""Meshes of `jax.make_mesh`, whose axes are in the types of arrays (`AxisType.Explicit`), and mixtures with automatic and
manual axes, against JAX. Each program has many ops: a partition takes seconds."""

import unittest

import jax
import jax.numpy as jnp
import jax_testing as jt
import numpy as np
from jax import lax
from jax.sharding import AxisType, NamedSharding, reshard
from jax.sharding import PartitionSpec as P

import braid.jax


def make_mesh(shape, *types):
    return jax.make_mesh(shape, ("a", "b"), axis_types=types or (AxisType.Explicit,) * 2)


def products(x, y):
    """Of x along (a, b) and y along b."""
    def loss(y):
        return (jnp.einsum("ij,jk->ik", x, y, out_sharding=P("a", None)) ** 2).sum()

    sums = jnp.einsum("ij,jk->ik", x, y, out_sharding=P("a", None, unreduced={"b"}))
    rows = reshard(x, P("a", None))
    return (jnp.dot(x, y, out_sharding=P("a", None)),
            lax.dot_general(x, y, (((1,), (0,)), ((), ())), out_sharding=P("a", "b")),
            reshard(sums, P("a", None)), jax.grad(loss)(y),
            lax.scan(lambda c, _: (jnp.einsum("ij,jk->ik", c, x[:, :8].T, out_sharding=P("a", None))[:, :8] % 7, c.sum()),
                     rows[:, :8], None, length=3))


def moves(x, i, key):
    rows = reshard(x, P("a"))
    return (reshard(x, P(None, "a")), reshard(x + 1, P()), rows.reshape(8, 4, 4), jnp.concatenate([rows, 2 * rows], axis=1),
            x + jnp.ones((8, 16), out_sharding=P("a", "b")), rows.max(1), jnp.argmax(rows, axis=1),
            reshard(x, P(None, "b")).at[i].get(out_sharding=P(None, "b")),
            reshard(x, P(None, "b")).at[i].add(1, out_sharding=P(None, "b")),
            jax.random.randint(key, (8, 16), 0, 9, out_sharding=P("b", "a")),
            lax.cond(x.sum() > 0, lambda x: 2 * x, lambda x: x - 1, x), jax.vmap(lambda row: row - row.sum())(rows),
            jax.sharding.auto_axes(lambda x: jnp.cumsum(x, 0)[::-1], out_sharding=P("a", "b"))(x),
            lax.broadcast_in_dim(rows, (8, 16, 4), (0, 1), out_sharding=P("a", None, "b")))


def computations(x, y):
    """Manual over all axes, over some of them, and in one another."""
    def over(axes, fn, ins, outs):
        return jax.shard_map(fn, in_specs=ins, out_specs=outs, axis_names=axes)

    inner = over({"b"}, lambda x: lax.psum(x, "b"), P(None, "b"), P())
    product = over({"b"}, lambda x, y: lax.psum(x @ y, "b"), (P(None, "b"), P("b")), P())
    return (over({"a", "b"}, lambda x: lax.psum(x, "a"), P("a", "b"), P(None, "b"))(x) * 2,
            over({"a"}, lambda x: lax.psum(x, "a"), P("a"), P())(x) + 1, product(x, y),
            over({"a"}, lambda x: inner(x) * lax.axis_index("a"), P("a"), P("a"))(x),
            jax.grad(lambda y: (product(x, y) ** 2).sum())(y))


class ExplicitMeshTest(jt.JaxTestCase):
    def check_on(self, mesh, fn, *args):
        """args: pairs of an array and its spec"""
        with jax.set_mesh(mesh):
            program = self.check_equal(jax.jit(fn), *[jax.device_put(value, NamedSharding(mesh, spec)) for value, spec in args])
        self.assertEqual(program.ranks, mesh.size)
        return program

    X, Y = (jt.integers((8, 16)), P("a", "b")), (jt.integers((16, 8), seed=1), P("b"))

    def test_products(self):
        for shape in ((2, 2), (1, 2)):
            program = self.check_on(make_mesh(shape), products, self.X, self.Y)
            self.assertEqual(program.out_shardings[1].axes[1], ["b"])
            self.assertIn("comm.all_reduce sum", program.text)

    def test_moves(self):
        i, key = (np.int32([1, 1, 3]), P()), (jax.random.PRNGKey(3), P())
        self.check_on(make_mesh((2, 2)), moves, self.X, i, key)
        shuffled = jax.sharding.Mesh(np.array(jax.devices())[[2, 0, 3, 1]].reshape(2, 2), ("a", "b"), (AxisType.Explicit,) * 2)
        self.check_on(shuffled, moves, self.X, i, key)

    def test_manual_computations(self):
        for types in ((AxisType.Explicit,) * 2, (AxisType.Explicit, AxisType.Auto), (AxisType.Auto, AxisType.Explicit)):
            with self.subTest(types=types):
                self.check_on(make_mesh((2, 2), *types), computations, self.X, self.Y)

    def test_abstract_meshes(self):
        for types in (AxisType.Explicit, AxisType.Auto):
            mesh = jax.sharding.AbstractMesh((2, 2), ("a", "b"), (types,) * 2)
            x = jax.ShapeDtypeStruct((8, 16), np.float32, sharding=NamedSharding(mesh, P("a", "b")))
            program = braid.jax.export(jax.jit(lambda x: (x * 2, x.sum(0))), x, mesh=mesh)
            self.assertEqual(([s.axes for s in program.in_shardings], program.ranks), ([[["a"], ["b"]]], 4))
            given = jt.integers((8, 16))
            for found, expected in zip(program.compile()(given), (given * 2, given.sum(0))):
                np.testing.assert_array_equal(found, expected)

    def test_summands_are_no_arguments_or_results(self):
        mesh = make_mesh((2, 2))
        sharding = P("a", None, unreduced={"b"})
        summand = jax.ShapeDtypeStruct((8, 8), np.float32, sharding=NamedSharding(mesh, sharding))

        def product(x, y): return jnp.einsum("ij,jk->ik", x, y, out_sharding=sharding)
        def add_up(x): return reshard(x, P("a"))

        for fn, kind, args in ((product, "result", (self.X, self.Y)), (add_up, "argument", ())):
            with jax.set_mesh(mesh), self.assertRaises(braid.jax.UnsupportedError) as caught:
                braid.jax.export(jax.jit(fn), *[jax.device_put(*arg) for arg in args] or [summand])
            self.assertIn(f"{kind} 0 of the program has a summand on each rank (`unreduced`)", str(caught.exception))
            location = caught.exception.location
            # Newer JAX (0.12) names the call of `jit`.
            first = fn.__code__.co_firstlineno
            self.assertEqual(location.file, __file__)
            self.assertIn(location.line - first, range(12))


if __name__ == "__main__":
    unittest.main()
