# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models of Equinox, and of Diffrax, which builds on it."""

import jax
import jax.numpy as jnp

from . import WIDTH, Task, cross_entropy, key, model, pictures, sequences, vectors

try:
    import equinox as eqx
except ImportError:
    eqx = None


def _task(module, batch, loss):
    """`loss(module, sample)`, of which the mean over the batch counts."""
    parameters, rest = eqx.partition(module, eqx.is_inexact_array)
    return Task(parameters, batch,
                lambda p, b: jax.vmap(lambda one: loss(eqx.combine(p, rest), one))(b).mean())


@model("equinox")
def equinox_mlp():
    return _task(eqx.nn.MLP(WIDTH, 4, 32, 2, activation=jax.nn.softplus, key=key(0)), vectors(),
                 lambda m, s: ((m(s["x"]) - s["y"]) ** 2).mean())


@model("equinox")
def equinox_vit():
    class ViT(eqx.Module):
        patch: eqx.nn.Conv2d
        attention: eqx.nn.MultiheadAttention
        norm: eqx.nn.LayerNorm
        token: jax.Array
        mlp: eqx.nn.MLP
        head: eqx.nn.Linear

        def __init__(self):
            keys = jax.random.split(key(0), 5)
            self.patch = eqx.nn.Conv2d(3, WIDTH, 2, 2, key=keys[0])
            self.attention = eqx.nn.MultiheadAttention(4, WIDTH, key=keys[1])
            self.norm = eqx.nn.LayerNorm(WIDTH)
            self.token = jax.random.normal(keys[2], (1, WIDTH))
            self.mlp = eqx.nn.MLP(WIDTH, WIDTH, 32, 1, jax.nn.gelu, key=keys[3])
            self.head = eqx.nn.Linear(WIDTH, 4, key=keys[4])

        def __call__(self, x):
            x = self.patch(jnp.moveaxis(x, -1, 0)).reshape(WIDTH, -1).T
            x = jnp.concatenate([self.token, x])
            h = jax.vmap(self.norm)(x)
            x = x + self.attention(h, h, h)
            return self.head((x + jax.vmap(self.mlp)(x))[0])

    return _task(ViT(), pictures(), lambda m, s: cross_entropy(m(s["x"]), s["y"]))


@model("equinox")
def equinox_gru():
    class RNN(eqx.Module):
        cell: eqx.nn.GRUCell
        head: eqx.nn.Linear

        def __call__(self, x):
            step = lambda state, one: (self.cell(one, state), None)
            return self.head(jax.lax.scan(step, jnp.zeros(self.cell.hidden_size), x)[0])

    return _task(RNN(eqx.nn.GRUCell(WIDTH, 8, key=key(0)), eqx.nn.Linear(8, 4, key=key(1))), sequences(),
                 lambda m, s: cross_entropy(m(s["x"]), s["y"]))


@model("equinox")
def equinox_decoder():
    """Transposed convolutions and overlapping max pools."""
    class Decoder(eqx.Module):
        first: eqx.nn.ConvTranspose2d
        last: eqx.nn.Conv2d
        pool: eqx.nn.MaxPool2d

        def __call__(self, x):
            x = jax.nn.leaky_relu(self.first(jnp.moveaxis(x, -1, 0)))
            return self.pool(self.last(x)).mean((1, 2))

    module = Decoder(eqx.nn.ConvTranspose2d(3, 8, 3, 2, key=key(0)), eqx.nn.Conv2d(8, 4, 3, key=key(1)),
                     eqx.nn.MaxPool2d(3, 2))
    return _task(module, pictures(), lambda m, s: cross_entropy(m(s["x"]), s["y"]))


@model("diffrax")
def diffrax_neural_ode():
    import diffrax

    field = eqx.nn.MLP(4, 4, 16, 1, jnp.tanh, key=key(0))

    def loss(module, sample):
        solution = diffrax.diffeqsolve(diffrax.ODETerm(lambda t, y, _: module(y)), diffrax.Heun(), 0.0, 1.0, 0.25,
                                       sample["y"], adjoint=diffrax.DirectAdjoint(), max_steps=16, throw=False,
                                       saveat=diffrax.SaveAt(ts=jnp.linspace(0.0, 1.0, 3)))
        return ((solution.ys[-1] - sample["x"][:4]) ** 2).mean()

    return _task(field, vectors(), loss)
