# REQUIRES: jax
# RUN: %jax_python %s
"""Attention that a program has written out, and its gradient: which becomes one op, and which stays."""

import logging
import unittest
from functools import partial

import jax
import jax.numpy as jnp
import jax_testing as jt
import numpy as np
from flax import linen
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

import braid.jax
import braid.mlir

BATCH, LENGTH, HEADS, GROUPS, WIDTH = 2, 8, 4, 2, 16
SHAPE = (BATCH, LENGTH, HEADS, WIDTH)
GROUPED = (SHAPE, (BATCH, LENGTH, GROUPS, WIDTH), (BATCH, LENGTH, GROUPS, WIDTH))


def shapes(*given, dtype="float32"):
    return [jax.ShapeDtypeStruct(shape, dtype) for shape in given]


def gradients(fn, count=3):
    """The value and gradients of a function of the result."""
    return jax.value_and_grad(lambda *args: jnp.sum(fn(*args).astype(jnp.float32) ** 2), tuple(range(count)))


def causal(rows, columns):
    return jnp.tril(jnp.ones((rows, columns), bool))


def attend(q, k, v, softmax=jax.nn.softmax, mask=causal, number=-1e30, scale=0.25, bias=None, precisions=(None, None)):
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k, precision=precisions[0]).astype(jnp.float32) * scale
    if bias is not None:
        scores = scores + bias
    if mask is not None:
        scores = jnp.where(mask(*scores.shape[-2:]), scores, number)
    return jnp.einsum("bhqk,bkhd->bqhd", softmax(scores).astype(v.dtype), v, precision=precisions[1])


def written_softmax(scores):
    """With a gradient through the maximum, too."""
    exponentials = jnp.exp(scores - scores.max(-1, keepdims=True))
    return exponentials / exponentials.sum(-1, keepdims=True)


def additive(q, k, v):
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / np.sqrt(WIDTH)
    scores = scores + jnp.where(causal(*scores.shape[-2:]), 0, -1e9)[None, None]
    return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), v)


def prescaled(q, k, v):
    q, k, v = (x.transpose(0, 2, 1, 3) for x in (q * 0.25, k, v))
    scores = jnp.where(causal(q.shape[2], k.shape[2]), q @ k.swapaxes(-1, -2), -jnp.inf)
    return (jax.nn.softmax(scores) @ v).transpose(0, 2, 1, 3)


def grouped(q, k, v):
    b, t, h, d = q.shape
    q = q.reshape(b, t, k.shape[2], -1, d)
    scores = jnp.einsum("btkgd,bskd->bkgts", q, k) * 0.25
    scores = jnp.where(causal(t, k.shape[1]), scores, -1e30)
    return jnp.einsum("bkgts,bskd->btkgd", jax.nn.softmax(scores, -1), v).reshape(b, t, h, d)


