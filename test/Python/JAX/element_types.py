# REQUIRES: jax
# RUN: %jax_python %s
"""Every element type of JAX in arguments, constants, reductions and exchanges: what Braid
gives is what JAX gives, or the op and its line are named."""

import unittest

import jax
import jax.numpy as jnp
import jax_testing as jt
import ml_dtypes
import numpy as np
from jax import lax
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

import braid.jax

jax.config.update("jax_enable_x64", True)

MESH = jt.make_mesh((2,), ("r",))
INTEGERS = [np.dtype(f"{sign}int{width}") for sign in ("", "u") for width in (8, 16, 32, 64)]
FLOATS = [np.dtype(t) for t in (ml_dtypes.bfloat16, np.float16, np.float32, np.float64)]
SMALL_FLOATS = [np.dtype(t) for t in (ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2)]
COMPLEX = [np.dtype(t) for t in (np.complex64, np.complex128)]
BOOLEAN = np.dtype(bool)
# What ranks do not exchange, and what programs do not have.
SMALL_INTEGERS = [np.dtype(t) for t in (ml_dtypes.int4, ml_dtypes.uint4, ml_dtypes.int2, ml_dtypes.uint2)]
OTHER_FLOATS = [np.dtype(t) for t in (
    ml_dtypes.float8_e4m3b11fnuz, ml_dtypes.float8_e4m3fnuz, ml_dtypes.float8_e5m2fnuz, ml_dtypes.float8_e4m3,
    ml_dtypes.float8_e3m4, ml_dtypes.float8_e8m0fnu, ml_dtypes.float4_e2m1fn)]
TAKEN = [BOOLEAN, *INTEGERS, *FLOATS, *SMALL_FLOATS, *COMPLEX]


def values(dtype):
    """Small numbers, and the largest and smallest ones of integers."""
    x = np.array([[1, 0, 2, 1], [3, 1, 0, 1]])
    if dtype.kind == "c":
        return (x - 1j * x[::-1]).astype(dtype)
    x = x.astype(dtype)
    if dtype in INTEGERS:
        x[0, 2], x[1, 1] = np.iinfo(dtype).max, np.iinfo(dtype).min
    return x


def shard(fn, out_specs=P("r")):
    return jax.jit(jax.shard_map(fn, mesh=MESH, in_specs=P("r"), out_specs=out_specs,
                                 check_vma=False))


def split(fn):
    """`fn` of an array that is split along its columns."""
    return jax.jit(fn, in_shardings=NamedSharding(MESH, P(None, "r")),
                   out_shardings=NamedSharding(MESH, P()))


