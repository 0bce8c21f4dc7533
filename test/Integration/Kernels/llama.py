# REQUIRES: jax
# RUN: %jax_python %s %t %cxx
"""The kernels of a layer of a Llama and of its gradients, run on the host, against JAX: rotary embeddings,
grouped heads, softmax, norms, gates, and what fuses with them."""
import sys

import jax
import jax.numpy as jnp
import jax_kernels
import numpy as np

import braid.jax

TOKENS, WIDTH, HEADS, GROUPS, SIZE, INNER = 24, 64, 4, 2, 16, 96


def norm(x, scale):
    factor = jax.lax.rsqrt(jnp.mean(jnp.square(x.astype(jnp.float32)), -1, keepdims=True) + 1e-5)
    return x * factor.astype(x.dtype) * scale


def rotate(x):
    half = x.shape[-1] // 2
    angles = jnp.arange(x.shape[0], dtype=jnp.float32)[:, None] * (10000.0 ** (-jnp.arange(half, dtype=jnp.float32) / half))[None]
    cos, sin = (f(angles)[:, None].astype(x.dtype) for f in (jnp.cos, jnp.sin))
    a, b = x[..., :half], x[..., half:]
    return jnp.concatenate([a * cos - b * sin, a * sin + b * cos], -1)


def attend(q, k, v):
    k, v = (jnp.repeat(x, HEADS // GROUPS, 1) for x in (k, v))
    scores = jnp.einsum("qhd,khd->hqk", q, k, preferred_element_type=jnp.float32) * SIZE**-0.5
    scores = jnp.where(jnp.tril(jnp.ones((TOKENS, TOKENS), bool))[None], scores, -1e30)
    return jnp.einsum("hqk,khd->qhd", jax.nn.softmax(scores, -1).astype(q.dtype), v)


def loss(weights, x, y):
    h = norm(x, weights["scale1"])
    q, k, v = ((h @ weights[name]).reshape(TOKENS, -1, SIZE) for name in "qkv")
    x = x + attend(rotate(q), rotate(k), v).reshape(TOKENS, -1) @ weights["o"]
    h = norm(x, weights["scale2"])
    x = x + (jax.nn.silu(h @ weights["gate"]) * (h @ weights["up"])) @ weights["down"]
    return jnp.mean(jnp.square((x - y).astype(jnp.float32)))


def check(element, directory, cxx):
    shapes = {"scale1": (WIDTH,), "scale2": (WIDTH,), "q": (WIDTH, HEADS * SIZE), "k": (WIDTH, GROUPS * SIZE), "v": (WIDTH, GROUPS * SIZE),
              "o": (HEADS * SIZE, WIDTH), "gate": (WIDTH, INNER), "up": (WIDTH, INNER), "down": (INNER, WIDTH)}
    generator = np.random.default_rng(0)
    make = lambda shape: jnp.asarray(generator.standard_normal(shape) * (0.2 if len(shape) == 2 else 1), element)  # noqa: E731
    weights = {name: make(shape) for name, shape in shapes.items()}
    x, y = make((TOKENS, WIDTH)), make((TOKENS, WIDTH))
    step = jax.jit(jax.value_and_grad(loss))
    # Attention as one op has no kernel of ours.
    program = braid.jax.export(step, weights, x, y, attention="as written")
    # A sum of rounded terms differs by some of their last bits.
    unit = 2.0**-4 if element is jnp.bfloat16 else 2.0**-18
    jax_kernels.check(program, (weights, x, y), step(weights, x, y), unit, element.__name__, directory, cxx)


def main(directory, cxx):
    for element in (jnp.float32, jnp.bfloat16):
        check(element, directory, cxx)


main(*sys.argv[1:])
