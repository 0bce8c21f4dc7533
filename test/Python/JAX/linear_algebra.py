# REQUIRES: jax
# RUN: %jax_python %s
"""Fourier transforms and linear algebra through libraries of the host: one program for all element
types of a group of functions, and gradients as JAX derives them."""

import ctypes.util
import unittest

import jax
import jax_testing as jt

jax.config.update("jax_enable_x64", True)

import jax.export
import jax.numpy as jnp
import jax.scipy.linalg as jsl
import numpy as np
from jax import lax
from jax.experimental import sparse
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

import braid.jax

LINE = jt.make_mesh((2,), ("r",))
TYPES = (np.float32, np.float64, np.complex64, np.complex128)
# Each function on two types; what the others have of their own, test_every_type has.
TWO = TYPES[::3]


def sharded(fn):
    return jax.jit(jax.shard_map(fn, mesh=LINE, in_specs=P("r"), out_specs=P("r"), check_vma=False))


def random(shape, dtype, seed=0):
    values = jt.normals(shape, np.float64, seed)
    if np.issubdtype(dtype, np.complexfloating):
        values = values + 1j * jt.normals(shape, np.float64, seed + 1)
    return values.astype(dtype)


def positive(matrix):
    """A matrix whose eigenvalues are greater than 0."""
    return matrix @ jnp.conj(jnp.swapaxes(matrix, -1, -2)) + 4 * jnp.eye(matrix.shape[-1], dtype=matrix.dtype)


class LibraryTestCase(jt.JaxTestCase):
    def check(self, fn, *args):
        """Compares each result, of any type, with that of JAX. Gives the compiled function."""
        compiled = braid.jax.compile(fn, *args)
        self.check_results(compiled(*args), fn(*args))
        return compiled

    def check_results(self, found, expected):
        found, expected = jax.tree.leaves(found), jax.tree.leaves(expected)
        self.assertEqual(len(found), len(expected))
        for one, other in zip(found, map(np.asarray, expected)):
            self.assertEqual((one.dtype, one.shape), (other.dtype, other.shape))
            if not np.issubdtype(other.dtype, np.inexact):
                np.testing.assert_array_equal(one, other)
                continue
            np.testing.assert_array_equal(np.isnan(one), np.isnan(other))
            largest = np.nanmax(np.abs(other), initial=1)
            np.testing.assert_allclose(one, other, rtol=0, atol=300 * np.finfo(other.dtype).eps * largest)


HAS_FFTW = all(ctypes.util.find_library(name) for name in ("fftw3", "fftw3f"))


@unittest.skipUnless(HAS_FFTW, "no FFTW")
class TransformTest(LibraryTestCase):
    def test_transforms_and_gradients(self):
        def real(x):
            y = jnp.fft.rfft(x)
            return (y, jnp.fft.irfft(y), jnp.fft.irfft(y, n=7), jnp.fft.rfftn(x, axes=(1, 2)), jnp.fft.rfft(x, axis=1),
                    jnp.fft.irfft2(jnp.fft.rfft2(x), s=x.shape[-2:]), jnp.fft.rfft(x, n=1), jnp.fft.rfft(x[:, :, :0], n=4),
                    jax.grad(lambda x: jnp.sum(jnp.abs(jnp.fft.rfft(x)) ** 3))(x),
                    jax.grad(lambda x: jnp.sum(jnp.fft.irfft(jnp.fft.rfft(x) ** 2) ** 2))(x))

        def complex(x):
            return (jnp.fft.fft(x), jnp.fft.ifft(x), jnp.fft.fftn(x, axes=(0, 1, 2)), jnp.fft.ifft2(x), jnp.fft.fft(x, axis=0),
                    jnp.fft.fftshift(jnp.fft.hfft(x)), jax.grad(lambda x: jnp.sum(jnp.abs(jnp.fft.ifft(x)) ** 3))(x))

        x = random((4, 5, 12), np.complex128)
        self.check(sharded(lambda a, b, c, d: (real(a), real(b), complex(c), complex(d))),
                   *(x.real.astype(t) if t in TYPES[:2] else x.astype(t) for t in TYPES))

    def test_whole_array_of_split_dimension(self):
        x = random((8, 6), np.complex64)
        for spec in P("r"), P(None, "r"):
            self.check(jax.jit(lambda x: jnp.fft.ifft(jnp.fft.fft2(x), axis=0), in_shardings=NamedSharding(LINE, spec)), x)