def repeated(q, k, v):
    """A Llama's, without a batch."""
    k, v = (jnp.repeat(x, q.shape[1] // x.shape[1], 1) for x in (k, v))
    scores = jnp.einsum("qhd,khd->hqk", q, k, preferred_element_type=jnp.float32) * 0.25
    scores = jnp.where(causal(q.shape[0], q.shape[0])[None], scores, -1e30)
    return jnp.einsum("hqk,khd->qhd", jax.nn.softmax(scores, -1).astype(q.dtype), v)


def flax_bias(q, k, v):
    """A model's of transformers."""
    mask = linen.make_causal_mask(jnp.ones(q.shape[:2]))
    bias = jax.lax.select(mask > 0, jnp.full(mask.shape, 0.0), jnp.full(mask.shape, jnp.finfo(jnp.float32).min))
    return linen.dot_product_attention(q, k, v, bias=bias)


def of_library(**options):
    return lambda *args: jax.nn.dot_product_attention(*args, implementation="xla", **options)


SPELLINGS = {
    "einsum": (attend, (SHAPE,) * 3),
    "softmax by hand": (partial(attend, softmax=written_softmax), (SHAPE,) * 3),
    "mask that is added": (additive, (SHAPE,) * 3),
    "heads first, scaled before": (prescaled, (SHAPE,) * 3),
    "vmap": (jax.vmap(lambda q, k, v: attend(*(x[None] for x in (q, k, v)))[0]), (SHAPE,) * 3),
    "groups in the product": (grouped, GROUPED),
    "groups repeated, no batch": (repeated, [shape[1:] for shape in GROUPED]),
    "jax.nn": (of_library(is_causal=True), GROUPED),
    "flax, mask": (lambda q, k, v: linen.dot_product_attention(q, k, v, mask=linen.make_causal_mask(jnp.ones(q.shape[:2]))),
                   (SHAPE,) * 3),
    "flax, bias": (flax_bias, (SHAPE,) * 3),
    "other lengths and widths": (attend, (SHAPE, (BATCH, 12, HEADS, WIDTH), (BATCH, 12, HEADS, 24))),
    "recomputed": (jax.checkpoint(attend), (SHAPE,) * 3),
}


class AttentionTestCase(jt.JaxTestCase):
    def export(self, fn, *args, **options):
        return braid.jax.export(jax.jit(fn), *args, **options)

    def check_recognized(self, fn, *args, causal=True, window=None, bias=False, gradient=True):
        """All attention of `fn` is ops with these attributes, and no matmul is left. Gives the program."""
        program = self.export(fn, *args)
        self.assertTrue(program.attentions)
        for found in program.attentions:
            self.assertEqual((found.origin, found.causal, found.window, found.bias), ("recognized", causal, window, bias))
        self.assertEqual(any(found.gradient for found in program.attentions), gradient)
        self.assertEqual(program.text.count("library.attention_backward "), int(gradient))
        self.assertNotRegex(program.text, r"linalg\.(batch_)?matmul|math\.exp")
        return program

    def check_written(self, fn, *args):
        """The attention of `fn` stays as it is."""
        program = self.export(fn, *args)
        self.assertEqual(program.attentions, [])
        self.assertNotIn("library.attention", program.text)
        self.assertIn("math.exp", program.text)


class SpellingTest(AttentionTestCase):
    def test_spellings(self):
        for name, (fn, given) in SPELLINGS.items():
            with self.subTest(name):
                program = self.check_recognized(gradients(fn), *shapes(*given))
                self.assertIn('comm.reordered_sums = {divided = "as one attention"}', program.text)

    def test_types_and_layouts(self):
        bf16 = dict(dtype="bfloat16")
        program = self.check_recognized(gradients(of_library(is_causal=True)), *shapes(*GROUPED, **bf16))
        self.assertIn("tensor<2x8x4x16xbf16>, tensor<2x8x2x16xbf16>, tensor<2x8x2x16xbf16>) outs", program.text)
        self.assertIn("-> tensor<2x8x4x16xbf16>, tensor<2x4x8xf32>", program.text)
        program = self.check_recognized(gradients(repeated), *shapes(*(shape[1:] for shape in GROUPED), **bf16))
        self.assertIn("tensor<1x8x4x16xbf16>, tensor<1x8x2x16xbf16>, tensor<1x8x2x16xbf16>) outs", program.text)
        # The matmuls are of f32, and so is the op.
        wide = lambda q, k, v: attend(*(x.astype(jnp.float32) for x in (q, k, v))).astype(jnp.bfloat16)
        program = self.check_recognized(gradients(wide), *shapes(*[SHAPE] * 3, **bf16))
        self.assertRegex(program.text, r"library.attention ins\(%\w+, %\w+, %\w+ : tensor<2x8x4x16xf32>")
        first = lambda q, k, v: jax.nn.softmax(q @ k.swapaxes(-1, -2)) @ v
        program = self.check_recognized(gradients(first), *shapes(*[(2, 4, 8, 16)] * 3), causal=False)
        self.assertIn('layout = "bhsd"', program.text)
        self.assertNotIn("linalg.transpose", program.text)

    def test_some_gradients(self):
        for argnums in (0, 1, 2, (0, 2)):
            loss = jax.grad(lambda q, k, v: jnp.sum(attend(q, k, v) ** 2), argnums)
            self.check_recognized(loss, *shapes(*[SHAPE] * 3))
        self.check_recognized(jax.grad(lambda x: jnp.sum(attend(x, x, x) ** 2)), *shapes(SHAPE))

    def test_in_a_loop(self):
        def layers(q, k, v):
            return jax.lax.scan(lambda x, _: (jax.checkpoint(attend)(x, k, v), None), q, None, length=3)[0]

        program = self.export(gradients(layers), *shapes(*[SHAPE] * 3))
        self.assertEqual([found.gradient for found in program.attentions], [False, True])

    def test_jit_with_shardings(self):
        mesh = jt.make_mesh((2, 2), ("b", "h"))
        fn = jax.jit(gradients(of_library(is_causal=True)), in_shardings=NamedSharding(mesh, P("b", None, "h")))
        program = braid.jax.export(fn, *shapes(*GROUPED, dtype="bfloat16"))
        self.assertEqual([found.gradient for found in program.attentions], [True])
        self.assertIn("tensor<1x8x2x16xbf16>, tensor<1x8x1x16xbf16>, tensor<1x8x1x16xbf16>) outs", program.text)


class PrecisionTest(AttentionTestCase):
    def count_rounding(self, fn, *given, **options):
        """How many ops of attention may round their operands to TF32."""
        lines = self.check_recognized(fn, *given, **options).text.splitlines()
        return sum('braid.precision = "tf32"' in line for line in lines if "library.attention" in line)

    def test_the_more_precise_matmul_counts(self):
        for precisions, count in (((None, None), 2), (("default", "default"), 2), (("highest", "highest"), 0),
                                  (("highest", None), 0), ((None, "highest"), 0), ((None, "high"), 0)):
            with self.subTest(precisions):
                fn = partial(attend, precisions=precisions)
                self.assertEqual(self.count_rounding(gradients(fn), *shapes(*[SHAPE] * 3)), count)
        self.assertEqual(self.count_rounding(attend, *shapes(*[SHAPE] * 3), gradient=False), 1)
        with jax.default_matmul_precision("highest"):
            self.assertEqual(self.count_rounding(gradients(attend), *shapes(*[SHAPE] * 3)), 0)

    def test_matmuls_of_gradients(self):
        @jax.custom_vjp
        def product(p, v):
            return jnp.einsum("bhqk,bkhd->bqhd", p, v)

        def backward(inputs, d):
            p, v = inputs
            return (jnp.einsum("bqhd,bkhd->bhqk", d, v, precision="highest"), jnp.einsum("bhqk,bqhd->bkhd", p, d))

        product.defvjp(lambda p, v: (product(p, v), (p, v)), backward)
        fn = lambda q, k, v: product(jax.nn.softmax(jnp.einsum("bqhd,bkhd->bhqk", q, k)), v)
        self.assertEqual(self.count_rounding(gradients(fn), *shapes(*[SHAPE] * 3), causal=False), 0)

    def test_types(self):
        for dtype in ("bfloat16", "float64"):
            with jax.enable_x64(True):
                self.assertEqual(self.count_rounding(gradients(attend), *shapes(*[SHAPE] * 3, dtype=dtype)), 0)
        # Scores of bf16 have no digits that TF32 lacks.
        def scored_in_bf16(q, k, v):
            scores = jnp.einsum("bqhd,bkhd->bhqk", q, k, precision="highest", preferred_element_type=jnp.float32)
            return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), v)

        given = [*shapes(SHAPE, SHAPE, dtype="bfloat16"), *shapes(SHAPE)]
        self.assertEqual(self.count_rounding(scored_in_bf16, *given, causal=False, gradient=False), 1)


