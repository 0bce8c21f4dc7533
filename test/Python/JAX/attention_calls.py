# REQUIRES: jax
# RUN: %jax_python %s
"""Calls of cuDNN's attention, exported on a machine without a GPU."""

import unittest

import jax
import jax.numpy as jnp
import jax_testing as jt
import numpy as np
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

import braid.jax

SHAPES = ((2, 8, 4, 16), (2, 8, 2, 16), (2, 8, 2, 16))
LENGTHS = jax.ShapeDtypeStruct((2,), "int32")


def shapes(*given):
    return [jax.ShapeDtypeStruct(shape, "bfloat16") for shape in given]


def attend(implementation="cudnn", **options):
    return lambda *args: jax.nn.dot_product_attention(*args, implementation=implementation, **options)


def gradients(fn, count=3):
    return jax.value_and_grad(lambda *args: jnp.sum(fn(*args).astype(jnp.float32) ** 2), tuple(range(count)))


class CallsTest(jt.JaxTestCase):
    def check_op(self, fn, *args, causal=False, window=None, bias=False):
        """The attention of `fn`, and its gradient, are ops with these attributes. Gives the program."""
        program = braid.jax.export(jax.jit(fn), *args)
        found, = program.attentions
        self.assertEqual((found.origin, found.causal, found.window, found.bias), ("call", causal, window, bias))
        self.assertEqual(program.text.count("library.attention_backward "), int(found.gradient))
        self.assertNotIn("comm.reordered_sums", program.text)
        return program

    def test_masks(self):
        args = shapes(*SHAPES)
        program = self.check_op(attend(), *args)
        self.assertNotIn("attention_backward", program.text)
        self.check_op(gradients(attend(is_causal=True)), *args, causal=True)
        self.check_op(gradients(attend(is_causal=True, local_window_size=(3, 0))), *args, causal=True, window=4)
        self.check_op(gradients(attend(local_window_size=(3, 0))), *args, causal=True, window=4)
        program = self.check_op(gradients(attend(scale=0.3)), *args)
        self.assertEqual(program.text.count("scale = 3.000000e-01 : f32"), 2)
        program = self.check_op(attend(return_residual=True), *args)

    def test_bias(self):
        for shape in ((2, 4, 8, 8), (1, 4, 8, 8)):
            program = self.check_op(gradients(attend(), 4), *shapes(*SHAPES, shape), bias=True)
            size = "x".join(map(str, shape))
            self.assertRegex(program.text, rf"attention_backward .*tensor<2x8x2x16xbf16>, tensor<{size}xbf16>\n")
        mask = jax.ShapeDtypeStruct((2, 1, 8, 8), "bool")
        self.check_op(lambda q, k, v, mask: attend(mask=mask)(q, k, v), *shapes(*SHAPES), mask, bias=True)

    def test_lengths(self):
        def both(q, k, v, rows, columns):
            return gradients(attend(query_seq_lengths=rows, key_value_seq_lengths=columns))(q, k, v)

        def keys(q, k, v, columns):
            return gradients(attend(is_causal=True, key_value_seq_lengths=columns))(q, k, v)

        program = self.check_op(both, *shapes(*SHAPES), LENGTHS, LENGTHS, bias=True)
        self.assertIn("tensor<2x1x8x8xf32>)", program.text)
        program = self.check_op(keys, *shapes(*SHAPES), LENGTHS, causal=True, bias=True)
        self.assertIn("tensor<2x1x1x8xf32>)", program.text)

    def test_heads_first(self):
        from jax._src.cudnn.fused_attention_stablehlo import dot_product_attention

        args = shapes((2, 4, 8, 16), (2, 2, 8, 16), (2, 2, 8, 16))
        program = self.check_op(gradients(lambda q, k, v: dot_product_attention(q, k, v, qkv_layout="BNTH")), *args)
        self.assertEqual(program.text.count('layout = "bhsd"'), 2)
        self.assertNotIn("linalg.transpose", program.text)

    def test_dropout_is_refused_with_the_line(self):
        from jax._src.cudnn.fused_attention_stablehlo import dot_product_attention

        def dropped(q, k, v):
            return dot_product_attention(q, k, v, dropout_rate=0.1)  # this line

        line = dropped.__code__.co_firstlineno + 1
        with self.assertRaisesRegex(braid.jax.UnsupportedError, rf"attention_calls.py:{line}:\d+: .*with dropout has no"):
            braid.jax.export(jax.jit(dropped), *shapes(*SHAPES))

    def test_jit_with_shardings(self):
        mesh = jt.make_mesh((2,), ("b",))
        fn = jax.jit(gradients(attend()), in_shardings=NamedSharding(mesh, P("b")))
        with self.assertWarnsRegex(UserWarning, r"attention_calls.py:\d+:\d+: attention of cuDNN under jax.jit with shard"):
            program = braid.jax.export(fn, *shapes(*SHAPES))
        self.assertEqual((program.ranks, len(program.attentions)), (2, 1))
        self.assertRegex(program.text, r"library.attention ins\(.* : tensor<2x8x4x16xbf16>")

    def test_jax_is_as_before(self):
        braid.jax.export(jax.jit(attend()), *shapes(*SHAPES))
        with self.assertRaisesRegex(RuntimeError, "cuDNN"):
            jax.jit(attend(is_causal=True)).lower(*shapes(*SHAPES))

    def test_values(self):
        """Beside JAX's own attention, without cuDNN."""
        def values(implementation, args, bias, lengths):
            with_bias = attend(implementation, is_causal=True, local_window_size=(3, 0))
            with_lengths = lambda q, k, v: attend(implementation, key_value_seq_lengths=lengths)(q, k, v)
            return gradients(with_bias, 4)(*args, bias), with_lengths(*args)

        args = [jnp.asarray(jt.normals(shape, seed=seed), "bfloat16") for seed, shape in enumerate(SHAPES)]
        more = jnp.asarray(jt.normals((1, 4, 8, 8), seed=9), "bfloat16"), np.array([8, 3], np.int32)
        expected = jax.jit(values, static_argnums=0)("xla", args, *more)
        function = braid.jax.compile(jax.jit(lambda *given: values("cudnn", *given)), args, *more)
        for one, other in zip(jax.tree.leaves(function(args, *more)), jax.tree.leaves(expected), strict=True):
            one, other = (np.asarray(x, np.float64) for x in (one, other))
            np.testing.assert_allclose(one, other, rtol=0, atol=0.03 * np.abs(other).max())


if __name__ == "__main__":
    unittest.main()
