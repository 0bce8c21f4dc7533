# REQUIRES: jax
# RUN: %jax_python %s
"""Operations that braid.jax brings to others by itself: sorts, sums of small floats, gradients of pools, reductions of
nothing, complex functions, prints and other callbacks."""

import functools
import unittest
import warnings

import equinox
import jax
import jax.export
import jax.numpy as jnp
import jax_testing as jt
import numpy as np
from jax import lax
from jax.sharding import PartitionSpec as P

import braid.jax
from braid.jax.callbacks import DroppedCallbackWarning

LINE = jt.make_mesh((2,), ("r",))


def shard(fn):
    return jax.jit(jax.shard_map(fn, mesh=LINE, in_specs=P("r"), out_specs=P("r"), check_vma=False))


def with_special_values(shape):
    x = jt.integers(shape)
    x.flat[[1, 7, 11, 12]] = np.nan, np.inf, -0.0, -np.inf
    return x


class ConstantTest(jt.JaxTestCase):
    def test_large_booleans(self):
        # MLIR prints more than 100 elements as bytes.
        for shape in ((100,), (101,), (128,), (7, 5, 35)):
            mask = np.random.RandomState(0).rand(*shape) > 0.5
            x = jt.integers((2, *shape))
            self.check_equal(shard(lambda x, mask=mask: (jnp.where(mask, x, 0), jnp.broadcast_to(mask, x.shape))), x)


class SortTest(jt.JaxTestCase):
    def test_orders(self):
        x, y = with_special_values((6, 13)), jt.integers((6, 13), seed=1)
        self.check_equal(shard(self.sorts), x, y)
        # Of a split dimension.
        one, other = (values[:, :12] for values in (x, y))
        self.check_equal(jax.jit(self.sorts, in_shardings=jax.NamedSharding(LINE, P(None, "r"))), one, other)

    @staticmethod
    def sorts(x, y):
        key = jax.random.key(3)
        return (jnp.sort(x, axis=1), jnp.argsort(x, axis=1, descending=True), jnp.sort(x, axis=0),
                lax.top_k(x, 3), jnp.sort(x > 0, axis=1), jnp.sort(x.astype(jnp.bfloat16), axis=1).astype(jnp.float32),
                lax.sort((y.astype(np.int32), (y * y).astype(np.uint8), y), num_keys=2),
                jnp.median(y, axis=1), jnp.quantile(y, 0.3, axis=1), lax.approx_max_k(y, 2),
                lax.approx_min_k(y, 5, reduction_dimension=1), jax.random.permutation(key, y, axis=1),
                jnp.unique(y.astype(np.int32).reshape(-1), size=9)[None],
                jnp.searchsorted(jnp.sort(y[0]), y[1])[None], jnp.sort(y[:, :0], axis=1),
                jnp.sort(y[:, :1], axis=1), jnp.sort(y[:, :8], axis=1))

    def test_gradient_of_chosen_elements(self):
        self.check_equal(shard(jax.grad(lambda x: (lax.top_k(x, 3)[0] ** 2).sum())), jt.normals((4, 9)))


class SumTest(jt.JaxTestCase):
    def test_small_floats_are_rounded_once(self):
        """JAX upcasts what jnp.sum gets; gradients of broadcasts and windows add up what they have."""
        for element in (jnp.bfloat16, jnp.float16):
            x = jax.random.normal(jax.random.key(0), (2048, 6), element)
            wide = np.asarray(x, np.float64)
            windows = np.lib.stride_tricks.sliding_window_view(wide, 512, 0).sum(-1)
            function = jax.jit(lambda x: (
                jax.vjp(lambda b: x + b, x[0])[1](x)[0], jnp.cumsum(x, 0)[-1],
                lax.reduce(1 + x[:16] / 8, np.array(1, x.dtype), lax.mul, (0,)),
                lax.reduce_window(x, np.array(0, x.dtype), lax.add, (512, 1), (1, 1), "VALID")))
            product = np.asarray(1 + x[:16] / 8, np.float64).prod(0)
            found = braid.jax.compile(function, x)(x)
            for one, expected in zip(found, (wide.sum(0), wide.sum(0), product, windows)):
                self.check_rounded(one, expected)

    def check_rounded(self, found, expected):
        eps = float(jnp.finfo(found.dtype).eps)
        np.testing.assert_allclose(np.asarray(found, np.float64), expected, rtol=2 * eps, atol=eps * np.abs(expected).max())

    def test_other_reductions_of_small_floats(self):
        """Of several arrays at once, and by a body of several ops; the last result keeps its type."""
        for element in (jnp.bfloat16, jnp.float16):
            x = jnp.abs(jax.random.normal(jax.random.key(1), (2048, 6), element))
            wide, zero = np.asarray(x, np.float64), np.zeros((), element)
            function = jax.jit(lambda x: (
                *lax.reduce((x, x + x, jnp.ones((2048, 6), np.int32)), (zero, zero, np.int32(0)),
                            lambda a, b: (a[0] + b[0], a[1] + b[1], a[2] + b[2]), (0,)),
                lax.cumlogsumexp(x, 0)[-1]))
            found = braid.jax.compile(function, x)(x)
            self.check_rounded(found[0], wide.sum(0))
            self.check_rounded(found[1], 2 * wide.sum(0))
            np.testing.assert_array_equal(found[2], np.full(6, 2048))
            self.check_rounded(found[3], np.log(np.exp(wide).sum(0)))

    def test_scatters_of_small_floats(self):
        """Thousands of updates of one row, as a padding token has them."""
        for element in (jnp.bfloat16, jnp.float16):
            x = jnp.abs(jax.random.normal(jax.random.key(2), (4096, 6), element))
            wide = np.asarray(x, np.float64)
            function = jax.jit(lambda x, i: (jnp.zeros((4, 6), x.dtype).at[i].add(x), jnp.ones((4, 6), x.dtype).at[i].mul(1 + x / 1024)))
            found = braid.jax.compile(function, x, np.zeros(4096, np.int32))(x, np.arange(4096, dtype=np.int32) % 3)
            sums, products = np.zeros((4, 6)), np.ones((4, 6))
            factors = np.asarray(1 + x / 1024, np.float64)
            for row in range(3):
                sums[row], products[row] = wide[row::3].sum(0), factors[row::3].prod(0)
            self.check_rounded(found[0], sums)
            self.check_rounded(found[1], products)