class MaskTest(AttentionTestCase):
    def test_masks_of_positions(self):
        i, j = (lambda n, m: jnp.arange(n)[:, None]), (lambda n, m: jnp.arange(m)[None])
        masks = {
            "tril": (causal, {}),
            "constant": (lambda n, m: np.tril(np.ones((n, m), bool)), {}),
            "arange": (lambda n, m: i(n, m) >= j(n, m), {}),
            "not greater": (lambda n, m: ~(j(n, m) > i(n, m)), {}),
            "float": (lambda n, m: jnp.tril(jnp.ones((n, m))), {}),
            "window": (lambda n, m: (i(n, m) >= j(n, m)) & (i(n, m) - j(n, m) < 3), dict(window=3)),
            "all": (lambda n, m: jnp.ones((n, m), bool), dict(causal=False)),
            # Every query has a key: what is no attribute is a bias.
            "two sides": (lambda n, m: (i(n, m) - j(n, m) < 3) & (j(n, m) - i(n, m) < 2), dict(causal=False, bias=True)),
            "upper": (lambda n, m: jnp.triu(jnp.ones((n, m), bool)), dict(causal=False, bias=True)),
            "one more": (lambda n, m: jnp.tril(jnp.ones((n, m), bool), 1), dict(causal=False, bias=True)),
        }
        for name, (mask, expected) in masks.items():
            with self.subTest(name):
                self.check_recognized(partial(attend, mask=mask), *shapes(*[SHAPE] * 3), gradient=False, **expected)
        self.check_recognized(gradients(partial(attend, mask=mask)), *shapes(*[SHAPE] * 3), **expected)
        for number in (-jnp.inf, np.finfo(np.float32).min, -1e9):
            self.check_recognized(partial(attend, number=number), *shapes(*[SHAPE] * 3), gradient=False)

    def test_windows_of_jax(self):
        for window, expected in (((2, 0), dict(window=3)), ((9, 0), {}), ((2, 1), dict(window=3))):
            fn = of_library(is_causal=True, local_window_size=window)
            self.check_recognized(fn, *shapes(*GROUPED, dtype="bfloat16"), gradient=False, **expected)

    def test_biases(self):
        args = shapes(*[SHAPE] * 3)
        for shape in ((1, HEADS, LENGTH, LENGTH), (BATCH, 1, 1, LENGTH)):
            with_bias = lambda q, k, v, bias: attend(q, k, v, bias=bias)
            fixed = lambda q, k, v, bias: with_bias(q, k, v, jax.lax.stop_gradient(bias))
            self.check_recognized(gradients(fixed), *args, *shapes(shape), bias=True)
            program = self.check_recognized(gradients(with_bias, 4), *args, *shapes(shape), bias=True)
            size = "x".join(map(str, shape))
            self.assertRegex(program.text, rf"attention_backward .*tensor<2x8x4x16xf32>, tensor<{size}xf32>\n")

    def test_masks_of_unknown_elements(self):
        mask = jax.ShapeDtypeStruct((BATCH, LENGTH), "bool")
        args = shapes(*[SHAPE] * 3)
        forward = lambda q, k, v, mask: attend(q, k, v, mask=lambda *_: mask[:, None, None])
        self.check_recognized(forward, *args, mask, causal=False, bias=True, gradient=False)
        # A query may be left without a key, for which what is written has another gradient.
        self.check_written(gradients(forward), *args, mask)
        # Its result would be NaN, the op's 0.
        self.check_written(lambda q, k, v, mask: attend(q, k, v, mask=lambda *_: mask[:, None, None], number=-jnp.inf),
                           *args, mask)
        # No position is infinite.
        for limit in (np.inf, -np.inf):
            mask_of = lambda n, m: jnp.subtract.outer(jnp.arange(n, dtype="float32"), jnp.arange(m)) < limit
            with self.subTest(limit), self.assertNoLogs("braid.jax", logging.WARNING):
                self.check_recognized(partial(attend, mask=mask_of), *args, causal=False, bias=True, gradient=False)
        padded = lambda q, k, v, mask: attend(q, k, v, mask=None, bias=(1 - mask[:, None, None]) * -1e9)
        self.check_recognized(padded, *args, *shapes((BATCH, LENGTH)), causal=False, bias=True, gradient=False)
        self.check_written(gradients(padded), *args, *shapes((BATCH, LENGTH)))


