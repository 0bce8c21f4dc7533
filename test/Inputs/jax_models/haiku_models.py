# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models of Haiku."""

import jax
import jax.numpy as jnp

from . import VOCABULARY, WIDTH, Task, cross_entropy, key, model, next_token, pictures, sequences, tokens, vectors

try:
    import haiku as hk
except ImportError:
    hk = None


def _task(function, batch, inputs, loss):
    module = hk.without_apply_rng(hk.transform(function))
    return Task(module.init(key(0), inputs), batch, lambda p, b: loss(module.apply, p, b))


@model("haiku")
def haiku_transformer():
    def decoder(given):
        x = hk.Embed(VOCABULARY, WIDTH)(given)
        mask = jnp.tril(jnp.ones((1, 1, given.shape[1], given.shape[1])))
        h = hk.LayerNorm(-1, True, True)(x)
        x += hk.MultiHeadAttention(4, 4, w_init=hk.initializers.VarianceScaling(1), model_size=WIDTH)(h, h, h, mask)
        x += hk.nets.MLP([32, WIDTH], activation=jax.nn.gelu)(hk.LayerNorm(-1, True, True)(x))
        return hk.Linear(VOCABULARY)(x)

    return _task(decoder, tokens(), tokens(), lambda f, p, b: next_token(f(p, b), b))


@model("haiku")
def haiku_lstm():
    def tagger(x):
        core = hk.LSTM(8)
        found, _ = hk.dynamic_unroll(core, x, core.initial_state(len(x)), time_major=False)
        return hk.Linear(4)(found[:, -1])

    batch = sequences()
    return _task(tagger, batch, batch["x"], lambda f, p, b: cross_entropy(f(p, b["x"]), b["y"]))


@model("haiku")
def haiku_resnet():
    def network(x):
        return hk.nets.ResNet((1, 1, 1, 1), 4, bottleneck=False, channels_per_group=(8, 8, 16, 16),
                              use_projection=(True, True, True, True), strides=(1, 2, 1, 1))(x, is_training=True)

    module, batch = hk.without_apply_rng(hk.transform_with_state(network)), pictures(16)
    parameters, state = module.init(key(0), batch["x"])
    return Task(parameters, batch, lambda p, b: cross_entropy(module.apply(p, state, b["x"])[0], b["y"]))


@model("haiku")
def haiku_vq():
    """Vector quantization: distances, argmin, straight-through gradients."""
    def network(x):
        h = hk.Linear(8)(x)
        codes = hk.get_parameter("codes", (8, 16), init=hk.initializers.RandomNormal())
        distance = (h ** 2).sum(1, keepdims=True) - 2 * h @ codes + (codes ** 2).sum(0, keepdims=True)
        chosen = codes.T[jnp.argmin(distance, 1)]
        passed = h + jax.lax.stop_gradient(chosen - h)
        return hk.Linear(WIDTH)(passed), ((chosen - h) ** 2).mean()

    def loss(function, parameters, b):
        found, commitment = function(parameters, b["x"])
        return ((found - b["x"]) ** 2).mean() + commitment

    batch = vectors()
    return _task(network, batch, batch["x"], loss)
