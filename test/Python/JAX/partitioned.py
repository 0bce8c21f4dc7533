# REQUIRES: jax
# RUN: %jax_python %s
"""`jax.jit` with shardings through XLA's partitioner and Braid, against JAX."""

import os
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

import jax
import jax.numpy as jnp
import jax_testing as jt
import numpy as np
from jax import lax
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

import braid.jax
import braid.mlir

PACKAGES = os.path.dirname(os.path.dirname(braid.__file__))
BRAID_ROOT = os.path.dirname(os.path.dirname(braid.mlir.find_tool("braid-opt")))

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
        for name, count in (("all_gather", 2), ("reduce_scatter", 2), ("all_reduce", 0)):
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

    def test_gradients_of_a_recurrent_loop_are_summed_before_they_are_sent(self):
        def loss(w, xs):
            def step(state, x):
                state = jnp.tanh(state @ w + x)
                return state, state
            return lax.scan(step, jnp.zeros_like(xs[0]), xs)[1].sum()

        program = self.check_equal(
            jax.jit(jax.grad(loss), in_shardings=(self.on(), self.on(None, ("a", "b"))), out_shardings=self.on()),
            jt.normals((32, 32)) / 8, jt.normals((16, 64, 32), seed=1), tolerance=1e-5)
        self.assertEqual(program.text.count("{comm.any_order} : tensor<32x32xf32>"), 1)
        moved = program.run_passes("comm-pipeline-loops{machine=h200x8}").text
        self.assertLess(moved.rindex("scf.yield"), moved.index("comm.all_reduce sum"))

    def test_sums_of_the_program_keep_their_order(self):
        program = braid.jax.export(jax.jit(jax.shard_map(
            lambda x: lax.psum(x, "b"), mesh=SQUARE, in_specs=P(None, "b"), out_specs=P(), axis_names={"b"}),
            in_shardings=self.on("a", "b")), jt.normals((8, 16)))
        self.assertIn("comm.all_reduce sum", program.text)
        self.assertNotIn("comm.any_order", program.text)

    def test_shardings_of_the_arguments(self):
        x = jax.device_put(jt.integers((16, 16)), self.on("a", "b"))
        y = jax.device_put(jt.integers((16, 8), seed=1), self.on("b"))
        program = self.check_equal(jax.jit(lambda x, y: x @ y), x, y)
        self.assertEqual([s.axes for s in program.in_shardings],
                         [[["a"], ["b"]], [["b"], []]])

    def test_other_sharding_of_the_result(self):
        self.check_equal(jax.jit(lambda x: x * 2, in_shardings=(self.on(("a", "b")),),
                                 out_shardings=self.on(None, ("b", "a"))),
                         jt.normals((8, 16)))

    def test_names_that_the_text_of_a_module_escapes(self):
        for name in ('a"b', "é", "a{}", "a b", "\\"):
            mesh = jt.make_mesh((2, 2), (name, "c"))
            outer, inner = NamedSharding(mesh, P(name)), NamedSharding(mesh, P(None, name))
            x, y = jt.integers((16, 16)), jt.integers((16, 8))
            # JAX 0.10.2 itself ends the process on some of these names.
            program = braid.jax.export(
                jax.jit(lambda x, y: x @ y, in_shardings=(inner, outer), out_shardings=outer), x, y)
            self.assertIn("comm.all_reduce sum", program.text)
            np.testing.assert_array_equal(program.compile()(x, y), x @ y)

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

    def test_parts_of_axes(self):
        # The rows move from axis `a` to `b`, of which a rank has half already.
        program = self.check_equal(jax.jit(lambda x: x + 1, in_shardings=(self.on("a", "b"),),
                                           out_shardings=self.on("b", "a")), jt.integers((8, 16)))
        self.assertEqual(program.out_shardings[0].axes, [["b"], ["a"]])
        line = NamedSharding(jt.make_mesh((4,), ("i",)), P("i"))
        self.check_equal(jax.jit(lambda x: x.reshape(2, 2, 3) * 2, in_shardings=line),
                         jt.integers((4, 3)))

    def test_loop(self):
        weights = self.on(None, None, "b")
        program = self.check_equal(jax.jit(
            lambda x, w: lax.scan(lambda c, v: (jnp.tanh(c @ v), None), x, w)[0],
            in_shardings=(self.on("a"), weights)), jt.normals((8, 16)), jt.normals((3, 16, 16)),
            tolerance=TOLERANCE)
        self.assertEqual(program.text.count("scf.for"), 1)

    def test_dimensions_that_the_ranks_do_not_divide(self):
        self.check_equal(jax.jit(
            lambda x: lax.with_sharding_constraint(x[1:], self.on("b", "a"))[::-1].sum(0),
            in_shardings=(self.on("a"),)), jt.integers((8, 10)))

    def test_arguments_without_a_place(self):
        x, y = jt.integers((16, 16)), jt.integers((16, 8), seed=1)
        placed = jax.device_put(x, self.on("a", "b"))
        self.check_equal(jax.jit(lambda x, y, unused: (x @ y, jnp.float32(3))), placed, y, 2.0)

    def test_donated_arguments(self):
        x = jt.integers((16, 16))
        fn = jax.jit(lambda x, y: (x + y, y.sum()), donate_argnums=0,
                     in_shardings=(self.on("a"), self.on("b")), out_shardings=(self.on("a"), None))
        program = braid.jax.export(fn, x, x)
        found = program.compile()(x, x)
        np.testing.assert_array_equal(found[0], 2 * x)
        self.assertEqual(found[1], x.sum())

    def test_flags_of_xla_do_not_change_the_program(self):
        def make():
            return braid.jax.export(jax.jit(lambda x: x @ x, in_shardings=self.on("a", "b")),
                                    jt.normals((16, 16))).text
        expected = make()
        with mock.patch.dict(os.environ, {"XLA_FLAGS": "--xla_force_host_platform_device_count=2"}):
            self.assertEqual(make(), expected)