class WrittenTest(AttentionTestCase):
    """What is no attention, or more than it."""

    def test_forward(self):
        def with_probabilities(q, k, v):
            found = jax.nn.softmax(jnp.einsum("bqhd,bkhd->bhqk", q, k))
            return jnp.einsum("bhqk,bkhd->bqhd", found, v), found

        def with_dropout(scores):
            return jax.nn.softmax(scores) * jax.random.bernoulli(jax.random.key(0), 0.9, scores.shape) / 0.9

        for name, fn in {
                "other axis": partial(attend, softmax=lambda scores: jax.nn.softmax(scores, -2)),
                "probabilities": with_probabilities,
                "dropout": partial(attend, softmax=with_dropout),
                "soft cap": partial(attend, softmax=lambda scores: jax.nn.softmax(jnp.tanh(scores))),
                "small number": partial(attend, number=-1.0),
                "large number": partial(attend, number=1e9),
                "zero": partial(attend, number=0.0),
                "squares": partial(attend, softmax=lambda scores: jax.nn.softmax(scores) ** 2),
                "not the sum": partial(attend, softmax=lambda s: jnp.exp(s) / jnp.sum(jnp.exp(2 * s), -1, keepdims=True)),
                "no v": lambda q, k, v: jax.nn.softmax(jnp.einsum("bqhd,bkhd->bhqk", q, k)) + v[0, 0, 0, 0],
        }.items():
            with self.subTest(name):
                self.check_written(fn, *shapes(*[SHAPE] * 3))

    def test_gradients(self):
        @jax.custom_vjp
        def halved(scores):
            return jax.nn.softmax(scores)

        halved.defvjp(lambda s: (jax.nn.softmax(s), jax.nn.softmax(s)), lambda p, g: (p * g * 0.5,))

        def with_loss_of_probabilities(q, k, v):
            found = jax.nn.softmax(jnp.einsum("bqhd,bkhd->bhqk", q, k))
            return jnp.einsum("bhqk,bkhd->bqhd", found, v) + jnp.sum(found * jnp.log(found + 1e-6))

        saved = lambda q, k, v: jax.lax.scan(lambda x, _: (attend(x, k, v), None), q, None, length=3)[0]
        for name, fn in {"wrong": partial(attend, softmax=halved), "more terms": with_loss_of_probabilities,
                         "saved by a loop": saved}.items():
            with self.subTest(name):
                self.check_written(gradients(fn), *shapes(*[SHAPE] * 3))

    def test_option(self):
        args = shapes(*[SHAPE] * 3)
        program = self.export(gradients(attend), *args, attention="as written")
        self.assertEqual(program.attentions, [])
        self.assertNotIn("library.attention", program.text)
        # Its matmuls have an algorithm, and operands of two types.
        program = self.export(gradients(of_library(is_causal=True)), *shapes(*GROUPED, dtype="bfloat16"), attention="as written")
        self.assertIn("linalg.batch_matmul ", program.text)
        with self.assertRaisesRegex(braid.mlir.ArgumentError, "attention is 'fused', expected one of 'recognize', 'as "):
            self.export(attend, *args, attention="fused")

    def test_report(self):
        with self.assertLogs("braid.jax", logging.INFO) as logs:
            program = self.export(gradients(attend), *shapes(*[SHAPE] * 3))
        found, = program.attentions
        self.assertEqual(found.location.file, __file__)
        self.assertRegex(logs.output[0], r"attention.py:\d+:\d+: attention and its gradient, recognized \(causal\)")


class ValueTest(AttentionTestCase):
    def test_values(self):
        """All in one program, which compiles once."""
        cases = [(partial(attend, softmax=written_softmax), [SHAPE] * 3), (repeated, [shape[1:] for shape in GROUPED]),
                 (lambda q, k, v, bias: attend(q, k, v, mask=None, bias=bias), [SHAPE] * 3 + [(1, HEADS, LENGTH, LENGTH)])]
        args = [[jt.normals(shape, seed=7 * seed + place) for place, shape in enumerate(given)]
                for seed, (_, given) in enumerate(cases)]
        fns = [gradients(fn, len(given)) for fn, given in cases]
        # Every key of the first sequence is masked.
        mask = np.arange(LENGTH)[None] < np.array([[0], [5]])

        def everything(args, mask):
            found = [fn(*one) for fn, one in zip(fns, args)]
            return found + [attend(*args[0], mask=lambda *_: mask[:, None, None])]

        program = self.check_equal(jax.jit(everything), args, mask, tolerance=1e-5)
        self.assertEqual([found.gradient for found in program.attentions], [True] * 3 + [False])
        self.assertNotRegex(program.text, r"linalg\.(batch_)?matmul")


if __name__ == "__main__":
    unittest.main()