class PiecesTest(jt.JaxTestCase):
    def test_concatenations_and_pads(self):
        x, y = with_special_values((6, 16)), jt.integers((6, 16), seed=1)
        self.check_equal(shard(self.pieces), x, y)

    def test_interleaved_elements(self):
        x = with_special_values((6, 16))
        self.check_equal(shard(self.interleaved), x, jt.integers((6, 16), seed=1))

    @staticmethod
    def interleaved(x, y):
        def pad(x, *widths, value=0.0):
            return lax.pad(x, x.dtype.type(value), ((0, 0, 0), widths))

        return (pad(x, 0, 1, 1) + pad(y, 1, 0, 1), pad(x, 2, 1, 1), pad(x, 0, 3, 1), pad(x, 3, 4, 2, value=np.nan),
                pad(x, 0, 0, 1), pad(x, 1, 1, 1), pad(x, 1, 9, 9), pad(x, -1, 2, 1), pad(x, -1, 0, 0), pad(x, 0, -16, 0),
                pad(x, -8, -8, 0), pad(x, -2, 5, 0, value=-0.0), lax.pad(x, 0.0, ((0, 1, 1), (0, 1, 1))),
                lax.pad(x, 1.0, ((0, 1, 1), (0, 0, 0))), lax.pad(x, 1.0, ((-1, 0, 0), (1, 0, 0))), lax.pad(x > 0, True, ((0, 0, 0), (0, 1, 1))),
                lax.pad(x + 1j, 1j, ((0, 0, 0), (0, 1, 1))), pad(x.astype(jnp.bfloat16), 1, 0, 1).astype(jnp.float32),
                pad(y.astype(jnp.uint8), 1, 0, 1, value=np.uint8(200)))

    def test_associative_scans(self):
        def scan(x, y):
            return lax.associative_scan(lambda a, b: (a[0] * b[0], b[0] * a[1] + b[1]), (x, y), axis=1)

        x, y = jt.integers((4, 13)) % 3 - 1, jt.integers((4, 13), seed=1)
        self.check_equal(shard(lambda x, y: (scan(x, y), lax.associative_scan(jnp.minimum, y, axis=1, reverse=True))), x, y)
        self.check_equal(shard(jax.grad(lambda x, y: (scan(x, y)[1] * y).sum(), argnums=(0, 1))), x[:, :8], y[:, :8])

    def test_cumulative_reductions(self):
        """Bodies of several ops take steps that double what is reduced, and no windows."""
        def scan(x, y):
            sums = [lax.cumlogsumexp(x, axis=axis, reverse=reverse) for axis in (0, 1) for reverse in (False, True)]
            # Linear maps: their composition does not commute.
            maps = lax.reduce_window((x, y), (np.float32(0), np.float32(1)),
                                     lambda a, b: (a[0] * b[1] + b[0], a[1] * b[1]), (1, 13), (1, 1), ((0, 0), (12, 0)))
            return sums, maps

        x, y = jt.normals((22, 13), seed=1), jt.normals((22, 13), seed=2)
        program = self.check_equal(jax.jit(scan), x, y, tolerance=1e-5)
        self.assertNotIn('"reduction"', program.text)
        special = with_special_values((22, 13))
        special[:, 0] = -np.inf
        found, expected = (fn(special, y)[0] for fn in (braid.jax.compile(jax.jit(scan), x, y), jax.jit(scan)))
        for one, other in zip(found, expected):
            np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)
        # Parts of windows stay.
        program = self.check_equal(jax.jit(lambda x: lax.reduce_window(
            x, np.float32(-np.inf), jnp.logaddexp, (1, 13), (1, 1), ((0, 0), (11, 1)))), x, tolerance=1e-5)
        self.assertIn('"reduction"', program.text)

    def test_cumulative_reductions_of_one_op(self):
        """Loops over elements and over rows, in blocks where they round, and short ones."""
        def scan(x, y, z):
            return [op(v, axis=axis, reverse=reverse) for op in (lax.cumsum, lax.cummax) for v in (x, y, z)
                    for axis in range(3) for reverse in (False, True)]

        x, y = jt.integers((3, 9, 20)), jt.integers((2, 261, 3), seed=1)
        self.check_equal(jax.jit(scan), x, y, jt.normals((261, 2, 17), seed=2), tolerance=1e-4)

    def test_long_sums_keep_their_digits(self):
        x = np.full(1 << 18, 0.1, np.float32)
        found = braid.jax.compile(jax.jit(jnp.cumsum), x)(x)
        np.testing.assert_allclose(found, np.cumsum(x.astype(np.float64)), rtol=3e-5)

    def check_recurrence(self, shape, axis, reverse=False, element=np.float32, tolerance=1e-5):
        """A linear recurrence and its gradient are no tree of levels, and give what JAX's tree gives."""
        def scan(a, b):
            a, b = a.astype(element), b.astype(element)
            # In another order than that of the import's own.
            return lax.associative_scan(lambda x, y: (y[1] * x[0] + y[0], x[1] * y[1]), (b, a), axis=axis, reverse=reverse)[0]

        def step(a, b):
            return scan(a, b), *jax.grad(lambda a, b: ((1 - a) * scan(a, (1 - a) * b) ** 2).astype(np.float32).sum(), argnums=(0, 1))(a, b)

        a, b = (jt.normals(shape, seed=seed) for seed in (0, 1))
        program = self.check_equal(shard(step), 1 / (1 + np.exp(-a)), b, tolerance=tolerance)
        level = "x".join(str(size // 2 if dim == axis else size // 2 if dim == 0 else size) for dim, size in enumerate(shape))
        self.assertFalse(f"<{level}x" in program.text, "found levels of a tree")
        steps, alone = shape[axis], program.recurrences[0]
        self.assertEqual({(one.length, one.location.file) for one in program.recurrences}, {(steps, __file__)})
        self.assertRegex(str(alone), rf"operations.py:\d+:\d+: linear recurrence of {steps} steps.*, in blocks")

    def test_linear_recurrences(self):
        self.check_recurrence((2, 77, 3), 1)
        self.check_recurrence((2, 320), 1)
        self.check_recurrence((2, 64, 3), 1, reverse=True)
        self.check_recurrence((2, 64, 3), 1, element=jnp.bfloat16, tolerance=0.05)

    def test_recurrence_as_written(self):
        def scan(a, b):
            return lax.associative_scan(lambda x, y: (x[0] * y[0], y[0] * x[1] + y[1]), (a, b), axis=1)[1]

        arrays = jt.normals((2, 64)), jt.normals((2, 64), seed=1)
        program = braid.jax.export(shard(scan), *arrays, recurrence="as written")
        self.assertEqual(program.recurrences, [])
        self.assertIn("tensor<1x32xf32>", program.text, "found no level of a tree")
        with self.assertRaisesRegex(braid.mlir.ArgumentError, "recurrence is 'x', expected one of 'recognize', 'as written'"):
            braid.jax.export(shard(scan), *arrays, recurrence="x")

    def test_recurrence_in_a_loop_of_layers(self):
        def layer(x, a):
            a = jax.nn.sigmoid(a)
            return lax.associative_scan(lambda x, y: (x[0] * y[0], y[0] * x[1] + y[1]), (a, x), axis=1)[1], None

        def loss(x, a):
            return (lax.scan(jax.checkpoint(layer), x, a)[0] ** 2).sum()

        step = jax.jit(jax.shard_map(jax.grad(loss, argnums=(0, 1)), mesh=LINE, in_specs=(P("r"), P(None, "r")),
                                     out_specs=(P("r"), P(None, "r")), check_vma=False))
        self.check_equal(step, jt.normals((2, 40, 3)), jt.normals((3, 2, 40, 3), seed=1), tolerance=1e-5)

    def test_scan_whose_products_are_used_stays(self):
        def scan(a, b):
            return lax.associative_scan(lambda x, y: (x[0] * y[0], y[0] * x[1] + y[1]), (a, b), axis=1)

        a, b = jt.integers((2, 40)) % 3 - 1, jt.integers((2, 40), seed=1)
        self.check_equal(shard(scan), a, b)

    @staticmethod
    def pieces(x, y):
        def rotate(x):
            a, b = x[:, :8], x[:, 8:]
            return jnp.concatenate([a * y[:, :8] - b, b * 2 + a], axis=-1)

        return (rotate(x), jnp.concatenate([x, y, x + 1], axis=0), jnp.concatenate([x[:, :3], y], axis=1),
                jnp.stack([x, y, y, x], axis=1), jnp.stack([x, y], axis=-1), jnp.concatenate([x] * 6, axis=1),
                jnp.concatenate([x > 0, y > 0], axis=1), jnp.concatenate([x + 1j, y * 1j], axis=1),
                jax.grad(lambda y: (rotate(y) ** 2).sum())(y), jnp.pad(x, ((0, 0), (16, 32))),
                jnp.pad(x, ((0, 0), (3, 0))), jnp.pad(x, ((3, 3), (0, 16)), constant_values=-0.0),
                jnp.pad(x, ((6, 0), (0, 0)), constant_values=np.nan), lax.pad(x, 1.0, ((0, 0, 0), (-16, 32, 0))),
                lax.pad(x, 1.0, ((0, 0, 0), (16, 0, 1))))


class PrecisionTest(jt.JaxTestCase):
    def test_each_matmul_keeps_its_precision(self):
        x = jax.ShapeDtypeStruct((4, 4), jnp.float32)
        for precision, may_round in ((None, True), ("default", True), ("high", False), ("highest", False)):
            line, = self.matmuls_of(functools.partial(jnp.matmul, precision=precision), x, x)
            self.assertEqual('braid.precision = "tf32"' in line, may_round, precision)
        # Equal but for their precision.
        both = self.matmuls_of(lambda x, y: (x @ y, jnp.matmul(x, y, precision="highest")), x, x)
        self.assertEqual(sum("braid.precision" in line for line in both), 1)
        with jax.default_matmul_precision("highest"):
            self.assertNotIn("braid.precision", self.matmuls_of(lambda x, y: x @ y, x, x)[0])
        small = jax.ShapeDtypeStruct((4, 4), jnp.bfloat16)
        self.assertNotIn("braid.precision", self.matmuls_of(lambda x, y: x @ y, small, small)[0])
        mixed = self.matmuls_of(lambda x, y: jnp.einsum("hqd,hdk->hqk", x, y), jax.ShapeDtypeStruct((2, 4, 8), jnp.float32),
                                jax.ShapeDtypeStruct((2, 8, 4), jnp.bfloat16))
        self.assertIn('braid.precision = "tf32"', mixed[0])

    def test_algorithms_that_round_operands_once(self):
        x = jax.ShapeDtypeStruct((4, 4), jnp.float32)
        for algorithm, may_round in (("TF32_TF32_F32", True), ("TF32_TF32_F32_X3", False), ("BF16_BF16_F32", True),
                                     ("BF16_BF16_F32_X6", False), ("F32_F32_F32", False)):
            product = jax.jit(functools.partial(lax.dot, precision=algorithm))
            text = braid.jax.from_stablehlo(jax.export.export(product, platforms=["cuda"])(x, x)).text
            self.assertEqual('braid.precision = "tf32"' in text, may_round, algorithm)

    @staticmethod
    def matmuls_of(fn, *arguments):
        text = braid.jax.export(jax.jit(fn), *arguments).text
        return [line for line in text.splitlines() if "linalg." in line and "matmul" in line]


class MatmulLayoutTest(jt.JaxTestCase):
    def count_moves(self, fn, *args):
        """The ops of a program that only move elements. The program has JAX's results."""
        return self.check_equal(jax.jit(fn), *args, tolerance=1e-6).text.count("linalg.yield %in : f32")

    def test_contracted_dimensions_have_the_order_of_memory(self):
        x, w = jt.normals((4, 6, 2, 8)), jt.normals((2, 8, 5), seed=1)
        self.assertEqual(self.count_moves(lambda x, w: lax.dot_general(x, w, (((3, 2), (1, 0)), ((), ()))), x, w), 0)
        # The order of one operand, if not of both.
        w = jt.normals((8, 2, 5), seed=1)
        self.assertEqual(self.count_moves(lambda x, w: lax.dot_general(x, w, (((3, 2), (0, 1)), ((), ()))), x, w), 1)

    def test_matmuls_share_what_moves(self):
        """Each operand moves once, with rows as they are."""
        def both(q, k):
            scores = jnp.einsum("bqhd,bkhd->bhqk", q, k)
            return scores, jnp.einsum("bhqk,bkhd->bhqd", scores, k)

        self.assertEqual(self.count_moves(both, *(jt.normals((2, 6, 3, 4), seed=n) for n in range(2))), 2)


class PoolTest(jt.JaxTestCase):
    def test_gradients_of_max_pools(self):
        def pool(window, strides, padding):
            def loss(x):
                found = lax.reduce_window(x, -jnp.inf, lax.max, (1, *window, 1), (1, *strides, 1), padding)
                return (jnp.where(jnp.isfinite(found), found, 0) ** 2).sum()
            return jax.grad(loss)

        def gradients(x):
            return (pool((3, 3), (2, 2), "SAME")(x), pool((3, 2), (1, 3), "VALID")(x),
                    pool((2, 2), (2, 2), "VALID")(x),
                    pool((2, 2), (3, 3), ((0, 0), (3, 2), (1, 4), (0, 0)))(x))

        # Equal elements: the first one of a window counts.
        text = self.check_equal(shard(gradients), jt.integers((4, 9, 7, 2))).text
        # What steps read is one number of a byte for each window, and no mask for each step.
        padded = [line for line in text.splitlines() if "tensor.insert_slice" in line or "tensor.pad" in line]
        self.assertTrue(any("xi8>" in line for line in padded))
        self.assertFalse(any("xi1>" in line for line in padded))
        # More positions than bytes have numbers.
        self.check_equal(shard(pool((12, 11), (1, 1), "SAME")), jt.integers((4, 9, 7, 2)))


class ConversionTest(jt.JaxTestCase):
    def test_floats_beyond_integers(self):
        """The nearest integer, and 0 for NaN; bounds of 32 bits are beyond all numbers of f16."""
        x = with_special_values((6, 8)) * np.float32(1e9)
        x.flat[:4] = 2.0 ** 31, -2.0 ** 31, 2.0 ** 32, -0.5
        self.check_equal(shard(lambda x: [
            (x * scale).astype(float).astype(integer)
            for float in (jnp.float32, jnp.float16, jnp.float8_e5m2) for scale in (1.0, np.float32(1e-7))
            for integer in (np.int8, np.uint8, np.int16, np.int32, np.uint32)]), x)

    def test_finite_floats_of_8_bits(self):
        """One of the types has no infinity."""
        self.check_equal(shard(lambda x: [test(x.astype(element)) for element in (jnp.float8_e4m3fn, jnp.float8_e5m2)
                                          for test in (jnp.isfinite, jnp.isinf, jnp.isnan)]), with_special_values((6, 8)))


class ReductionTest(jt.JaxTestCase):
    def test_of_nothing(self):
        self.check_equal(shard(lambda x: (
            jnp.sum(x, axis=()), jnp.max(x, axis=()), jnp.sum(x[:, 4:4], axis=1),
            jnp.concatenate([x[:, 4:4], x], axis=1), x[:, 4:4], (x * 1j)[:, 4:4],
            lax.associative_scan(jnp.multiply, x, axis=1), jnp.cumsum(x[:, 4:4], axis=0),
            jnp.max(x[:0], axis=1), jnp.argmax(x[:0], axis=1))), jt.integers((4, 5)))

    def test_of_a_split_dimension_with_any_body(self):
        """Ranks exchange what they have reduced."""
        def reduce(x):
            largest = lax.reduce(x, np.float32(0), lambda a, b: jnp.maximum(jnp.abs(a), jnp.abs(b)), (0,))
            return largest, lax.reduce(x % 2 * 2, np.float32(2), lambda a, b: a * b - a - b + 2, (0, 1))

        x = jt.integers((4, 6))
        found = braid.jax.compile(jax.jit(reduce, in_shardings=jax.NamedSharding(LINE, P("r"))), x)(x)
        for one, other in zip(found, reduce(x)):
            np.testing.assert_array_equal(one, np.asarray(other))


class ScatterTest(jt.JaxTestCase):
    def test_any_body(self):
        self.check_equal(shard(lambda x: (
            x.at[1].apply(lambda v: v * v + 3), x.at[:, jnp.array([4, 0])].apply(jnp.negative),
            jnp.ones(3).at[jnp.array([0, 2])].power(2.0))), jt.integers((4, 5)))

    def test_many_updates(self):
        """Updates of one place follow each other in their order; those out of bounds have no effect."""
        rows = np.array([3, 0, 3, 9, -7, 3, 1, 0, 3, 2], np.int32)
        rows = np.stack([rows, rows[::-1]])  # Those of a rank are one row.
        numbers = np.array([3, 1, 4, 1, 5, 9, 2, 6, 5, 8], np.float32)
        for name, fn in {
                "add": lambda x, i: x.at[i].add(numbers[:, None]),
                "subtract": lambda x, i: x.at[i].subtract(jnp.outer(numbers, jnp.arange(6.0)), mode="drop"),
                "set": lambda x, i: x.at[i].set(jnp.outer(numbers, jnp.arange(6.0))),
                "multiply": lambda x, i: x.at[i].multiply(numbers[:, None]),
                "min": lambda x, i: x.at[:, i].min(numbers - 5),
                "max": lambda x, i: x.at[:, i % 6].max(numbers),
                "power": lambda x, i: jnp.full(4, 2.0).at[i].power(i % 3),
                "body with constants": lambda x, i: x.at[i].apply(lambda v: v * 2 + 3),
                "body with a constant of the translation": lambda x, i: x.at[i].apply(jnp.negative),
                "two indices": lambda x, i: x.at[i, i - 1].add(numbers),
                "exchanged indices": lambda x, i: jnp.zeros((6, 2, 4)).at[i, :, i[::-1]].add(numbers[:, None]),
                "sets of scalars": lambda x, i: x.at[i, i % 2].set(numbers),
                "no updates": lambda x, i: x.at[i[:0]].set(1.0),
                "matrix of indices": lambda x, i: x.at[i.reshape(5, 2)].add(numbers.reshape(5, 2, 1)),
                "batches": lambda x, i: jax.vmap(lambda row, j: row.at[j].add(numbers))(x, jnp.stack([i, i + 1, i, 2 * i])),
                "segment sum": lambda x, i: jax.ops.segment_sum(numbers, i, 5),
                "segment product": lambda x, i: jax.ops.segment_prod(numbers, i, 5),
                "embedding": jax.grad(lambda x, i: (x[i] ** 2).sum()),
                "along an axis": jax.grad(lambda x, i: (jnp.take_along_axis(x, i[:8].reshape(4, 2), 1) ** 2).sum()),
                "gradient of set": jax.grad(lambda x, i: (x.at[i].set(x[i] * 3) ** 2).sum()),
                "bf16": lambda x, i: x.astype(jnp.bfloat16).at[i].add(numbers[:, None].astype(jnp.bfloat16) / 4),
                "unsigned": lambda x, i: jnp.zeros((4, 3), jnp.uint8).at[i.astype(jnp.uint32) % 5].add(jnp.uint8(100)),
                "truth values": lambda x, i: jnp.zeros(4, bool).at[i].set(numbers > 4),
                "complex": lambda x, i: jnp.zeros(4, jnp.complex64).at[i].add(numbers * 1j)}.items():
            with self.subTest(name=name):
                self.check_equal(shard(lambda x, i: fn(x, i[0])), jt.integers((8, 6)), rows)

    def test_form(self):
        """Whole windows become one op; parts of windows and updates at constant places do not."""
        i = jnp.zeros(9, jnp.int32)
        for one_op, fn in ((True, lambda x, i: x.at[i].add(1.0)), (True, lambda x, i: x.at[:, i].apply(lambda v: v + 2)),
                           (False, lambda x, i: x.at[3].add(1.0)), (False, lambda x, i: x.at[i, 2:5].add(1.0))):
            self.assertEqual("library.scatter" in braid.jax.export(jax.jit(fn), jnp.ones((8, 6)), i).text, one_op)

    def test_several_arrays(self):
        """The sum, and the product with the update of the sum."""
        program = braid.jax.from_stablehlo("""
        func.func @main(%x: tensor<4x2xf32>, %y: tensor<4x2xi32>, %at: tensor<3x1xi32>, %u: tensor<3x2xf32>,
                        %v: tensor<3x2xi32>) -> (tensor<4x2xf32>, tensor<4x2xi32>) {
          %0:2 = "stablehlo.scatter"(%x, %y, %at, %u, %v) <{indices_are_sorted = false, unique_indices = false,
              scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0],
                                                             scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
          ^bb0(%a: tensor<f32>, %b: tensor<i32>, %c: tensor<f32>, %d: tensor<i32>):
            %1 = stablehlo.add %a, %c : tensor<f32>
            %2 = stablehlo.convert %c : (tensor<f32>) -> tensor<i32>
            %3 = stablehlo.multiply %b, %2 : tensor<i32>
            %4 = stablehlo.subtract %3, %d : tensor<i32>
            stablehlo.return %1, %4 : tensor<f32>, tensor<i32>
          }) : (tensor<4x2xf32>, tensor<4x2xi32>, tensor<3x1xi32>, tensor<3x2xf32>, tensor<3x2xi32>)
              -> (tensor<4x2xf32>, tensor<4x2xi32>)
          return %0#0, %0#1 : tensor<4x2xf32>, tensor<4x2xi32>
        }""")
        x, y, u, v = (jt.integers(shape, dtype, seed) for seed, (shape, dtype) in enumerate(
            [((4, 2), np.float32), ((4, 2), np.int32), ((3, 2), np.float32), ((3, 2), np.int32)]))
        at = np.array([[2], [7], [2]], np.int32)  # The second one is out of bounds.
        found = program.compile()(x, y, at, u, v)
        x[2] += u[0] + u[2]
        y[2] = (y[2] * u[0].astype(np.int32) - v[0]) * u[2].astype(np.int32) - v[2]
        np.testing.assert_array_equal(found[0], x)
        np.testing.assert_array_equal(found[1], y)


class BitTest(jt.JaxTestCase):
    def test_counts(self):
        self.check_equal(shard(lambda x: [
            count(jnp.abs(x).astype(dtype) * dtype(-77 % 2 ** 7)) for count in (lax.population_count, lax.clz)
            for dtype in (np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32)]), jt.integers((4, 6)))


class FunctionTest(jt.JaxTestCase):
    def test_near_zero(self):
        """exp(x) - 1 would have no digits left."""
        x = np.array([1e-300, -1e-30, 1e-17, -1e-8, 1e-3, -0.0, 3, -50, np.inf, -np.inf, np.nan])
        real = jax.jit(lambda x: (jnp.expm1(x), jnp.sinh(x), jnp.tanh(x), jnp.log1p(x)))
        both = jax.jit(lambda x: jnp.expm1(x))
        with np.errstate(all="ignore"):
            for element in (np.float64, np.float32, np.float16, jnp.bfloat16):
                self.check_digits(real, x.astype(element))
            for element in (np.complex128, np.complex64):
                self.check_digits(both, np.array([1e-30 - 1e-20j, 1e-8 + 1e-9j, -1e-5j, 2 + 3j], element))

    def check_digits(self, fn, x):
        with jax.enable_x64(True):
            found, expected = jax.tree.leaves(braid.jax.compile(fn, x)(x)), jax.tree.leaves(fn(x))
            for one, other in zip(found, expected, strict=True):
                eps = float(jnp.finfo(one.dtype).eps)
                kind = np.complex128 if one.dtype.kind == "c" else np.float64
                np.testing.assert_allclose(one.astype(kind), np.asarray(other).astype(kind), rtol=8 * eps)
                zeros = other == 0
                np.testing.assert_array_equal(np.signbit(one[zeros].real), np.signbit(np.asarray(other)[zeros].real))

    def test_signs_of_zeros(self):
        """IEEE 754's maximum, where 0 is larger than -0, in either order."""
        zeros = np.array([0.0, -0.0])
        fn = jax.jit(lambda x, y: (jnp.maximum(x, y), jnp.minimum(x, y), lax.clamp(x, y, 1 + abs(y)), x.max(), y[::-1].min()))
        for element in (np.float64, np.float32, np.float16, jnp.bfloat16):
            # As many as a vector has, more, and a few.
            for times in (1, 8, 21):
                x, y = np.tile(zeros.repeat(2), times).astype(element), np.tile(zeros, 2 * times).astype(element)
                with jax.enable_x64(True):
                    larger, smaller, clamped, largest, smallest = map(np.signbit, braid.jax.compile(fn, x, y)(x, y))
                np.testing.assert_array_equal(larger, np.signbit(x) & np.signbit(y))
                np.testing.assert_array_equal(smaller, np.signbit(x) | np.signbit(y))
                np.testing.assert_array_equal(clamped, np.signbit(x) & np.signbit(y))
                self.assertEqual((largest, smallest), (False, True))

    def test_maxima_of_all_f16(self):
        x = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
        others = np.array([0.0, -0.0, 1, -3e-7, np.inf, -np.inf, np.nan, -np.nan, 65504], np.float16)[:, None]
        fn = jax.jit(lambda x, y: (jnp.maximum(x, y), jnp.minimum(x, y), jnp.maximum(y, x), jnp.minimum(y, x)))
        larger, smaller, *swapped = braid.jax.compile(fn, x, others)(x, others)
        both = np.broadcast_arrays(x, others)
        signs = np.signbit(both)
        for found, other, expected, sign in ((larger, swapped[0], np.maximum(*both), signs.all(0)),
                                             (smaller, swapped[1], np.minimum(*both), signs.any(0))):
            np.testing.assert_array_equal(found, expected)
            np.testing.assert_array_equal(found, other)
            zeros = found == 0
            np.testing.assert_array_equal(np.signbit(found)[zeros], sign[zeros])


class TransposeTest(jt.JaxTestCase):
    def test_tiles_of_each_type(self):
        """Whole tiles and parts of tiles, of rows that share sets of a cache."""
        fn = jax.jit(lambda x: (x.mT, x.mT | x.reshape(x.mT.shape), jnp.swapaxes(x, 0, -1)))
        for element in (np.bool_, np.int8, np.uint16, np.int32, np.int64):
            for shape in ((1024, 1000), (1000, 1024), (2, 96, 4096), (37, 2048)):
                x = np.random.default_rng(0).integers(0, 100, shape).astype(element)
                with jax.enable_x64(True):
                    found = braid.jax.compile(fn, x)(x)
                turned = np.swapaxes(x, -1, -2)
                for one, other in zip(found, (turned, turned | x.reshape(turned.shape), np.swapaxes(x, 0, -1))):
                    np.testing.assert_array_equal(one, other)

    def test_tiles_of_floats(self):
        fn = jax.jit(lambda x: (x.T * 2, x.T + x[:, 0]))
        for element in (np.float64, np.float32, np.float16, jnp.bfloat16, np.complex64):
            x = jt.integers((1056, 1024)).astype(element)
            with jax.enable_x64(True):
                found = braid.jax.compile(fn, x)(x)
                for one, other in zip(found, fn(x)):
                    np.testing.assert_array_equal(one, np.asarray(other))


class ComplexTest(jt.JaxTestCase):
    def test_reductions_over_ranks(self):
        def reductions(x):
            return jnp.prod(x, axis=0), jnp.prod(x), jnp.prod(x, axis=1), jnp.max(x, axis=0), jnp.min(x, axis=1), jnp.max(x)

        x = (jt.integers((4, 6)) + 1j * jt.integers((4, 6), seed=1)).astype(np.complex64)
        # JAX itself has no maxima of complex numbers over devices.
        for spec in P("r"), P(None, "r"):
            fn = jax.jit(reductions, in_shardings=jax.NamedSharding(LINE, spec))
            for one, other in zip(braid.jax.compile(fn, x)(x), reductions(x)):
                np.testing.assert_allclose(one, np.asarray(other), rtol=1e-6)

    def test_functions(self):
        x = jt.normals((4, 6)) + 1j * jt.normals((4, 6), seed=1)
        x[0, :3] = 0, -4, 4j
        self.check_functions(x.astype(np.complex64), jnp.sqrt, jnp.tanh, jnp.tan, jnp.log1p)
        self.check_functions((x + 1).astype(np.complex64), lax.rsqrt, lambda x: lax.cumlogsumexp(x, axis=1))
        # A real result is the real part.
        self.check_functions(x.astype(np.complex64), lambda x: lax.dot(x, x.T, preferred_element_type=jnp.float32))
        parts = (0.0, -0.0, 1, np.inf, -np.inf, np.nan)
        special = np.array([complex(a, b) for a in parts for b in parts], np.complex64)
        self.check_functions(special, jnp.tanh, jnp.tan)
        # The imaginary part has the other sign than that of the argument, also at zero.
        axis = np.array([complex(a, b) for a in (2, -2) for b in (0.0, -0.0)], np.complex64)
        found, expected = braid.jax.compile(jax.jit(lax.rsqrt), axis)(axis), np.asarray(lax.rsqrt(axis))
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6)
        np.testing.assert_array_equal(np.signbit(found.imag), np.signbit(expected.imag))
        # An infinite part decides, whatever the other one is.
        special = special[np.isinf(special.real) | np.isinf(special.imag)]
        found, expected = braid.jax.compile(jax.jit(lax.rsqrt), special)(special), np.asarray(lax.rsqrt(special))
        np.testing.assert_array_equal(found, np.zeros_like(special))
        for one, other in ((found.real, expected.real), (found.imag, expected.imag)):
            np.testing.assert_array_equal(np.signbit(one), np.signbit(other))

    def check_functions(self, x, *functions):
        fn = shard(lambda x: [f(x) for f in functions])
        for one, other in zip(braid.jax.compile(fn, x)(x), fn(x)):
            np.testing.assert_allclose(one, np.asarray(other), rtol=2e-5, atol=2e-6)


class CallbackTest(jt.JaxTestCase):
    def test_print_is_dropped_with_a_warning(self):
        def double(x):
            jax.debug.print("x = {}", x)  # this line
            return x * 2

        for fn in (shard(double), jax.jit(double, in_shardings=jax.NamedSharding(LINE, P("r")))):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                x = jt.integers((4, 2))
                np.testing.assert_array_equal(braid.jax.compile(fn, x)(x), x * 2)
            found = [str(w.message) for w in caught if issubclass(w.category, DroppedCallbackWarning)]
            self.assertEqual(len(found), 1, found)
            line = double.__code__.co_firstlineno + 1
            self.assertRegex(found[0], rf"operations.py:{line}:\d+: debug_\w+ is left out of the program")

    def test_ordered_prints_of_loops_and_branches_are_dropped(self):
        def add_up(total, x):
            jax.debug.print("total = {}", total, ordered=True)
            jax.lax.cond(x > 0, lambda: jax.debug.print("x = {}", x, ordered=True), lambda: None)
            return total + x, total

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DroppedCallbackWarning)
            self.check_equal(jax.jit(lambda x, y: (jax.lax.scan(add_up, x[0], x), y)), jt.integers((4,)), jt.integers((2,)))

    def test_others_are_refused_by_name(self):
        shape = jax.ShapeDtypeStruct((2, 2), np.float32)
        for name, call in (("pure_callback", jax.pure_callback),
                           ("io_callback", jax.experimental.io_callback)):
            fn = shard(lambda x, call=call: call(lambda x: x, shape, x))
            with self.assertRaisesRegex(braid.jax.UnsupportedError,
                                        rf"operations.py:\d+:\d+: .*`{name}` calls Python, which a compiled"):
                braid.jax.export(fn, jt.integers((4, 2)))

    def test_checks_of_equinox_are_refused_with_advice(self):
        def root(x):
            return jnp.sqrt(equinox.error_if(x, x < 0, "negative", on_error="raise"))

        line = root.__code__.co_firstlineno + 1
        with self.assertRaisesRegex(braid.jax.UnsupportedError, rf"operations.py:{line}:\d+: .*EQX_ON_ERROR=nan"):
            braid.jax.export(jax.jit(root), jt.integers((4, 2)))

    def test_checks_inside_primitives_of_equinox_are_refused_with_advice(self):
        checked = equinox.internal.filter_primitive_def(
            lambda x: [equinox.error_if(x, x < 0, "negative", on_error="raise")])
        primitive = equinox.internal.create_vprim(
            "checked", checked, equinox.internal.filter_primitive_def(lambda x: [x]), None, None)
        with self.assertRaisesRegex(braid.jax.UnsupportedError, r"operations.py:\d+:\d+: .*EQX_ON_ERROR=nan"):
            braid.jax.export(jax.jit(lambda x: equinox.internal.filter_primitive_bind(primitive, x)), jt.integers((4, 2)))


if __name__ == "__main__":
    unittest.main()
