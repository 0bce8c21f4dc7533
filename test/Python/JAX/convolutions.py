# REQUIRES: jax
# RUN: %jax_python %s
"""Convolutions and their gradients, which braid.jax brings to matmuls."""

import re
import unittest

import jax
import jax.numpy as jnp
import jax_testing as jt
import numpy as np
from jax import lax

NHWC = ("NHWC", "HWIO", "NHWC")


def convolve(x, w, numbers=NHWC, **options):
    options = {"window_strides": (1,) * (x.ndim - 2), "padding": "SAME", **options}
    return lax.conv_general_dilated(x, w, dimension_numbers=numbers, **options)


class ConvolutionTest(jt.JaxTestCase):
    def check(self, x, w, dtype=np.float32, are_matmuls=True, tolerance=0.0, **options):
        """The result and both gradients, of whole numbers, are JAX's. A matmul has one loop that sums."""
        x, w = (jnp.asarray(jt.integers(shape, seed=seed) / 2, dtype) for seed, shape in enumerate((x, w)))
        given = jt.integers(jax.eval_shape(lambda x, w: convolve(x, w, **options), x, w).shape, seed=2).astype(dtype)

        @jax.jit
        def both(x, w, given):
            result, pull = jax.vjp(lambda x, w: convolve(x, w, **options), x, w)
            return tuple(one.astype(jnp.float32) for one in (result, *pull(given)))

        text = self.check_equal(both, x, w, given, tolerance=tolerance).text
        loops = re.findall(r"iterator_types = \[(.*?)\]", text)
        self.assertEqual("linalg.conv" not in text and max(kinds.count("reduction") for kinds in loops) <= 1, are_matmuls)

    def test_strides(self):
        self.check((2, 9, 8, 3), (3, 3, 3, 5), window_strides=(2, 1))

    def test_points(self):
        self.check((2, 4, 4, 3), (1, 1, 3, 5), window_strides=(2, 2))

    def test_patches(self):
        self.check((2, 9, 12, 3), (4, 4, 3, 5), window_strides=(4, 4), padding="VALID")

    def test_patches_beside_strides(self):
        self.check((2, 8, 7, 3), (4, 3, 3, 5), window_strides=(4, 2), padding="VALID")

    def test_dilated_kernels(self):
        self.check((2, 10, 10, 3), (3, 3, 3, 5), rhs_dilation=(2, 3))

    def test_dilated_inputs(self):
        self.check((2, 5, 6, 3), (3, 2, 3, 5), lhs_dilation=(2, 3), padding=[(1, 2), (3, 0)])

    def test_negative_padding(self):
        self.check((2, 8, 8, 3), (3, 3, 3, 5), padding=[(-1, 2), (0, -2)])

    def test_layouts(self):
        self.check((3, 6, 7, 2), (3, 3, 3, 5), numbers=("CHWN", "IHWO", "HWNC"))

    def test_one_dimension(self):
        self.check((2, 8, 3), (4, 3, 5), numbers=("NWC", "WIO", "NWC"), padding=[(3, 0)])

    def test_16_bits(self):
        # XLA leaves out roundings.
        self.check((2, 6, 6, 3), (3, 3, 3, 5), dtype=jnp.bfloat16, tolerance=0.01)

    def test_groups_stay_convolutions(self):
        self.check((2, 6, 6, 4), (3, 3, 2, 6), feature_group_count=2, are_matmuls=False)

    def test_reversed_kernels(self):
        x, w = jt.integers((2, 5, 5, 3)), jt.integers((3, 3, 4, 3), seed=1)
        self.check_equal(jax.jit(lambda x, w: lax.conv_transpose(x, w, (2, 2), "SAME", transpose_kernel=True)), x, w)


if __name__ == "__main__":
    unittest.main()
