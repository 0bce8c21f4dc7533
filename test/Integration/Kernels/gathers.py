# REQUIRES: jax
# RUN: %jax_python %s %t %cxx
"""Kernels of reductions whose bodies read other elements, as those of embeddings and cross entropy do, run on the host,
against JAX: along rows, along columns, and of all elements."""
import os
import sys

import braid_testing as bt
import jax
import jax.numpy as jnp
import kernel_emulator
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
    emulator = kernel_emulator.Emulator(program.text, os.path.join(directory, element.__name__), cxx)
    flat = jax.tree.leaves((weights, tokens))
    storage = [bt.ELEMENT_TYPES[buffer["type"]].storage for buffer in emulator.buffers.values() if buffer["direction"] == "in"]
    found = emulator.run([np.asarray(value).view(kind) for value, kind in zip(flat, storage)])
    expected = [np.asarray(value) for value in jax.tree.leaves(step(weights, tokens))]
    unit = 2.0**-4 if element is jnp.bfloat16 else 2.0**-18
    for number, (one, other) in enumerate(zip(found, expected, strict=True)):
        one, other = one.view(other.dtype).astype(np.float64).reshape(other.shape), other.astype(np.float64)
        apart = np.abs(one - other).max() / np.abs(other).max()
        if not apart <= unit:
            sys.exit(f"result {number} of {element.__name__}: {apart} apart, expected {unit} at most")


if __name__ == "__main__":
    for element in jnp.float32, jnp.bfloat16:
        check(element, *sys.argv[1:])
