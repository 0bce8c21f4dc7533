# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models of Flax's nnx."""

import jax
import jax.numpy as jnp

from . import VOCABULARY, WIDTH, Task, cross_entropy, model, next_token, pictures, tokens, vectors

try:
    from flax import nnx
except ImportError:
    nnx = None


def _task(module, batch, loss):
    """`loss(module, batch)`; what are no parameters, as statistics and streams of keys, keeps its values."""
    definition, parameters, rest = nnx.split(module, nnx.Param, ...)
    return Task(parameters, batch, lambda p, b: loss(nnx.merge(definition, p, rest, copy=True), b))


@model("flax")
def nnx_llama():
    """RMS norms, rotary embeddings, grouped-query attention, SwiGLU."""
    heads, groups, size = 4, 2, 8

    def rotate(x):
        angles = jnp.arange(x.shape[1])[:, None] * 10000.0 ** (-jnp.arange(0, size, 2) / size)
        cos, sin = jnp.cos(angles)[None, :, None], jnp.sin(angles)[None, :, None]
        one, other = jnp.split(x, 2, -1)
        return jnp.concatenate([one * cos - other * sin, other * cos + one * sin], -1)

    class Layer(nnx.Module):
        def __init__(self, rngs):
            linear = lambda a, b: nnx.Linear(a, b, use_bias=False, rngs=rngs)
            self.norms = nnx.List([nnx.RMSNorm(WIDTH, rngs=rngs) for _ in range(2)])
            self.q, self.k, self.v = (linear(WIDTH, n * size) for n in (heads, groups, groups))
            self.o, self.gate, self.up = linear(heads * size, WIDTH), linear(WIDTH, 32), linear(WIDTH, 32)
            self.down = linear(32, WIDTH)

        def __call__(self, x):
            h = self.norms[0](x)
            q, k, v = (part.reshape(*x.shape[:2], -1, size) for part in (self.q(h), self.k(h), self.v(h)))
            found = jax.nn.dot_product_attention(rotate(q), rotate(k), v, is_causal=True)
            x = x + self.o(found.reshape(*x.shape[:2], -1))
            h = self.norms[1](x)
            return x + self.down(nnx.silu(self.gate(h)) * self.up(h))

    class Llama(nnx.Module):
        def __init__(self, rngs):
            self.embed = nnx.Embed(VOCABULARY, WIDTH, rngs=rngs)
            self.layers = nnx.List([Layer(rngs) for _ in range(2)])
            self.norm = nnx.RMSNorm(WIDTH, rngs=rngs)
            self.head = nnx.Linear(WIDTH, VOCABULARY, use_bias=False, rngs=rngs)

        def __call__(self, given):
            x = self.embed(given)
            for layer in self.layers:
                x = layer(x)
            return self.head(self.norm(x))

    return _task(Llama(nnx.Rngs(0)), tokens(), lambda m, b: next_token(m(b), b))


@model("flax")
def nnx_cnn():
    class CNN(nnx.Module):
        def __init__(self, rngs):
            self.first = nnx.Conv(3, 8, (3, 3), rngs=rngs)
            self.norm = nnx.BatchNorm(8, rngs=rngs)
            self.drop = nnx.Dropout(0.2, rngs=rngs)
            self.last = nnx.Linear(8 * 16, 4, rngs=rngs)

        def __call__(self, x):
            x = nnx.relu(self.norm(self.first(x)))
            x = nnx.max_pool(x, (2, 2), (2, 2))
            return self.last(self.drop(x.reshape(len(x), -1)))

    return _task(CNN(nnx.Rngs(0)), pictures(), lambda m, b: cross_entropy(m(b["x"]), b["y"]))


@model("flax")
def nnx_lora():
    class Adapted(nnx.Module):
        def __init__(self, rngs):
            self.first = nnx.LoRALinear(WIDTH, 32, lora_rank=4, rngs=rngs)
            self.last = nnx.LoRALinear(32, 4, lora_rank=4, rngs=rngs)

        def __call__(self, x):
            return self.last(nnx.tanh(self.first(x)))

    return _task(Adapted(nnx.Rngs(0)), vectors(), lambda m, b: ((m(b["x"]) - b["y"]) ** 2).mean())


@model("flax")
def nnx_attention():
    """`nnx.MultiHeadAttention` over vmapped and scanned layers."""
    class Layer(nnx.Module):
        def __init__(self, rngs):
            self.attention = nnx.MultiHeadAttention(4, WIDTH, decode=False, rngs=rngs)
            self.norm = nnx.LayerNorm(WIDTH, rngs=rngs)

        def __call__(self, x):
            return x + self.attention(self.norm(x))

    class Encoder(nnx.Module):
        def __init__(self, rngs):
            self.embed = nnx.Embed(VOCABULARY, WIDTH, rngs=rngs)
            self.layers = nnx.vmap(Layer, in_axes=0, out_axes=0)(rngs.fork(split=2))
            self.head = nnx.Linear(WIDTH, VOCABULARY, rngs=rngs)

        def __call__(self, given):
            step = nnx.scan(lambda x, layer: layer(x), in_axes=(nnx.Carry, 0), out_axes=nnx.Carry)
            return self.head(step(self.embed(given), self.layers))

    return _task(Encoder(nnx.Rngs(0)), tokens(), lambda m, b: cross_entropy(m(b), b[:, ::-1]))
