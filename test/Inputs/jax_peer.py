# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A script that measures JAX, of the form that test/Benchmark/jax_gpu.py reads: four small steps, and then times."""

import json
import os
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

tag = sys.argv[1]
world, DT = len(jax.devices()), jnp.bfloat16
mesh = Mesh(np.array(jax.devices()), ("r",))
n = int(os.environ["N"])


def rnd(seed, shape):
    data = jax.random.normal(jax.random.key(seed), (world, *shape), DT) * 0.01
    return jax.device_put(data, NamedSharding(mesh, P("r")))


def spmd(function):
    def body(*parts):
        return jax.tree.map(lambda part: part[None], function(*[part[0] for part in parts]))

    return jax.jit(jax.shard_map(body, mesh=mesh, in_specs=P("r"), out_specs=P("r")))


def seed(a):
    return jax.lax.psum(a, "r") @ (a @ a)


def fsdp(x, w):
    return jax.nn.relu(x @ jax.lax.all_gather(w, "r", tiled=True))


def ddp(dy, x, w):
    return jax.lax.psum(x.T @ dy, "r") * 0.5, dy @ w.T


def tp(x, y, up, down):
    return tuple(jax.lax.psum(jax.nn.relu(one @ up) @ down, "r") for one in (x, y))


def mk(name):
    square = (n, n)
    if name == "seed":
        return seed, [rnd(0, square)]
    if name == "fsdp":
        return fsdp, [rnd(0, square), rnd(1, (n // world, n))]
    if name == "ddp":
        return ddp, [rnd(i, square) for i in range(3)]
    return tp, [rnd(0, square), rnd(1, square), rnd(2, (n, 2 * n)), rnd(3, (2 * n, n))]


out = {name: {"step": 1000.0} for name in ("seed", "fsdp", "ddp", "tp")}
with open(os.path.join(os.environ["OUT"], f"jax_{tag}_{world}_n{n}.json"), "w", encoding="utf-8") as stream:
    json.dump(out, stream)
