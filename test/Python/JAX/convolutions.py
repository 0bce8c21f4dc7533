# REQUIRES: jax
# RUN: %jax_python %s
"""Convolutions and their gradients, which braid.jax brings to `library.convolution`."""

import subprocess
import unittest

import braid.jax
import braid.mlir
import jax
import jax.numpy as jnp
import jax_testing as jt
import numpy as np
from jax import lax

NUMBERS = {3: ("NWC", "WIO", "NWC"), 4: ("NHWC", "HWIO", "NHWC"), 5: ("NDHWC", "DHWIO", "NDHWC")}
FEATURES_FIRST = ("NCHW", "OIHW", "NCHW")
ARRANGE = "builtin.module(func.func(braid-decompose-convolutions{target=cuda}))"


def convolve(x, w, numbers=None, **options):
    options = {"window_strides": (1,) * (x.ndim - 2), "padding": "SAME", **options}
    return lax.conv_general_dilated(x, w, dimension_numbers=numbers or NUMBERS[x.ndim], **options)


def arrange(text):
    """The program as a GPU gets it: with the kinds, groups and dimensions that cuDNN has."""
    return subprocess.run(["braid-opt", f"--pass-pipeline={ARRANGE}"], input=text, capture_output=True, text=True,
                          check=True).stdout


