# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Recurrent layers of Flax Linen."""

import jax
from flax import linen as nn

from . import Task, model, normal


class Recurrent(nn.Module):
    """A bidirectional LSTM, and a GRU on what it gives."""

    width: int

    @nn.compact
    def __call__(self, x):
        x = nn.Bidirectional(nn.RNN(nn.OptimizedLSTMCell(self.width)), nn.RNN(nn.OptimizedLSTMCell(self.width)))(x)
        return nn.RNN(nn.GRUCell(self.width))(x)


@model("bidirectional LSTM and GRU, 128 steps", "Flax")
def recurrent(small):
    module = Recurrent(16 if small else 512)
    batch = {"x": normal(1, (2, 4, 16) if small else (64, 128, 512))}
    parameters = jax.jit(module.init)(jax.random.key(0), batch["x"])
    return Task(lambda parameters, batch: module.apply(parameters, batch["x"]), parameters, batch)