class OneDeviceTest(jt.JaxTestCase):
    """Programs for a mesh of one device, whose groups name rank 0 alone."""

    MESH = jt.make_mesh((1,), ("r",))

    def check_one(self, fn, *args, **options):
        self.assertEqual(self.check_equal(fn, *args, **options).ranks, 1)

    def shard(self, fn):
        return jax.shard_map(fn, mesh=self.MESH, in_specs=P("r"), out_specs=P("r"),
                             check_vma=False)

    def test_no_mesh(self):
        self.check_one(jax.jit(lambda x: x @ x.T), jt.normals((8, 16)), tolerance=TOLERANCE)

    def test_shardings(self):
        on = NamedSharding(self.MESH, P("r"))
        self.check_one(jax.jit(lambda x: x[::-1].max(1), in_shardings=on, out_shardings=on),
                       jt.integers((4, 6)))

    def test_collectives(self):
        self.check_one(self.shard(lambda x: (
            lax.psum(x, "r"), lax.pmax(x, "r"), lax.all_gather(x, "r", tiled=True),
            lax.psum_scatter(x, "r", tiled=True), lax.ppermute(x, "r", [(0, 0)]),
            lax.all_to_all(x, "r", 0, 1, tiled=True), x + lax.axis_index("r"),
            lax.ppermute(x, "r", []), lax.ppermute(x > 0, "r", []),
            lax.ppermute(x + 1j, "r", []), lax.ppermute(x.astype(np.uint8), "r", []))),
            jt.integers((4, 6)))

    def test_ops_around_manual_computations(self):
        summed = self.shard(lambda x: lax.psum(x, "r") * 2)
        self.check_one(jax.jit(jax.grad(lambda x: (2 * summed(x + 1)[::-1]).sum())),
                       jt.integers((4, 6)))


class ProcessTest(unittest.TestCase):
    """The process of the partitioner has its modules from where this one has them."""

    CODE = """import jax, numpy as np, os, sys
from jax.sharding import NamedSharding, PartitionSpec as P
sys.path[:0] = sys.argv[2:]
import braid.jax
os.chdir(sys.argv[1])
s = NamedSharding(jax.make_mesh((2,), ("x",)), P("x"))
fn = jax.jit(lambda a: a * 2, in_shardings=s, out_shardings=s)
print(braid.jax.compile(fn, np.arange(4))(np.arange(4)))"""

    def run_in(self, folder, *path, **environment):
        environment = {**os.environ, "BRAID_ROOT": BRAID_ROOT, **environment}
        done = subprocess.run([sys.executable, "-c", self.CODE, folder, *path], text=True,
                              capture_output=True, env=environment, check=False)
        self.assertEqual((done.stdout, done.returncode), ("[0 2 4 6]\n", 0), done.stderr)

    def test_modules_of_the_working_directory_are_not_taken(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("jax", "numpy"):
                with open(os.path.join(folder, f"{name}.py"), "w") as file:
                    file.write("raise SystemExit('a module of the working directory')")
            self.run_in(folder)

    def test_jax_is_not_imported(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "jax.py"), "w") as file:
                file.write("raise SystemExit('the process has imported JAX')")
            self.run_in(folder, folder)

    def test_folders_that_the_program_has_added(self):
        with tempfile.TemporaryDirectory() as folder:
            self.run_in(folder, PACKAGES, PYTHONPATH="")


if __name__ == "__main__":
    unittest.main()
