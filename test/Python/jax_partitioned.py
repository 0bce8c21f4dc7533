# REQUIRES: jax
# RUN: %jax_python %s
"""`jax.jit` with shardings through Shardy and Braid, against JAX."""

import unittest

import jax
import jax.numpy as jnp
import jax_testing as jt
from jax import lax
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

SQUARE = jt.make_mesh((2, 4), ("a", "b"))
TOLERANCE = 4e-6  # of products and sums in f32


class PartitionedTest(jt.JaxTestCase):
    @staticmethod
    def on(*axes):
        return NamedSharding(SQUARE, P(*axes))

    def test_tensor_parallel_mlp(self):
        program = self.check_equal(jax.jit(
            lambda x, up, down: jax.nn.relu(x @ up) @ down,
            in_shardings=(self.on("a"), self.on(None, "b"), self.on("b")),
            out_shardings=self.on("a")),
            jt.normals((8, 16)), jt.normals((16, 32)), jt.normals((32, 16)),
            tolerance=TOLERANCE)
        self.assertIn("comm.all_reduce sum", program.text)
        self.assertIn("comm.group @b [[0, 1, 2, 3], [4, 5, 6, 7]]", program.text)

    def test_fully_sharded_training_step(self):
        def step(weights, x):
            def loss(weights):
                y = x
                for w in weights:
                    y = jnp.tanh(y @ w)
                return (y * y).mean()
            return [w - 0.1 * g for w, g in zip(weights, jax.grad(loss)(weights))]

        both = self.on(("a", "b"))
        program = self.check_equal(
            jax.jit(step, in_shardings=([both] * 2, both), out_shardings=[both] * 2),
            [jt.normals((16, 16)), jt.normals((16, 16), seed=1)], jt.normals((32, 16)),
            tolerance=TOLERANCE)
        for name, count in (("all_gather", 3), ("reduce_scatter", 2), ("all_reduce", 0)):
            self.assertEqual(program.text.count(f"comm.{name} "), count, name)

    def test_sums_of_which_every_rank_keeps_a_part(self):
        for x_axes, y_axes, out in (((None, "b"), ("b",), (None, "b")),
                                    (("a", "b"), ("b",), (("a", "b"),)),
                                    ((None, ("b", "a")), (("b", "a"),), (("b", "a"),))):
            with self.subTest(out=out):
                program = self.check_equal(
                    jax.jit(lambda x, y: x @ y,
                            in_shardings=(self.on(*x_axes), self.on(*y_axes)),
                            out_shardings=self.on(*out)),
                    jt.integers((16, 16)), jt.integers((16, 8)))
                self.assertIn("comm.reduce_scatter sum", program.text)

    def test_shardings_of_the_arguments(self):
        x = jax.device_put(jt.integers((16, 16)), self.on("a", "b"))
        y = jax.device_put(jt.integers((16, 8), seed=1), self.on("b"))
        program = self.check_equal(jax.jit(lambda x, y: x @ y), x, y)
        self.assertEqual([s.axes for s in program.in_shardings],
                         [[["a"], ["b"]], [["b"], []]])

    def test_axes_with_shardings_in_types(self):
        mesh = jax.make_mesh((2, 4), ("a", "b"))
        with jax.set_mesh(mesh):
            x = jax.device_put(jt.integers((16, 16)), P("a", "b"))
            y = jax.device_put(jt.integers((16, 8), seed=1), P("b", None))
            program = self.check_equal(jax.jit(lambda x, y: jnp.einsum(
                "ij,jk->ik", x, y, out_sharding=P("a", None))), x, y)
        self.assertIn("comm.all_reduce sum", program.text)

    def test_other_sharding_of_the_result(self):
        self.check_equal(jax.jit(lambda x: x * 2, in_shardings=(self.on(("a", "b")),),
                                 out_shardings=self.on(None, ("b", "a"))),
                         jt.normals((8, 16)))

    def test_some_manual_axes(self):
        fn = jax.shard_map(lambda x, y: lax.psum(x @ y, "b"), mesh=SQUARE,
                           in_specs=(P(None, "b"), P("b")), out_specs=P(), axis_names={"b"})
        self.check_equal(jax.jit(fn, in_shardings=(self.on("a", "b"), self.on("b")),
                                 out_shardings=self.on("a")),
                         jt.normals((8, 16)), jt.normals((16, 8)), tolerance=TOLERANCE)

    def test_ops_around_manual_computations(self):
        def twice(x):
            over_a = jax.shard_map(lambda y: lax.psum(y, "a"), mesh=SQUARE,
                                   in_specs=P("a", "b"), out_specs=P(None, "b"))
            over_b = jax.shard_map(lambda y: lax.psum(y, "b"), mesh=SQUARE,
                                   in_specs=P("a", "b"), out_specs=P("a"))
            return over_a(x * 2).sum(), over_b(x) + 1
        self.check_equal(jax.jit(twice), jt.integers((8, 16)))

    def test_one_device(self):
        self.assertEqual(self.check_equal(jax.jit(lambda x: x @ x.T), jt.normals((8, 16)),
                                          tolerance=TOLERANCE).ranks, 1)


if __name__ == "__main__":
    unittest.main()
