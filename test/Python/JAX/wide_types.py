# REQUIRES: jax
# RUN: env JAX_ENABLE_X64=1 %jax_python %s
"""Arrays of 64 bits, under `jax_enable_x64`, against JAX: whole numbers up to the bounds of their types, floats that differ
in their last bit, indices beyond 32 bits."""

import unittest

import jax
import jax.numpy as jnp
import jax_testing as jt
import numpy as np
from jax import lax

RANDOM = np.random.RandomState(0)
LARGEST = 2 ** 63 - 1
WHOLE = RANDOM.randint(-LARGEST - 1, LARGEST, (8, 12), dtype=np.int64)
WHOLE[0, :6] = LARGEST, -LARGEST - 1, LARGEST - 1, -LARGEST, 0, -1
WHOLE[1, ::2] = WHOLE[1, 0]
REAL = RANDOM.standard_normal((8, 12))
REAL[1, 3:5] = np.nextafter(REAL[1, 2], 9), REAL[1, 2]
SPECIAL = REAL.copy()
SPECIAL[0, :5] = np.nan, np.inf, -np.inf, -0.0, 0.0


class WideTypesTest(jt.JaxTestCase):
    def test_orders(self):
        self.check_equal(jax.jit(lambda i, u, x, y: (
            jnp.sort(i, 1), jnp.sort(u, 0), jnp.argsort(i, 1, descending=True), jnp.argsort(u, 1), jnp.sort(x, 1), jnp.argsort(x, 0),
            lax.sort((jnp.round(x), i, u), num_keys=2), lax.top_k(i, 4), lax.top_k(u, 3), lax.top_k(y, 3), jnp.argmax(i, 1),
            jnp.argmin(u, 0), jnp.argmax(x, 1), jnp.unique(i, size=20), jnp.searchsorted(jnp.sort(i[3]), i[4]),
            jnp.sort(lax.complex(y, y[::-1]), 1))), WHOLE, WHOLE.astype(np.uint64), SPECIAL, REAL)

    def test_whole_numbers(self):
        self.check_equal(jax.jit(lambda i, u: (
            i // 7, i % 7, u // 7, u % np.uint64(2 ** 63 + 5), lax.div(i, i[::-1] | 1), lax.rem(i, i[::-1] | 1), abs(i), i ** 3, u >> 3,
            i >> 3, i << 2, lax.population_count(i), i.sum(), u.max(0), jnp.prod(i, 0), jnp.cumsum(i, 1), lax.cummax(i, 0),
            lax.cummin(u, 1), i @ i.T, u @ u.T, lax.fori_loop(0, 5, lambda k, c: c * k + 1, i[3]))), WHOLE, WHOLE.astype(np.uint64))

    def test_casts(self):
        self.check_equal(jax.jit(lambda i, u, x: (
            i.astype(np.float64), u.astype(np.float64), i.astype(np.float32), u.astype(np.float32), i.astype(np.int8),
            *[(x * scale).astype(kind) for scale in (1, 1e12, 1e18, 1e30) for kind in (np.int64, np.uint64, np.int32)],
            x.astype(np.float16), x.astype(jnp.bfloat16).astype(np.float32), lax.bitcast_convert_type(x, np.int64),
            lax.bitcast_convert_type(i, np.int32))), WHOLE, WHOLE.astype(np.uint64), REAL)

    def test_indices(self):
        """Those out of bounds are filled, clipped or dropped."""
        self.check_equal(jax.jit(lambda i, x, at: (
            x.at[at].get(mode="fill"), x.at[at].get(mode="clip"), i.at[at].set(7, mode="drop"), x.at[at].add(1.5), i.at[at].max(5),
            lax.dynamic_slice(x, (at[3], at[5]), (2, 3)), lax.dynamic_update_slice(i, i[:2, :2], (at[4], at[1])))),
            WHOLE, REAL, np.array([0, 3, -1, 50, 2 ** 40, -2 ** 40, 3]))

    def test_functions(self):
        functions = (jnp.exp, jnp.expm1, jnp.sin, jnp.tan, jnp.tanh, jnp.arctan, jnp.cbrt, jnp.arcsinh, jax.nn.gelu, lax.erf, lax.erfc,
                     lax.lgamma, lax.digamma, lambda x: lax.erf_inv(jnp.tanh(x)), lambda x: jnp.power(abs(x), x),
                     lambda x: lax.igamma(abs(x), abs(x[::-1])), lambda x: jnp.exp(lax.complex(x, x[::-1])),
                     lambda x: jnp.linalg.inv(x[:, :8] @ x[:, :8].T + jnp.eye(8)), lambda x: jnp.fft.fft(x), lambda x: x.var())
        found = self.check_rows(functions, REAL)
        self.assertTrue(all(one.dtype.itemsize >= 8 for one in found))

    def check_rows(self, functions, x):
        """Each result has its own largest element."""
        fn = jax.jit(lambda x: [function(x) for function in functions])
        found = jt.braid.jax.compile(fn, x)(x)
        for one, other in zip(found, fn(x), strict=True):
            np.testing.assert_allclose(one, other, rtol=0, atol=2e-12 * np.abs(other).max())
        return found


if __name__ == "__main__":
    unittest.main()
