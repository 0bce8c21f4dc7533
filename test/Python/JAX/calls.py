# REQUIRES: jax
# RUN: %jax_python %s
"""How users call functions: wrappers of packages, static arguments, keys, donated arguments,
exported functions and modules."""

import os
import subprocess
import sys
import tempfile
import unittest
from functools import partial

import equinox as eqx
import jax
import jax.export
import jax.numpy as jnp
import jax_testing as jt
import numpy as np
from flax import nnx
from jax.experimental.layout import Layout, with_layout_constraint
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

import braid.jax
import braid.mlir

SQUARE = jt.make_mesh((2, 2), ("a", "b"))
ON = NamedSharding(SQUARE, P("a", "b"))


class WrapperTest(jt.JaxTestCase):
    def test_nnx_jit_updates_its_module(self):
        def make():
            return nnx.Linear(8, 4, rngs=nnx.Rngs(0))

        @nnx.jit
        def step(module, x):
            x = jax.lax.with_sharding_constraint(x, NamedSharding(SQUARE, P("a")))
            loss, gradients = nnx.value_and_grad(lambda m: (m(x) ** 2).mean())(module)
            nnx.update(module, jax.tree.map(lambda p, g: p - 0.5 * g, nnx.state(module, nnx.Param), gradients))
            return loss

        x, expected, found = jt.normals((4, 8)), make(), make()
        function = braid.jax.compile(step, found, x)
        self.assertEqual(function.program.ranks, 4)
        for _ in range(2):
            np.testing.assert_allclose(function(found, x), step(expected, x), rtol=1e-5)
        np.testing.assert_allclose(found.kernel[...], expected.kernel[...], rtol=1e-5, atol=1e-6)

    def test_filter_jit(self):
        module = eqx.nn.MLP(8, 4, 16, 1, activation=jax.nn.gelu, key=jax.random.key(0))

        @eqx.filter_jit
        def step(module, x, name):
            x = jax.lax.with_sharding_constraint(x, NamedSharding(SQUARE, P(("a", "b"))))
            return eqx.filter_grad(lambda m: (jax.vmap(m)(x) ** 2).mean())(module), name

        x = jt.normals((4, 8))
        found, name = braid.jax.compile(step, module, x, "text")(module, x, "text")
        self.assertEqual(name, "text")
        expected, _ = step(module, x, "text")
        self.assertEqual(jax.tree.structure(found), jax.tree.structure(expected))
        for one, other in zip(jax.tree.leaves(found), jax.tree.leaves(expected)):
            np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


class ArgumentsTest(jt.JaxTestCase):
    def test_static_arguments(self):
        @partial(jax.jit, static_argnums=(1,), static_argnames=("scale",))
        def power(x, count, y, *, scale):
            return jax.lax.with_sharding_constraint(x ** count * scale + y, ON)

        x = jt.integers((4, 8))
        function = braid.jax.compile(power, x, 3, x, scale=2)
        np.testing.assert_array_equal(function(x, 3, x, scale=2), x ** 3 * 2 + x)
        np.testing.assert_array_equal(function(x, x), x ** 3 * 2 + x)
        with self.assertRaisesRegex(braid.mlir.ArgumentError, "the static argument 1 is 4, expected 3"):
            function(x, 4, x, scale=2)
        with self.assertRaisesRegex(braid.mlir.ArgumentError, "the static argument scale is 1, expected 2"):
            function(x, 3, x, scale=1)

    def test_traced_and_lowered_functions(self):
        fn, x = jax.jit(lambda x, k: x * k, static_argnums=1), jt.integers((4, 8))
        for given in (fn.trace(x, 3), fn.lower(x, 3)):
            np.testing.assert_array_equal(braid.jax.compile(given)(x), 3 * x)
        with self.assertRaisesRegex(braid.mlir.BraidError, "the function is compiled, expected the function, or what its `lower`"):
            braid.jax.compile(fn.lower(x, 3).compile(), x)
        with self.subTest("of a package"):
            step = eqx.filter_jit(lambda x, name: (x + 1, name)).lower(x, "a")
            found, name = braid.jax.compile(step)(x, "a")
            np.testing.assert_array_equal(found, x + 1)
            self.assertEqual(name, "a")

    def test_typed_keys(self):
        def draw(key, x):
            first, second = jax.random.split(key)
            return x + jax.random.normal(first, x.shape), second, jax.random.split(second, 3)

        fn = jax.jit(draw, in_shardings=(None, ON), out_shardings=(ON, None, None))
        key, x = jax.random.key(7), jt.integers((4, 8))
        function = braid.jax.compile(fn, key, x)
        for found, expected in zip(function(key, x), fn(key, x)):
            self.assertEqual((found.dtype, found.shape), (expected.dtype, expected.shape))
            if found.shape != x.shape:
                found, expected = jax.random.key_data(found), jax.random.key_data(expected)
            np.testing.assert_allclose(found, expected, rtol=1e-6)
        with self.assertRaisesRegex(braid.mlir.ArgumentError, "argument 0 is no key, expected a key of "):
            function(jax.random.key_data(key), x)
        with self.assertRaisesRegex(braid.mlir.ArgumentError, "argument 0 is a key of rbg, expected a key of "):
            function(jax.random.key(7, impl="rbg"), x)

    def test_tangents_of_integers(self):
        """They have no bits (`float0`), as arguments and as results."""
        def tangents(i, x, t):
            return jax.jvp(lambda i, x: (x * i, x.argmax()), (i, x), (t, x))

        fn = jax.jit(tangents)
        args = jt.integers(3, np.int32), jt.normals(3), np.zeros(3, jax.dtypes.float0)
        found, expected = braid.jax.compile(fn, *args)(*args), fn(*args)
        for one, other in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
            self.assertEqual((one.dtype, one.shape), (other.dtype, other.shape))
            if one.dtype != jax.dtypes.float0:
                np.testing.assert_allclose(one, other, rtol=1e-6)

    def test_composite_ops(self):
        """They are what they are made of."""
        scale = jax.lax.composite(lambda x, k: (k * x, x.sum(0)), "test.scale")
        self.check_equal(jax.jit(lambda x: scale(x, k=3), in_shardings=ON), jt.integers((4, 8)))

    def test_donated_arguments_and_a_mesh_in_the_context(self):
        with jax.set_mesh(jax.make_mesh((2, 2), ("a", "b"), axis_types=(jax.sharding.AxisType.Auto,) * 2)):
            fn = jax.jit(lambda x: jax.lax.with_sharding_constraint(x.T * 2, P(("a", "b"))), donate_argnums=0)
            x = jt.integers((4, 8))
            function = braid.jax.compile(fn, x)
        self.assertEqual(function.program.ranks, 4)
        np.testing.assert_array_equal(function(x), x.T * 2)