class FactorTest(LibraryTestCase):
    def test_cholesky(self):
        def factor(x):
            good = positive(x)
            return (jnp.linalg.cholesky(good), jnp.linalg.cholesky(good, upper=True),
                    jnp.linalg.cholesky(x + jnp.conj(jnp.swapaxes(x, 1, 2))),  # Not positive: NaN.
                    jsl.cho_solve(jsl.cho_factor(good), x))

        gradient = jax.grad(lambda x: jnp.sum(jnp.abs(jnp.linalg.cholesky(positive(x)) + 1) ** 3))
        self.check(sharded(lambda *xs: ([factor(x) for x in xs], [gradient(x) for x in xs])), *(random((4, 5, 5), t) for t in TWO))

    def test_triangular_solves(self):
        def solves(x, b):
            found = []
            for number in range(32):
                left, lower, unit, transpose, conjugate = (bool(number >> bit & 1) for bit in range(5))
                sides = b if left else jnp.swapaxes(b, 1, 2)
                found.append(lax.linalg.triangular_solve(
                    x, sides, left_side=left, lower=lower, unit_diagonal=unit, transpose_a=transpose,
                    conjugate_a=conjugate))
            grad = jax.grad(lambda x, b: jnp.sum(jnp.abs(jsl.solve_triangular(x, b, lower=True)) ** 2), (0, 1))
            return found, grad(x, b)

        triangles = [random((2, 4, 4), t) + 5 * np.eye(4, dtype=t) for t in (np.float32, np.complex128)]
        self.check(sharded(lambda x, y, b, c: (solves(x, b), solves(y, c))), *triangles,
                   random((2, 4, 3), np.float32), random((2, 4, 3), np.complex128))

    def test_qr(self):
        def factor(x):
            wide = jnp.swapaxes(x, 1, 2)
            reflectors, taus = jnp.linalg.qr(x, mode="raw")
            return (jnp.linalg.qr(x), jnp.linalg.qr(x, mode="complete"), jnp.linalg.qr(x, mode="r"), jnp.linalg.qr(wide),
                    jnp.linalg.qr(wide, mode="complete"), jsl.qr(x, mode="economic", pivoting=True), reflectors, taus,
                    lax.linalg.householder_product(jnp.swapaxes(reflectors, 1, 2), taus))

        def loss(x):
            q, r = jnp.linalg.qr(x)
            return jnp.sum(jnp.abs(q + 1) ** 3) + jnp.sum(jnp.abs(r + 1) ** 3)

        self.check(sharded(lambda *xs: ([factor(x) for x in xs], [jax.grad(loss)(x) for x in xs])), *(random((2, 6, 4), t) for t in TWO))

    @unittest.skipUnless(hasattr(jsl, "qr_multiply"), "this JAX has no qr_multiply")
    def test_products_with_q(self):
        def multiply(x):
            wide = jnp.swapaxes(x, 1, 2)
            return (jsl.qr_multiply(x, wide), jsl.qr_multiply(x, wide, mode="left", pivoting=True),
                    jsl.qr_multiply(wide, x, conjugate=True), jsl.qr_multiply(wide, wide, mode="left"))

        self.check(sharded(lambda *xs: [multiply(x) for x in xs]), *(random((2, 6, 4), t) for t in TWO))

    def test_permutations(self):
        """The pivots of a factor make a permutation without a loop."""
        permute = sharded(lambda pivots: lax.linalg.lu_pivots_to_permutation(pivots, 7))
        for pivots in ([[2, 4, 2, 6, 4], [6, 6, 6, 6, 6]], [[0], [3]], [[1, 1, 5, 4, 5, 5, 6], [3, 4, 2, 6, 6, 5, 6]]):
            pivots = np.array(pivots, np.int32)
            self.assertNotRegex(braid.jax.export(permute, pivots).text, r"scf\.(for|while)")
            self.check(permute, pivots)

    def test_lu(self):
        def solves(x):
            shifted = x + 3 * jnp.eye(x.shape[-1], dtype=x.dtype)
            return (jnp.linalg.solve(shifted, x), jnp.linalg.inv(shifted), jnp.linalg.det(x), jnp.linalg.slogdet(x),
                    lax.linalg.lu(x[:, :, :3]), lax.linalg.lu(x[:, :3]), jnp.isfinite(jnp.linalg.inv(jnp.zeros_like(x))))

        def gradients(x, *functions):
            return [jax.grad(lambda x, f=f: jnp.sum(jnp.abs(f(x)) ** 2))(x) for f in functions]

        def solve(x):
            return jnp.linalg.solve(x, x[:, :, :2] + 1)

        self.check(sharded(lambda *xs: ([solves(x) for x in xs], gradients(xs[0], jnp.linalg.inv, jnp.linalg.det, solve),
                                        gradients(xs[1], solve))), *(random((2, 5, 5), t) for t in TWO))
        self.check(sharded(jsl.expm), random((2, 4, 4), np.float32))

    def test_eigenvalues_and_singular_values(self):
        def values(x):
            square = x[:, :, :4]
            symmetric = positive(square)
            w, v = jnp.linalg.eigh(symmetric)
            u, s, vt = jnp.linalg.svd(x)
            ut, st, vtt = jnp.linalg.svd(jnp.swapaxes(x, 1, 2), full_matrices=False)
            uq, sq, vtq = lax.linalg.svd(x, full_matrices=False, algorithm=lax.linalg.SvdAlgorithm.QR)
            t, z = jsl.schur(square[0], output="complex")
            e, r = jnp.linalg.eig(square)
            # Signs of vectors are free.
            return (w, s, st, sq, jnp.linalg.eigvalsh(symmetric), jnp.linalg.svd(x, compute_uv=False), jnp.abs(v),
                    jnp.sort(jnp.abs(jnp.linalg.eigvals(square))), v * w[:, None] @ jnp.conj(jnp.swapaxes(v, 1, 2)),
                    u * s[:, None] @ vt[:, :4], ut * st[:, None] @ vtt, uq * sq[:, None] @ vtq, (z @ t @ jnp.conj(z.T))[None],
                    1 + square @ r - r * e[:, None], jnp.linalg.matrix_rank(x))

        def gradients(x):
            return (jax.grad(lambda x: jnp.sum(jnp.linalg.eigh(positive(x))[0] ** 3))(x[:, :, :4]),
                    jax.grad(lambda x: jnp.sum(jnp.linalg.svd(x, compute_uv=False) ** 3))(x), jnp.linalg.pinv(x))

        self.check(sharded(lambda *xs: ([values(x) for x in xs], [gradients(x) for x in xs])), *(random((2, 4, 6), t) for t in TWO))

    def test_other_routines(self):
        def more(x):
            symmetric = x + jnp.conj(jnp.swapaxes(x, 1, 2))
            return (jsl.hessenberg(x), lax.linalg.tridiagonal(symmetric)[1:3],
                    [lax.linalg.tridiagonal_solve(y[0], y[1] + 9, y[2], y[:4].T) for y in x])

        self.check(sharded(lambda *xs: [more(x) for x in xs]), *(random((2, 5, 5), t) for t in TYPES))

    def test_every_type(self):
        def one(x):
            q, r, _ = jsl.qr(x, pivoting=True)
            t, z = jsl.schur(x[0])
            u, s, _ = lax.linalg.svd(x, algorithm=lax.linalg.SvdAlgorithm.QR)
            return (jnp.linalg.cholesky(positive(x)), jnp.linalg.qr(x), q, r, jnp.linalg.solve(x, x[:, :, :2]), jnp.linalg.eigvalsh(positive(x)),
                    jnp.linalg.svd(x, compute_uv=False), s, jnp.abs(u), jnp.sort(jnp.abs(jnp.linalg.eigvals(x))), (z @ t @ jnp.conj(z.T))[None])

        self.check(sharded(lambda *xs: [one(x) for x in xs]), *(random((2, 4, 4), t) for t in TYPES[1:3]))