class TypesTest(jt.JaxTestCase):
    def check_types(self, make, types):
        """One program for all types: `make(x)` of each array."""
        self.check_equal(shard(lambda xs: [make(x) for x in xs]), [values(t) for t in types])

    def test_arguments_and_results(self):
        self.check_types(lambda x: x, TAKEN)

    def test_small_integers(self):
        self.check_types(lambda x: (x, x[::-1], x.astype(np.int32) * 2), SMALL_INTEGERS)
        self.check_equal(jax.jit(lambda xs: [(x.T, x.astype(np.float32).sum(1)) for x in xs],
                                 in_shardings=NamedSharding(MESH, P(None, "r"))), [values(t) for t in SMALL_INTEGERS])

    def test_exchanges(self):
        self.check_types(lambda x: (lax.all_gather(x, "r"), lax.ppermute(x, "r", [(0, 1), (1, 0)]),
                                    lax.all_to_all(x, "r", 1, 1, tiled=True)), TAKEN)

    def test_constants(self):
        self.check_types(lambda x: (jnp.full_like(x, 1), jnp.zeros_like(x), np.ones((1,), x.dtype),
                                    values(np.dtype(x.dtype))[:1]), TAKEN)

    def test_sums(self):
        self.check_types(lambda x: lax.psum(x, "r"), [*INTEGERS, *FLOATS, *COMPLEX])
        self.check_types(lambda x: lax.psum_scatter(x, "r", scatter_dimension=1, tiled=True),
                         [*INTEGERS, *FLOATS, *COMPLEX])

    def test_largest_and_smallest(self):
        self.check_types(lambda x: (lax.pmax(x, "r"), lax.pmin(x, "r")),
                         [BOOLEAN, *INTEGERS, *FLOATS])

    def test_reductions_of_a_split_dimension(self):
        def reduce(x):
            return (jnp.sum(x, 1, dtype=x.dtype), jnp.max(x, 1), jnp.min(x, 1),
                    jnp.prod(x, 1, dtype=x.dtype))
        types = [*INTEGERS, *FLOATS]
        on = NamedSharding(MESH, P(None, "r"))
        self.check_equal(jax.jit(lambda xs: [reduce(x) for x in xs],
                                 in_shardings=([on] * len(types),)), [values(t) for t in types])

    def test_products_of_matrices_with_vectors(self):
        # Sums of small integers are exact in any order; 37 terms are whole vectors with a rest.
        draw = np.random.default_rng(0)
        a, x, y = (draw.integers(-2, 3, shape) for shape in ((5, 37), 37, 5))
        arguments = [tuple(v.astype(t) for v in (a, x, y)) for t in [*INTEGERS[:4], *FLOATS]]
        self.check_equal(jax.jit(lambda all: [(a @ x, y @ a, x @ x, a.T @ y) for a, x, y in all]), arguments)

    def test_booleans_of_a_split_dimension(self):
        self.check_equal(split(lambda x: (x.any(1), x.all(1), x.max(1), x.min(1), x.sum(1))),
                         values(BOOLEAN))

    def test_largest_of_unsigned_beyond_half(self):
        x = np.array([[2**63 + 5, 1, 2**64 - 1, 7], [7, 2**64 - 1, 0, 2**63]], np.uint64)
        self.check_equal(shard(lambda x: (lax.pmax(x, "r"), lax.pmin(x, "r"), lax.psum(x, "r"))), x)

    def test_complex_numbers(self):
        x = values(np.dtype(np.complex64))
        self.check_equal(shard(lambda x: (
            lax.psum(x * (2 + 1j), "r"), lax.psum(x + np.array([1j, 2, 3 - 1j, 0], x.dtype), "r"),
            lax.psum(x.real, "r") + x.imag, x.conj(), x @ x.T)), x)
        self.check_equal(shard(lambda x: (lax.pmean(x, "r"), jnp.exp(x), abs(x), x ** 2)), x,
                         tolerance=0)
        self.check_equal(split(lambda x: (x.sum(1), x.T * 1j)), x)

    def test_quotients_of_complex_numbers(self):
        parts = [0.0, -0.0, 1.0, -2.0, np.inf, -np.inf, np.nan, 3e25, 3e-25]
        numbers = np.array([complex(a, b) for a in parts for b in parts], np.complex64)
        x, y = np.repeat(numbers, len(numbers)), np.tile(numbers, len(numbers))
        x, y = x[:-1], y[:-1]  # an even number of them
        fn = jax.jit(jax.shard_map(lambda x, y: x / y, mesh=MESH, in_specs=P("r"),
                                   out_specs=P("r")))
        one, other = braid.jax.compile(fn, x, y)(x, y), np.asarray(fn(x, y))
        for part in (np.real, np.imag):
            # Sums that cancel leave what is lost by rounding, of the size of the quotient.
            rest = 1e-6 * np.where(np.isfinite(abs(other)), abs(other), 0)
            found, expected = part(one), part(other)
            with np.errstate(invalid="ignore"):
                near = abs(found - expected) <= rest
            np.testing.assert_array_equal(np.where(near, expected, found), expected)


class RefusedTest(unittest.TestCase):
    def check_refused(self, make, dtype, reason):
        def line(x):
            return make(x)  # this line
        fn = shard(line)
        with self.assertRaisesRegex(braid.jax.UnsupportedError, reason) as caught:
            braid.jax.export(fn, values(dtype))
        self.assertEqual(caught.exception.location.file, __file__)

    def test_types_that_ranks_do_not_exchange(self):
        for dtype in SMALL_INTEGERS:
            with self.subTest(dtype=dtype):
                self.check_refused(lambda x, to=dtype: lax.all_gather(x.astype(to), "r").astype(np.int32),
                                   np.dtype(np.int32), r"element_types.py:\d+:\d+: stablehlo.all_gather .*: ranks cannot "
                                   "exchange elements of type")

    def test_types_that_functions_do_not_have(self):
        for dtype in OTHER_FLOATS:
            with self.subTest(dtype=dtype):
                self.check_refused(lambda x: x[::-1], dtype, r"element_types.py:\d+:\d+: stablehlo.reverse \(from rev\): "
                                   "(argument 0 of the function|its result) has elements of type f[48]")
                self.check_refused(lambda x, to=dtype: x.astype(to), np.dtype(np.int32),
                                   r"element_types.py:\d+:\d+: stablehlo.convert \(from convert_element_type\): "
                                   "(result 0 of the function|its result) has elements of type f[48]")

    def test_small_integers_inside(self):
        x = values(np.dtype(np.int32))
        self.assertEqual(braid.jax.compile(shard(lambda x: x.astype(jnp.int4).astype(jnp.int32)), x)(x).tolist(),
                         x.astype(ml_dtypes.int4).astype(np.int32).tolist())


if __name__ == "__main__":
    unittest.main()
