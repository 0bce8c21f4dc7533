# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models of FlowJAX, NumPyro and the losses of Optax."""

import jax
import jax.numpy as jnp

from . import BATCH, WIDTH, Task, key, model, sequences, vectors


def _linear(number, *shape):
    return jax.random.normal(key(number), shape) / shape[0] ** 0.5


@model("flowjax")
def flowjax_splines():
    """A coupling flow of rational quadratic splines."""
    import equinox as eqx
    from flowjax.bijections import RationalQuadraticSpline
    from flowjax.distributions import Normal
    from flowjax.flows import coupling_flow

    flow = coupling_flow(key(0), base_dist=Normal(jnp.zeros(4)), flow_layers=2, nn_width=8,
                         transformer=RationalQuadraticSpline(knots=4, interval=4))
    parameters, rest = eqx.partition(flow, eqx.is_inexact_array)
    return Task(parameters, vectors(), lambda p, b: -eqx.combine(p, rest).log_prob(b["y"]).mean())


@model("numpyro")
def numpyro_regression():
    """The potential energy of a hierarchical regression."""
    import numpyro
    import numpyro.distributions as dist

    def program(b):
        scale = numpyro.sample("scale", dist.HalfCauchy(1.0))
        weights = numpyro.sample("weights", dist.Normal(0, scale).expand([WIDTH, 4]).to_event(2))
        freedom = numpyro.sample("freedom", dist.Gamma(2.0, 0.5))
        with numpyro.plate("samples", len(b["x"])):
            numpyro.sample("y", dist.StudentT(freedom, b["x"] @ weights, 1.0).to_event(1), obs=b["y"])

    def loss(p, b):
        return numpyro.infer.util.potential_energy(program, (b,), {}, p) / BATCH

    return Task({"scale": jnp.array(0.1), "weights": _linear(0, WIDTH, 4), "freedom": jnp.array(0.5)}, vectors(), loss)


@model("optax")
def optax_speech():
    """A recognizer with the CTC loss."""
    import optax

    batch = {**sequences(), "labels": jax.random.randint(key(3), (BATCH, 3), 1, 4)}

    def loss(p, b):
        logits = jax.nn.relu(b["x"] @ p[0]) @ p[1]
        return optax.ctc_loss(logits, jnp.zeros(logits.shape[:2]), b["labels"], jnp.zeros(b["labels"].shape)).mean()

    return Task([_linear(0, WIDTH, 32), _linear(1, 32, 4)], batch, loss)


@model("optax")
def optax_contrastive():
    """Two towers with a contrastive loss: the whole batch in one matmul."""
    import optax

    def loss(p, b):
        one, other = b["x"] @ p[0], b["y"] @ p[1]
        one, other = (v / jnp.linalg.norm(v, axis=-1, keepdims=True) for v in (one, other))
        logits = one @ other.T / 0.1
        labels = jnp.arange(len(logits))
        return (optax.softmax_cross_entropy_with_integer_labels(logits, labels)
                + optax.softmax_cross_entropy_with_integer_labels(logits.T, labels)).mean()

    return Task([_linear(0, WIDTH, 16), _linear(1, 4, 16)], vectors(), loss)