class ModuleTest(jt.JaxTestCase):
    def check_exported(self, fn, *args):
        expected = np.asarray(fn(*args))
        exported = jax.export.export(fn)(*args)
        for given in (exported, exported.serialize(), exported.mlir_module_serialized):
            program = braid.jax.from_stablehlo(given)
            found = program.compile()(*args)
            found = found if isinstance(found, np.ndarray) else found[0]
            np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6 * np.abs(expected).max())
            self.assertEqual(program.ranks, exported.nr_devices)

    def test_exported_functions(self):
        x = jt.integers((4, 8))
        self.check_exported(jax.jit(lambda x, y: jnp.sin(x) @ y, in_shardings=(ON, None),
                                    out_shardings=NamedSharding(SQUARE, P("a"))), x, x.T.copy())
        body = lambda x: jax.lax.psum(x, "b") * jax.lax.axis_index("a")
        self.check_exported(jax.jit(jax.shard_map(body, mesh=SQUARE, in_specs=P("a", "b"), out_specs=P("a"))), x)

    def test_exported_functions_of_symbolic_sizes(self):
        """A function of static sizes calls one: the program has these sizes."""
        size, = jax.export.symbolic_shape("n", constraints=["n >= 3"])
        fn = jax.jit(lambda x: jnp.sort(x[::2], 0).sum(0) + x.shape[0])
        exported = jax.export.export(fn)(jax.ShapeDtypeStruct((size, 8), np.float32))
        exported = jax.export.deserialize(exported.serialize())
        self.check_equal(jax.jit(lambda x: exported.call(x) + x, in_shardings=ON), jt.integers((4, 8)))
        with self.assertRaisesRegex(braid.mlir.BraidError, "does not take these sizes: .*n >= 3.*'n' = 2 "):
            braid.jax.export(jax.jit(lambda x: exported.call(x[:2])), jt.integers((4, 8)))
        with self.assertRaisesRegex(braid.mlir.BraidError, "`main` has a value of type .*, expected arrays of static shapes"):
            braid.jax.from_stablehlo(exported)

    def test_layouts_are_hints(self):
        """The partitioner, too, looks through them."""
        fn = jax.jit(lambda x: with_layout_constraint(x * 2, Layout((1, 0))) + 1, in_shardings=ON, out_shardings=ON)
        program = self.check_equal(fn, jt.integers((4, 8)))
        self.assertNotIn("all_gather", program.text)

    def test_memories_are_hints(self):
        """What is exported for accelerators names them."""
        x, (host, device) = jt.integers((4, 8)), (jax.memory.Space.Host, jax.memory.Space.Device)
        fn = jax.jit(lambda x: jax.device_put(jax.device_put(x * 2, host), device) + 1)
        exported = jax.export.export(fn, platforms=["cuda"])(x)
        self.assertIn("annotate_device_placement", exported.mlir_module())
        np.testing.assert_array_equal(braid.jax.from_stablehlo(exported).compile()(x), 2 * x + 1)

    def test_text_and_command_line(self):
        fn = jax.jit(lambda x: x @ x.T, in_shardings=ON)
        x = jt.integers((4, 8))
        text = fn.lower(x).as_text()
        np.testing.assert_array_equal(braid.jax.from_stablehlo(text).compile()(x)[0], x @ x.T)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "module.mlir")
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            command = [sys.executable, "-m", "braid.jax", path]
            done = subprocess.run(command, text=True, capture_output=True, check=True)
            self.assertIn("comm.group @a [[0, 2], [1, 3]]", done.stdout)
            with open(path, "w", encoding="utf-8") as file:
                file.write("no module")
            done = subprocess.run(command, text=True, capture_output=True, check=False)
            self.assertEqual(done.returncode, 1)
            self.assertIn("python -m braid.jax: found no module of StableHLO: ", done.stderr)

    def test_other_bytes(self):
        with self.assertRaisesRegex(braid.mlir.BraidError, "found bytes that are no text, no bytecode"):
            braid.jax.from_stablehlo(b"\xff\xfe\x00\x80")


if __name__ == "__main__":
    unittest.main()
