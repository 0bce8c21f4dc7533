# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models of graphs, by Jraph and e3nn."""

import jax
import jax.numpy as jnp
import numpy as np

from . import BATCH, Task, key, model

NODES, EDGES = 6, 12


def _graphs():
    random = np.random.default_rng(0)
    return {"nodes": random.standard_normal((BATCH, NODES, 8), np.float32),
            "senders": random.integers(0, NODES, (BATCH, EDGES)).astype(np.int32),
            "receivers": random.integers(0, NODES, (BATCH, EDGES)).astype(np.int32),
            "edges": random.standard_normal((BATCH, EDGES, 4), np.float32),
            "y": random.standard_normal((BATCH, 4), np.float32)}


def _weights(*shapes):
    return [jax.random.normal(k, shape) / shape[0] ** 0.5 for k, shape in
            zip(jax.random.split(key(0), len(shapes)), shapes)]


def _task(parameters, network):
    def loss(p, b):
        return jax.vmap(lambda one: ((network(p, one) - one["y"]) ** 2).mean())(b).mean()
    return Task(parameters, _graphs(), loss)


def _tuple(one, width=None):
    import jraph
    return jraph.GraphsTuple(one["nodes"], one["edges"], one["receivers"], one["senders"],
                             None if width is None else jnp.zeros((1, width)), jnp.array([NODES]), jnp.array([EDGES]))


@model("jraph")
def jraph_convolution():
    import jraph

    def network(p, one):
        first = jraph.GraphConvolution(lambda n: n @ p[0], add_self_edges=True)(_tuple(one))
        second = jraph.GraphConvolution(lambda n: jax.nn.relu(n) @ p[1])(first)
        return second.nodes.mean(0) @ p[2]

    return _task(_weights((8, 16), (16, 16), (16, 4)), network)


@model("jraph")
def jraph_interaction():
    import jraph

    def network(p, one):
        edges = lambda e, s, r, g: jax.nn.relu(jnp.concatenate([e, s, r], -1) @ p[0])
        nodes = lambda n, s, r, g: jax.nn.relu(jnp.concatenate([n, s, r], -1) @ p[1])
        globals_ = lambda n, e, g: jnp.concatenate([n, e], -1) @ p[2]
        return jraph.GraphNetwork(edges, nodes, globals_)(_tuple(one, 4)).globals[0]

    return _task(_weights((20, 16), (40, 16), (32, 4)), network)


@model("jraph")
def jraph_attention():
    import jraph

    def network(p, one):
        layer = jraph.GAT(lambda n: n @ p[0], lambda s, r, e: jax.nn.leaky_relu(jnp.concatenate([s, r], -1) @ p[1]))
        return jax.nn.elu(layer(_tuple(one)._replace(edges=None)).nodes).max(0) @ p[2]

    return _task(_weights((8, 16), (32, 16), (16, 4)), network)


@model("e3nn_jax")
def e3nn_convolution():
    import e3nn_jax as e3nn

    def network(p, one):
        nodes, place = one["nodes"], one["nodes"][:, :3]
        difference = e3nn.IrrepsArray("1o", place[one["senders"]] - place[one["receivers"]])
        sphere = e3nn.spherical_harmonics([0, 1, 2], difference, True)
        message = e3nn.tensor_product(e3nn.IrrepsArray("8x0e", nodes[one["senders"]]), sphere)
        radial = jax.nn.silu(e3nn.bessel(jnp.linalg.norm(difference.array, axis=-1) + 0.1, 8, 4.0) @ p[0]) @ p[1]
        found = jax.ops.segment_sum(message.array * radial[:, :1], one["receivers"], NODES)
        scalars = e3nn.norm(e3nn.IrrepsArray(message.irreps, found)).array
        return jax.nn.silu(scalars @ p[2]).mean(0) @ p[3]

    return _task(_weights((8, 16), (16, 4), (24, 16), (16, 4)), network)
