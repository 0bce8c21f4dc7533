# REQUIRES: jax
# RUN: %jax_python %s
"""Cases of JAX's own tests of pmap (`tests/pmap_test.py`) around the collectives themselves,
against JAX, on 2 and 8 ranks: trees, groups, gradients, constants, halos, loops."""

import unittest

import jax
import jax.numpy as jnp
import jax_testing as jt
import numpy as np
from jax import lax

HALVES = {2: [[0], [1]], 8: [[0, 1, 2, 3], [4, 5, 6, 7]]}
STRIPES = {2: [[1], [0]], 8: [[0, 2, 4, 6], [1, 3, 5, 7]]}


def rotate(count, step=1):
    return [(i, (i + step) % count) for i in range(count)]


class PmapTest(jt.JaxTestCase):
    def check_on_all(self, fn, make, **options):
        """`fn` of the number of ranks gives the function. Groups of 8 ranks have several members."""
        for ranks in (2, 8):
            with self.subTest(ranks=ranks):
                mapped = jax.pmap(fn(ranks), "i", devices=jax.devices()[:ranks], **options)
                made = make(ranks)
                self.check_equal(mapped, *(made if isinstance(made, tuple) else (made,)))

    def test_trees(self):
        def make(n):
            return {"a": jt.integers((n, n)), "b": [jt.integers((n, n), np.int32, seed=1),
                                                    jt.integers((n, n), seed=2)]}
        for reduction in (lax.pmax, lax.pmin, lax.psum, lax.pmean):
            self.check_on_all(lambda n: lambda x: reduction(x, "i"), make)
        self.check_on_all(lambda n: lambda x: lax.all_to_all(x, "i", 0, 0), make)
        self.check_on_all(lambda n: lambda x: lax.ppermute(x, "i", rotate(lax.psum(1, "i"))), make)

    def test_complex_sum(self):
        self.check_on_all(lambda n: lambda x: x - lax.psum(x, "i"),
                          lambda n: jt.integers((n, 8)).view(np.complex64))

    def test_exchanges_along_all_dimensions(self):
        for split in range(2):
            for concat in range(2):
                self.check_on_all(lambda n: lambda x: lax.all_to_all(x, "i", split, concat),
                                  lambda n: jt.integers((n, n, n)))

    def test_swapped_axes_and_their_gradient(self):
        self.check_on_all(lambda n: lambda x: lax.pswapaxes(x, "i", 1),
                          lambda n: jt.integers((n, 3, n, 5)))
        self.check_on_all(
            lambda n: lambda x, w: jax.grad(lambda x: jnp.sum(lax.pswapaxes(x, "i", 1) * w))(x),
            lambda n: (jt.integers((n, 1, n)), jt.integers((n,), seed=1)))

    def test_reductions_of_groups(self):
        for groups in (HALVES, STRIPES):
            for reduction in (lax.psum, lax.pmean, lax.pmax, lax.pmin):
                self.check_on_all(
                    lambda n: lambda x: x - reduction(x, "i", axis_index_groups=groups[n]),
                    lambda n: jt.integers((n, 4)))

    def test_moves_of_groups(self):
        for groups in (HALVES, STRIPES):
            self.check_on_all(
                lambda n: lambda x: lax.all_gather(x, "i", axis_index_groups=groups[n]),
                lambda n: jt.integers((n, 4)))
            self.check_on_all(
                lambda n: lambda x: lax.all_to_all(x, "i", 0, 0, axis_index_groups=groups[n]),
                lambda n: jt.integers((n, n // 2)))
            for tiled in (True, False):
                self.check_on_all(
                    lambda n: lambda x: lax.psum_scatter(x, "i", axis_index_groups=groups[n],
                                                         tiled=tiled),
                    lambda n: jt.integers((n, n // 2, 3)))

    def test_gradient_of_an_exchange_of_groups(self):
        self.check_on_all(
            lambda n: lambda x, w: jax.grad(lambda x: jnp.sum(
                lax.all_to_all(x, "i", 0, 1, axis_index_groups=HALVES[n]) * w))(x),
            lambda n: (jt.integers((n, n // 2, 1)), jt.integers((n,), seed=1)))

    def test_gradients_of_permutes(self):
        for pairs in (rotate, lambda n: [(i, i + 1) for i in range(n - 1)]):
            self.check_on_all(
                lambda n: lambda x, y: jax.grad(
                    lambda x: jnp.sum(y * lax.ppermute(x, "i", pairs(n))))(x),
                lambda n: (jt.integers((n,)), jt.integers((n,), seed=1)))

    def test_permute_of_pairs_in_any_order(self):
        self.check_on_all(
            lambda n: lambda x: lax.ppermute(x, "i", zip([n - 1, *range(n - 1)], range(n))),
            lambda n: jt.integers((n,)))
        self.check_on_all(
            lambda n: lambda x: lax.pshuffle(x, "i", [(i - 1) % n for i in range(n)]),
            lambda n: jt.integers((n,)))

    def test_halos_of_rule_30(self):
        def make(n):
            board = np.zeros(40, bool)
            board[20] = True
            return board.reshape(n, -1)

        def steps(n):
            def step(board):
                right = lax.ppermute(board[:1], "i", [(b, a) for a, b in rotate(n)])
                left = lax.ppermute(board[-1:], "i", rotate(n))
                wide = jnp.concatenate([left, board, right])
                return wide[:-2] ^ (wide[1:-1] | wide[2:])
            return lambda board: lax.fori_loop(0, 20, lambda _, board: step(board), board)
        self.check_on_all(steps, make)

    def test_constants(self):
        self.check_on_all(lambda n: lambda x: (lax.psum(1, "i"), x, 3), lambda n: jt.integers((n,)))
        self.check_on_all(lambda n: lambda x: x - lax.psum(2.0, "i", axis_index_groups=HALVES[n]),
                          lambda n: jt.integers((n, 4)))

    def test_argument_that_all_ranks_have(self):
        self.check_on_all(lambda n: lambda x, y: x - lax.psum(y, "i"),
                          lambda n: (np.float32(3), jt.integers((n, 4))), in_axes=(None, 0))

    def test_index_in_a_scan(self):
        self.check_on_all(
            lambda n: lambda x: lax.scan(lambda carry, i: (carry + i + lax.axis_index("i"), None),
                                         0, x)[0], lambda n: jt.integers((n, 10), np.int32))

    def test_index_in_rematerialised_code(self):
        self.check_on_all(
            lambda n: jax.grad(jax.remat(
                lambda x: jnp.sum(jnp.sin(lax.psum(x * lax.axis_index("i"), "i"))))),
            lambda n: jt.integers((n, 3)) * 0)



if __name__ == "__main__":
    unittest.main()