class ConvolutionTest(jt.JaxTestCase):
    def check(self, *cases, dtype=np.float32, remaining=None, tolerance=0.0):
        """The results and both gradients, of whole numbers, are JAX's, also as a GPU gets them. cases: the shapes of input and
        kernel, and options; remaining: how many ops remain for cuDNN, by default all; others are matmuls."""
        options = [case[2] for case in cases]
        arguments = []
        for x, w, words in cases:
            x, w = (jnp.asarray(jt.integers(shape, seed=seed) / 2, dtype) for seed, shape in enumerate((x, w)))
            result = jax.eval_shape(lambda x, w, words=words: convolve(x, w, **words), x, w)
            arguments += [x, w, jnp.asarray(jt.integers(result.shape, seed=2), result.dtype)]

        @jax.jit
        def compute(*values):
            results = []
            for words, x, w, given in zip(options, values[::3], values[1::3], values[2::3]):
                result, pull = jax.vjp(lambda x, w, words=words: convolve(x, w, **words), x, w)
                results += [result, *pull(given)]
            return [result.astype(jnp.float32) for result in results]

        program = self.check_equal(compute, *arguments, tolerance=tolerance)
        self.assertEqual(program.text.count("library.convolution"), 3 * len(cases))
        arranged = arrange(program.text)
        self.assertEqual(arranged.count("library.convolution"), 3 * len(cases) if remaining is None else remaining)
        found = braid.mlir.Program(arranged).compile().run([[np.asarray(one) for one in arguments]])
        for one, other in zip(found[0], compute(*arguments)):
            np.testing.assert_allclose(one, other, rtol=0, atol=tolerance * np.abs(np.asarray(other)).max())

    def test_strides_and_dilations(self):
        x, w = (2, 9, 8, 3), (3, 3, 3, 5)
        self.check((x, w, {"window_strides": (2, 1)}),
                   (x, w, {"rhs_dilation": (2, 3)}),
                   ((2, 11, 10, 3), w, {"rhs_dilation": (2, 3), "window_strides": (3, 2)}),
                   ((2, 4, 4, 3), (1, 1, 3, 5), {"window_strides": (2, 2)}))

    def test_padding(self):
        w = (3, 3, 3, 5)
        self.check(((2, 8, 8, 3), w, {"padding": [(-1, 2), (0, -2)]}),
                   ((2, 4, 5, 3), w, {"padding": [(4, 1), (0, 5)], "window_strides": (1, 2)}),
                   ((2, 9, 12, 3), (4, 4, 3, 5), {"window_strides": (4, 4), "padding": "VALID"}))

    def test_arrays_without_elements(self):
        @jax.jit
        def compute(images, filters):
            pairs = ((images, filters), (images[:0], filters), (images[..., :0], filters[:, :, :0]), (images, filters[..., :0]))
            return [jax.vjp(convolve, *pair)[1](convolve(*pair)) + (convolve(*pair),) for pair in pairs]

        for dtype in (np.float32, np.int32, np.complex64):
            arguments = jt.integers((2, 4, 4, 3), dtype), jt.integers((3, 3, 3, 5), dtype, seed=1)
            with self.subTest(dtype=dtype):
                self.check_equal(compute if dtype != np.int32 else jax.jit(
                    lambda x, w: (convolve(x[..., :0], w[:, :, :0]), convolve(x[:0], w))), *arguments)

    def test_one_place(self):
        # The window does not reach the end of what it is moved along.
        w, strides = (3, 3, 3, 5), {"window_strides": (2, 2)}
        self.check(((2, 2, 2, 3), w, strides | {"padding": [(1, 1), (1, 1)]}),
                   ((2, 4, 6, 3), w, strides | {"padding": "VALID"}),
                   ((2, 4, 6, 3), w, {"window_strides": (3, 3), "padding": "VALID", "rhs_dilation": (1, 2)}),
                   ((2, 2, 4, 4), (3, 3, 2, 6), strides | {"padding": [(1, 1), (0, 0)], "feature_group_count": 2}))
        # Gradients by the input that are no gradients of cuDNN.
        self.check(((2, 5, 4, 3), w, strides | {"padding": [(-1, 0), (0, 0)]}),
                   ((2, 2, 2, 3), w, {"window_strides": (5, 2), "padding": [(1, 4), (3, -1)]}), remaining=4)

    def test_matmuls_in_place(self):
        # Points, patches of few features, and patches beside strides, which are copied.
        self.check(((2, 4, 4, 3), (1, 1, 3, 5), {}),
                   ((2, 8, 12, 3), (4, 4, 3, 5), {"window_strides": (4, 4), "padding": "VALID"}),
                   ((2, 8, 7, 3), (4, 3, 3, 5), {"window_strides": (4, 2), "padding": "VALID"}), remaining=3)

    def test_patches_in_each_order(self):
        # The gradient by the input is a matmul, whose patches a transpose puts next to each other.
        words = {"window_strides": (2, 3), "padding": "VALID"}
        for numbers in (FEATURES_FIRST, ("NHWC", "OIHW", "NHWC"), ("NCHW", "HWIO", "NHWC"), ("HWNC", "HIWO", "NHCW"), ("CHWN", "IOHW", "NCHW")):
            sizes = ({"N": 2, "H": 4, "W": 9, "C": 3}, {"H": 2, "W": 3, "I": 3, "O": 5})
            x, w = (tuple(size[letter] for letter in order) for size, order in zip(sizes, numbers))
            self.check((x, w, words | {"numbers": numbers}), remaining=0)
        self.check(((2, 6, 3), (3, 3, 5), {"window_strides": (3,), "padding": "VALID"}),
                   ((2, 3, 3), (3, 3, 5), {"window_strides": (3,), "padding": "VALID"}),
                   ((1, 4, 6, 1), (2, 2, 1, 1), {"window_strides": (2, 2), "padding": "VALID"}),
                   ((2, 4, 2, 6, 3), (2, 1, 3, 3, 4), {"window_strides": (2, 1, 3), "padding": "VALID"}), remaining=0)

    def test_dilated_inputs(self):
        # The gradient by the kernel of a transposed convolution is no convolution of cuDNN.
        self.check(((2, 5, 6, 3), (3, 2, 3, 5), {"lhs_dilation": (2, 3), "padding": [(1, 2), (3, 0)]}), remaining=2)
        # Few taps find no element at some places; what is in front of the first place is cut off.
        self.check(((2, 5, 6, 4), (3, 1, 2, 6), {"lhs_dilation": (2, 3), "padding": [(-3, 2), (3, 1)], "feature_group_count": 2}),
                   ((2, 5, 3), (3, 3, 4), {"lhs_dilation": (4,), "padding": [(1, 7)]}), remaining=3)

    def test_layouts(self):
        self.check(((3, 6, 7, 2), (3, 3, 3, 5), {"numbers": ("CHWN", "IHWO", "HWNC")}),
                   ((2, 3, 6, 7), (5, 3, 3, 3), {"numbers": FEATURES_FIRST, "window_strides": (2, 2)}),
                   ((2, 8, 3), (4, 3, 5), {"padding": [(3, 0)]}),
                   ((1, 4, 5, 3, 2), (2, 3, 2, 2, 3), {"window_strides": (1, 2, 1)}))

    def test_16_bits(self):
        # XLA leaves out roundings.
        for dtype in (jnp.bfloat16, jnp.float16):
            self.check(((2, 6, 6, 3), (3, 3, 3, 5), {}), dtype=dtype, tolerance=0.01)

    def test_groups(self):
        self.check(((2, 6, 7, 4), (3, 3, 2, 6), {"feature_group_count": 2, "window_strides": (1, 2)}),
                   ((2, 6, 6, 4), (3, 3, 1, 4), {"feature_group_count": 4}),
                   ((2, 4, 6, 6), (8, 1, 3, 3), {"feature_group_count": 4, "numbers": FEATURES_FIRST}),
                   ((4, 6, 6, 3), (3, 3, 3, 4), {"batch_group_count": 2}))

    def test_reversed_kernels(self):
        x, w = jt.integers((2, 5, 5, 3)), jt.integers((3, 3, 4, 3), seed=1)
        for transposes in (True, False):
            shape = (3, 3, 4, 3) if transposes else (3, 3, 3, 4)
            program = self.check_equal(
                jax.jit(lambda x, w: lax.conv_transpose(x, w, (2, 2), "SAME", transpose_kernel=transposes)), x, w.reshape(shape))
            self.assertEqual(arrange(program.text).count("reversed = array<i1: true, true>"), 1)

    def test_wider_results(self):
        # cuDNN rounds results to the type of the operands.
        x, w = (jt.integers(shape).astype(jnp.bfloat16) for shape in ((2, 5, 5, 3), (3, 3, 3, 4)))
        program = self.check_equal(jax.jit(lambda x, w: convolve(x, w, preferred_element_type=jnp.float32)), x, w)
        self.assertEqual(program.text.count("library.convolution"), 1)
        self.assertNotIn("library.convolution", arrange(program.text))

    def test_precision(self):
        x, w = jt.integers((2, 5, 5, 3)), jt.integers((3, 3, 3, 4), seed=1)
        for precision, count in ((None, 1), ("high", 0), ("highest", 0)):
            text = braid.jax.export(jax.jit(lambda x, w: convolve(x, w, precision=precision)), x, w).text
            self.assertEqual(text.count('braid.precision = "tf32"'), count)

    def test_whole_numbers_stay_linalg(self):
        x, w = jt.integers((2, 5, 5, 3), np.int32), jt.integers((3, 3, 3, 4), np.int32, seed=1)
        program = self.check_equal(jax.jit(convolve), x, w)
        self.assertNotIn("library.convolution", program.text)
        # The window does not reach the end of what it is moved along.
        self.check_equal(jax.jit(lambda x, w: [
            convolve(x, w, window_strides=(1, 2), padding=((1, 1), (0, 1)), lhs_dilation=(1, 2), rhs_dilation=(1, 4)),
            convolve(x[:, :2, :2], w, window_strides=(2, 2), padding=((1, 1), (1, 1)))]), x, w)


if __name__ == "__main__":
    unittest.main()
