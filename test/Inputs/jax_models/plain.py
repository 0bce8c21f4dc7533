# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models of plain JAX: control flow, custom gradients, random numbers."""

import jax
import jax.numpy as jnp

from . import WIDTH, Task, cross_entropy, key, model, sequences, vectors


def _linear(number, *shape):
    return jax.random.normal(key(number), shape) / shape[0] ** 0.5


@model("jax")
def jax_deep_equilibrium():
    """A fixed point by `while_loop`, with its gradient by `custom_vjp`."""
    def iterate(f, x0):
        step = lambda state: (state[0] + 1, f(state[1]))
        return jax.lax.while_loop(lambda state: state[0] < 8, step, (0, x0))[1]

    @jax.custom_vjp
    def solve(w, x):
        return iterate(lambda z: jnp.tanh(z @ w + x), jnp.zeros_like(x))

    def forward(w, x):
        z = solve(w, x)
        return z, (w, x, z)

    def backward(saved, given):
        w, x, z = saved
        _, pull = jax.vjp(lambda w, x, z: jnp.tanh(z @ w + x), w, x, z)
        u = iterate(lambda u: given + pull(u)[2], given)
        return pull(u)[:2]

    solve.defvjp(forward, backward)
    return Task([_linear(0, WIDTH, WIDTH) / 4, _linear(1, WIDTH, 4)], vectors(),
                lambda p, b: ((solve(p[0], b["x"]) @ p[1] - b["y"]) ** 2).mean())


@model("jax")
def jax_ring_of_experts():
    """`lax.switch` over experts, drawn at random for each layer, under `scan`."""
    def layer(x, given):
        weights, number = given
        experts = [lambda x: jax.nn.relu(x @ weights), lambda x: jnp.sin(x @ weights.T), lambda x: x * 0.5]
        return jax.lax.switch(number, experts, x) + x, None

    def loss(p, b):
        numbers = jax.random.randint(key(3), (3,), 0, 3)
        x, _ = jax.lax.scan(layer, b["x"], (p["layers"], numbers))
        return ((x @ p["head"] - b["y"]) ** 2).mean()

    return Task({"layers": _linear(0, 3, WIDTH, WIDTH), "head": _linear(1, WIDTH, 4)}, vectors(), loss)


@model("jax")
def jax_mamba():
    """A selective state-space model: causal depthwise convolution, `scan` over time."""
    def loss(p, b):
        x, gate = jnp.split(b["x"] @ p["in"], 2, -1)
        x = jax.lax.conv_general_dilated(x, p["filter"], (1,), [(3, 0)], dimension_numbers=("NWC", "WIO", "NWC"),
                                         feature_group_count=WIDTH)
        x = jax.nn.silu(x)
        step = jax.nn.softplus(x @ p["step"])
        source, sink = x @ p["source"], x @ p["sink"]

        def advance(state, given):
            x, step, source, sink = given
            state = state * jnp.exp(-step[..., None] * jnp.exp(p["decay"])) + (step * x)[..., None] * source[:, None]
            return state, (state * sink[:, None]).sum(-1)

        start = jnp.zeros((len(x), WIDTH, 4))
        _, y = jax.lax.scan(advance, start, jax.tree.map(lambda a: jnp.swapaxes(a, 0, 1), (x, step, source, sink)))
        return cross_entropy((jnp.swapaxes(y, 0, 1) * jax.nn.silu(gate)).mean(1) @ p["out"], b["y"])

    return Task({"in": _linear(0, WIDTH, 2 * WIDTH), "filter": _linear(1, 4, 1, WIDTH), "step": _linear(2, WIDTH, WIDTH),
                 "source": _linear(3, WIDTH, 4), "sink": _linear(4, WIDTH, 4), "decay": jnp.zeros((WIDTH, 4)),
                 "out": _linear(5, WIDTH, 4)}, sequences(), loss)


@model("jax")
def jax_set_ranking():
    """Sorts, medians and quantiles in a loss, samples without replacement."""
    def loss(p, b):
        scores = jnp.tanh(b["x"] @ p[0]) @ p[1]
        ranked = jnp.sort(scores, axis=-1)
        target = jnp.take_along_axis(b["y"], jnp.argsort(b["y"], axis=-1)[:, ::-1], -1)
        spread = jnp.median(scores, axis=-1, keepdims=True) - jnp.quantile(scores, 0.25, axis=-1, keepdims=True)
        shuffled = scores[:, jax.random.permutation(key(5), 4)]
        return ((ranked - target) ** 2).mean() + 0.1 * (spread * shuffled).mean()

    return Task([_linear(0, WIDTH, 16), _linear(1, 16, 4)], vectors(), loss)
