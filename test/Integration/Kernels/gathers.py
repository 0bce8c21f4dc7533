# REQUIRES: jax
# RUN: %jax_python %s %t %cxx
"""Kernels of reductions whose bodies read other elements, as those of embeddings and cross entropy do, run on the host,
against JAX: along rows, along columns, and of all elements."""
import sys

import jax
import jax.numpy as jnp
import jax_kernels
import numpy as np

import braid.jax

SAMPLES, TOKENS, WIDTH, VOCABULARY = 3, 21, 40, 56


def norm(x, scale, bias):
    wide = x.astype(jnp.float32)
    mean = wide.mean(-1, keepdims=True)
    wide = (wide - mean) * jax.lax.rsqrt(jnp.square(wide - mean).mean(-1, keepdims=True) + 1e-5)
    return wide.astype(x.dtype) * scale + bias


def loss(weights, tokens):
    x = weights["embed"][tokens] + weights["positions"]
    logits = norm(x, weights["scale"], weights["bias"])[:, :-1] @ weights["head"]
    chosen = jnp.take_along_axis(jax.nn.log_softmax(logits.astype(jnp.float32)), tokens[:, 1:, None], -1)
    return -chosen.mean()


def check(element, directory, cxx):
    generator = np.random.default_rng(0)
    shapes = {"embed": (VOCABULARY, WIDTH), "positions": (TOKENS, WIDTH), "scale": (WIDTH,), "bias": (WIDTH,), "head": (WIDTH, VOCABULARY)}
    weights = {name: jnp.asarray(generator.standard_normal(shape), element) for name, shape in shapes.items()}
    tokens = jnp.asarray(generator.integers(0, VOCABULARY, (SAMPLES, TOKENS)), jnp.int32)
    step = jax.jit(jax.value_and_grad(loss))
    program = braid.jax.export(step, weights, tokens)
    unit = 2.0**-4 if element is jnp.bfloat16 else 2.0**-18
    jax_kernels.check(program, (weights, tokens), step(weights, tokens), unit, element.__name__, directory, cxx)


if __name__ == "__main__":
    for element in jnp.float32, jnp.bfloat16:
        check(element, *sys.argv[1:])
