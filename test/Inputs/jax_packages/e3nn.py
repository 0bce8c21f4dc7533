# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A layer of e3nn: linear maps of irreducible representations around a tensor product."""

import e3nn_jax as e3nn
import flax.linen as nn
import jax

from . import Task, model, normal


class Layer(nn.Module):
    """A tensor product of features of nodes with spherical harmonics of their vectors."""

    channels: int

    @nn.compact
    def __call__(self, features, vectors):
        count = self.channels
        x = e3nn.IrrepsArray(f"{count}x0e + {count}x1o", features)
        x = e3nn.flax.Linear(f"{count}x0e + {count}x1o")(x)
        x = e3nn.tensor_product(x, e3nn.spherical_harmonics("0e + 1o + 2e", vectors, normalize=True))
        return e3nn.flax.Linear(f"{count}x0e + {count}x1o + {count}x2e")(x).array


@model("tensor product, 4,096 nodes", "e3nn")
def tensor_product(small):
    module = Layer(4 if small else 64)
    nodes = 16 if small else 4096
    batch = {"features": normal(1, (nodes, 4 * module.channels)), "vectors": normal(2, (nodes, 3))}
    parameters = jax.jit(module.init)(jax.random.key(0), batch["features"], batch["vectors"])
    return Task(lambda parameters, batch: module.apply(parameters, batch["features"], batch["vectors"]), parameters, batch)
