# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a model of the corpus is, and data that several models train on."""

import importlib
import importlib.util
import os
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp

BATCH = 8
LENGTH = 8
VOCABULARY = 32
WIDTH = 16

MODULES = ("linen", "nnx", "equinox_models", "haiku_models", "graphs", "probability", "transformers_flax", "plain")


@dataclass(frozen=True)
class Task:
    """What a training step needs: parameters, a batch with the samples along dimension 0 of every array, and the mean
    loss over a batch as `loss(parameters, batch)`. `is_16_bit`: it computes in bf16, and `make`
    of the model takes another `dtype`."""

    parameters: Any
    batch: Any
    loss: Any
    is_16_bit: bool = False


@dataclass(frozen=True)
class Model:
    """A model of a package: `make()` gives its Task. `package` is the module that it needs."""

    package: str
    make: Any


MODELS = {}


def model(package):
    """Adds a function that makes a Task to the models, under the function's name."""
    def add(make):
        MODELS[make.__name__] = Model(package, make)
        return make
    return add


def load():
    """The models whose packages are installed, by their names."""
    # Errors of Equinox are callbacks into Python otherwise.
    os.environ.setdefault("EQX_ON_ERROR", "nan")
    for module in MODULES:
        importlib.import_module(f"jax_models.{module}")
    return {name: one for name, one in MODELS.items() if importlib.util.find_spec(one.package)}


def key(number):
    return jax.random.key(number)


def tokens():
    return jax.random.randint(key(1), (BATCH, LENGTH), 0, VOCABULARY)


def pictures(size=8, channels=3):
    return {"x": jax.random.normal(key(2), (BATCH, size, size, channels)),
            "y": jax.random.randint(key(3), (BATCH,), 0, 4)}


def vectors(width=WIDTH):
    return {"x": jax.random.normal(key(4), (BATCH, width)), "y": jax.random.normal(key(5), (BATCH, 4))}


def sequences(width=WIDTH):
    return {"x": jax.random.normal(key(6), (BATCH, LENGTH, width)), "y": jax.random.randint(key(7), (BATCH,), 0, 4)}


def cross_entropy(logits, labels):
    """The mean over all labels."""
    chosen = jnp.take_along_axis(jax.nn.log_softmax(logits.astype(jnp.float32)), labels[..., None], -1)
    return -chosen.mean()


def next_token(logits, given):
    return cross_entropy(logits[:, :-1], given[:, 1:])