class ShardedTest(LibraryTestCase):
    def test_batches_and_split_matrices(self):
        def step(x, b):
            q, r = jnp.linalg.qr(x)
            factor = jnp.linalg.cholesky(positive(x))
            return q, r, jnp.linalg.solve(x, b), factor, jnp.linalg.svd(x, compute_uv=False)

        x, b = random((4, 4, 4), np.float32), random((4, 4, 2), np.float32)
        for spec in P("r"), P(None, None, "r"):
            sharding = NamedSharding(LINE, spec)
            self.check(jax.jit(step, in_shardings=(sharding, sharding)), x, b)

    def test_in_a_loop(self):
        def solve(x):
            return lax.fori_loop(0, 3, lambda _, y: jnp.linalg.solve(positive(x), jnp.linalg.qr(y)[0]), x)

        self.check(sharded(solve), random((2, 4, 4), np.float64))

    def test_module_of_another_platform(self):
        def solves(x, b):
            return (jnp.tril(lax.linalg.cholesky(x, symmetrize_input=False)),
                    lax.linalg.triangular_solve(x, b, left_side=True, lower=True, transpose_a=True),
                    lax.linalg.triangular_solve(x, jnp.swapaxes(b, 1, 2), unit_diagonal=True, transpose_a=True, conjugate_a=True))

        # The second matrix is not positive: NaN.
        x = random((2, 4, 4), np.complex64)
        x = x @ np.conj(np.swapaxes(x, 1, 2)) + np.array([4, -20], np.float32)[:, None, None] * np.eye(4, dtype=np.float32)
        b = random((2, 4, 3), np.complex64, seed=2)
        text = jax.export.export(jax.jit(solves), platforms=["tpu"])(x, b).mlir_module()
        self.assertIn("stablehlo.cholesky", text)
        self.check_results(braid.jax.from_stablehlo(text).compile()(x, b), solves(x, b))

    def test_division_of_an_inverse_transform_fuses(self):
        def scaled(x):
            return jnp.fft.irfft(jnp.fft.rfft(x) * 2) + x

        prepared = braid.jax.export(sharded(scaled), random((2, 8), np.float32)).run_passes("braid-prepare{target=cuda}").text
        self.assertIn('library.call "brfft"', prepared)
        self.assertNotIn("irfft", prepared)
        self.assertEqual(prepared.count("linalg.generic"), 2, prepared)

    def test_products_with_sparse_matrices(self):
        def products(*matrices):
            # An empty row of the matrix, and padding behind its last row.
            return [sparse.BCSR.fromdense(values, nse=7) @ dense for values in matrices for dense in (values, values[2])]

        matrix = np.array([[0, 2, 0, -1], [0, 0, 0, 0], [3, 0, 0, 0], [0, 0, 5, 0]])
        matrices = [matrix.astype(dtype) for dtype in (np.int32, np.float64)]
        rows = NamedSharding(LINE, P("r"))
        for options in ({}, {"in_shardings": (rows, rows)}):
            self.check_equal(jax.jit(products, **options), *matrices)

    def test_call_without_a_translation_is_refused_by_name(self):
        module = """module @call attributes {mhlo.num_partitions = 2 : i32, mhlo.num_replicas = 1 : i32} {
          func.func public @main(%a: tensor<2xf32> {mhlo.sharding = "{replicated}"}) -> tensor<2xf32> {
            %0 = stablehlo.custom_call @nothing(%a) : (tensor<2xf32>) -> tensor<2xf32>
            return %0 : tensor<2xf32>
          }
        }"""
        with self.assertRaisesRegex(braid.jax.UnsupportedError, "the call of `nothing` has no translation"):
            braid.jax.from_stablehlo(module)


if __name__ == "__main__":
    unittest.main()
