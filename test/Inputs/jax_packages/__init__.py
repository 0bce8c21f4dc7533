# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Training steps of models of other packages, by their own classes and in their own sizes.

A package is a repository with a pinned commit, or comes from the Python package index (`SOURCES`).
"""

import importlib
import os
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import NamedSharding, PartitionSpec

# Of each module: what to check out into the folder of the sources, or what to install.
SOURCES = {
    "bonsai": "https://github.com/jax-ml/bonsai 36284254cf738d99c1c5d1e3a292d27656a0a365",
    "big_vision": "https://github.com/google-research/big_vision 0127fb6b337ee2a27bf4e54dea79cff176527356",
    "alphafold": "https://github.com/google-deepmind/alphafold c77e5d2a8961d1a353632c462914ff0a32a950f6",
    "flax": "",
    "e3nn": "",
}
RATE, LARGEST_NORM = 0.01, 1.0
# The entries of a batch that have a sample for each row.
SAMPLES = ("image", "tokens", "frames", "x", "features", "vectors", "cache")


@dataclass(frozen=True)
class Task:
    """What a step trains: `function(parameters, batch)` gives the results. Everything that is not trained is part of
    the batch: pictures, tokens, statistics of norms, caches."""

    function: Any
    parameters: Any
    batch: Any


@dataclass(frozen=True)
class Model:
    """A model with the title of its package: `make(small)` gives its Task; `small` asks for sizes of tests."""

    title: str
    package: str
    make: Any


MODELS = {}


def model(title, package, models=MODELS):
    """Adds a function that makes a Task to the models, under the function's name."""
    def add(make):
        models[make.__name__] = Model(title, package, make)
        return make

    return add


def load(modules=tuple(SOURCES)):
    """Imports the modules of these packages, and gives all models by their names."""
    for module in modules:
        importlib.import_module(f"{__name__}.{module}")
    return MODELS


def find_missing(folder):
    """By module, what to run for the repositories that the folder of sources lacks."""
    places = {module: os.path.join(folder, module) for module, source in SOURCES.items() if source}
    return {module: "git clone {1} {0} && git -C {0} checkout {2}".format(place, *SOURCES[module].split())
            for module, place in places.items() if not os.path.isdir(place)}


def normal(seed, shape):
    return jax.random.normal(jax.random.key(seed), shape)


def tokens(seed, shape, vocabulary):
    """Tokens from 1: 0 pads."""
    return jax.random.randint(jax.random.key(seed), shape, 1, vocabulary)


def place(task, mesh, way, least):
    """The shardings of parameters and batch on `mesh`, which has one axis; None if the samples do not divide. Under "fsdp" a
    parameter of more than `least` bytes is split along its largest dimension that divides, as big_vision's rule says."""
    (axis,), ranks = mesh.axis_names, mesh.size
    samples = next((task.batch[name].shape[0] for name in SAMPLES if name in task.batch), 1)
    if samples % ranks != 0:
        return None

    def of_parameter(leaf):
        divided = [dim for dim in np.argsort(leaf.shape)[::-1] if leaf.shape[dim] % ranks == 0]
        if way != "fsdp" or not divided or leaf.size * leaf.dtype.itemsize <= least:
            return NamedSharding(mesh, PartitionSpec())
        return NamedSharding(mesh, PartitionSpec(*[axis if dim == divided[0] else None for dim in range(leaf.ndim)]))

    def of_entry(name, entry):
        is_split = lambda leaf: name in SAMPLES and leaf.shape[:1] == (samples,)
        return jax.tree.map(lambda leaf: NamedSharding(mesh, PartitionSpec(axis) if is_split(leaf) else PartitionSpec()), entry)

    return jax.tree.map(of_parameter, task.parameters), {name: of_entry(name, entry) for name, entry in task.batch.items()}


def make_step(task):
    """The step: it gives the loss, which is a weighted square of all results, and the parameters after SGD with
    gradients that are clipped by their norm."""
    def loss(parameters, batch):
        total = jnp.float32(0)
        for result in jax.tree.leaves(task.function(parameters, batch)):
            wide = result.astype(jnp.float32)
            total += jnp.mean(jnp.square(wide) * jnp.linspace(0.5, 1.5, wide.shape[-1]))
        return total

    def step(parameters, batch):
        value, gradients = jax.value_and_grad(loss)(parameters, batch)
        norm = jnp.sqrt(sum(jnp.sum(jnp.square(g)) for g in jax.tree.leaves(gradients)))
        scale = RATE * jnp.minimum(1, LARGEST_NORM / norm)
        return value, jax.tree.map(lambda p, g: p - scale.astype(p.dtype) * g, parameters, gradients)

    return jax.jit(step)
