# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A training step under `jax.jit` with shardings and under `jax.shard_map`, in four ways to spread it."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

RATE, DECAY, CLIP, BETAS, EPSILON = 1e-2, 1e-2, 1.0, (0.9, 0.99), 1e-3
STYLES = ("jit", "shard_map")
# The axes of the mesh, "data" and "model", that split parameters.
WAYS = {"DP": (), "FSDP": ("data",), "TP": ("model",), "FSDP+TP": ("data", "model")}
RANKS = (2, 4, 8)


def mesh_shape(way, ranks):
    """The sizes of the axes "data" and "model". None where these ranks are too few for both axes that a way splits."""
    if way == "TP":
        return (1, ranks) if ranks < 4 else (2, ranks // 2)
    if way == "FSDP+TP":
        return (ranks // 2, 2) if ranks >= 4 else None
    return ranks, 1


def ways_on(style, ranks):
    """The ways that fit this number of ranks. XLA has no sums over a manual axis of one rank beside one that is not
    manual."""
    return [way for way in WAYS if mesh_shape(way, ranks) and (style, way, ranks) != ("shard_map", "TP", 2)]


def make_mesh(way, ranks):
    return Mesh(np.array(jax.devices()[:ranks]).reshape(mesh_shape(way, ranks)), ("data", "model"))


def specs(parameters, way, mesh):
    """How each parameter is split: "model" along the larger one of its last two dimensions, "data" along the largest
    one that is left, where these can be split."""
    axes, sizes = WAYS[way], mesh.shape

    def spec(array):
        chosen = [None] * array.ndim
        for axis in reversed(axes):
            last = range(max(array.ndim - 2, 0), array.ndim) if axis == "model" else range(array.ndim)
            fits = [d for d in last if chosen[d] is None and array.shape[d] >= 2 * sizes[axis]
                    and array.shape[d] % sizes[axis] == 0]
            if fits and (array.ndim > 1 or axis == "data"):
                chosen[max(fits, key=lambda d: array.shape[d])] = axis
        return P(*chosen)

    return jax.tree.map(spec, parameters)


def _is_spec(value):
    return isinstance(value, P)


def _named(mesh, tree):
    return jax.tree.map(lambda spec: NamedSharding(mesh, spec), tree, is_leaf=_is_spec)


def _adamw(parameters, first, second, gradients, norm):
    """The step of AdamW with gradients that are clipped to a global norm."""
    scale = jnp.minimum(1.0, CLIP / (norm + 1e-6))
    gradients = jax.tree.map(lambda g: g * scale, gradients)
    first = jax.tree.map(lambda m, g: BETAS[0] * m + (1 - BETAS[0]) * g, first, gradients)
    second = jax.tree.map(lambda v, g: BETAS[1] * v + (1 - BETAS[1]) * g * g, second, gradients)
    parameters = jax.tree.map(
        lambda p, m, v: p - RATE * (m / (1 - BETAS[0]) / (jnp.sqrt(v / (1 - BETAS[1])) + EPSILON) + DECAY * p),
        parameters, first, second)
    return parameters, first, second


def _squares(gradients):
    return sum(jnp.sum(jnp.square(g.astype(jnp.float32))) for g in jax.tree.leaves(gradients))


def plain_step(task):
    """The step on one device."""
    def step(parameters, first, second, batch):
        loss, gradients = jax.value_and_grad(task.loss)(parameters, batch)
        return loss, *_adamw(parameters, first, second, gradients, jnp.sqrt(_squares(gradients)))
    return step


def jit_step(task, way, ranks):
    """The step of one device, with shardings."""
    mesh = make_mesh(way, ranks)
    state = _named(mesh, specs(task.parameters, way, mesh))
    batch = jax.tree.map(lambda _: NamedSharding(mesh, P("data")), task.batch)
    return jax.jit(plain_step(task), in_shardings=(state, state, state, batch),
                   out_shardings=(NamedSharding(mesh, P()), state, state, state), donate_argnums=(0, 1, 2))


def shard_map_step(task, way, ranks):
    """The step with collectives: parameters are gathered where they are used, and gradients scattered. With "model"
    alone, "data" has the collectives, and "model" is left to the partitioner."""
    mesh = make_mesh(way, ranks)
    state = specs(task.parameters, way, mesh)
    names = ("data",) if way == "TP" else ("data", "model")
    count = int(np.prod([mesh.shape[name] for name in names]))
    manual = jax.tree.map(lambda s: P(*(a if a in names else None for a in s)), state, is_leaf=_is_spec)
    flat = jax.tree.leaves(manual, is_leaf=_is_spec)

    def gather(parameters):
        leaves, tree = jax.tree.flatten(parameters)
        for number, spec in enumerate(flat):
            for dimension, axis in enumerate(spec):
                if axis:
                    leaves[number] = jax.lax.all_gather(leaves[number], axis, axis=dimension, tiled=True)
        return jax.tree.unflatten(tree, leaves)

    def step(parameters, first, second, batch):
        loss, gradients = jax.value_and_grad(lambda p, b: task.loss(gather(p), b))(parameters, batch)
        leaves, tree = jax.tree.flatten(gradients)
        squares = jnp.float32(0)
        for number, spec in enumerate(flat):
            missing = tuple(name for name in names if name not in spec)
            split = tuple(name for name in names if name in spec)
            leaves[number] = (jax.lax.psum(leaves[number], missing) if missing else leaves[number]) / count
            part = _squares(leaves[number])
            squares += jax.lax.psum(part, split) if split else part
        updated = _adamw(parameters, first, second, jax.tree.unflatten(tree, leaves), jnp.sqrt(squares))
        return jax.lax.pmean(loss, names), *updated

    batch = jax.tree.map(lambda _: P(names), task.batch)
    mapped = jax.shard_map(step, mesh=mesh, in_specs=(manual, manual, manual, batch),
                           out_specs=(P(), manual, manual, manual), check_vma=False, axis_names=set(names))
    if way != "TP":
        return jax.jit(mapped)
    state = _named(mesh, state)
    batch = jax.tree.map(lambda _: NamedSharding(mesh, P("data")), task.batch)
    return jax.jit(mapped, in_shardings=(state, state, state, batch),
                   out_shardings=(NamedSharding(mesh, P()), state, state, state))


def arguments(task):
    zeros = jax.tree.map(jnp.zeros_like, task.parameters)
    return task.parameters, zeros, zeros, task.batch
