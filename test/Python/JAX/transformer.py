# REQUIRES: jax
# RUN: %jax_python %s
"""Loss and gradients of a transformer through Braid, against JAX: two tensor-parallel
layers under `lax.scan`, an embedding, causal attention, cross entropy."""

import unittest

import jax
import jax.numpy as jnp
import jax_testing as jt
import numpy as np
from jax import lax
from jax.sharding import PartitionSpec as P

RANKS, LAYERS, WIDTH, HEADS, WORDS, BATCH, LENGTH = 4, 2, 32, 4, 16, 2, 8
HEAD = WIDTH // HEADS
MESH = jt.make_mesh((RANKS,), ("tp",))
COLUMNS, ROWS = P(None, None, "tp"), P(None, "tp", None)
SPECS = {"scale1": P(), "scale2": P(), "q": COLUMNS, "k": COLUMNS, "v": COLUMNS, "o": ROWS,
         "up": COLUMNS, "down": ROWS}


def normalize(x, scale):
    centered = x - x.mean(-1, keepdims=True)
    return scale * centered * lax.rsqrt(x.var(-1, keepdims=True) + 1e-5)


def layer(x, weights):
    h = normalize(x, weights["scale1"])
    q, k, v = [(h @ weights[name]).reshape(BATCH, LENGTH, HEADS // RANKS, HEAD)
               for name in ("q", "k", "v")]
    scores = jnp.einsum("bthd,bshd->bhts", q, k) / np.sqrt(HEAD)
    mask = jnp.tril(jnp.ones((LENGTH, LENGTH), bool))
    attention = jax.nn.softmax(jnp.where(mask, scores, -1e9))
    mixed = jnp.einsum("bhts,bshd->bthd", attention, v).reshape(BATCH, LENGTH, -1)
    x = x + lax.psum(mixed @ weights["o"], "tp")
    h = normalize(x, weights["scale2"])
    return x + lax.psum(jax.nn.gelu(h @ weights["up"]) @ weights["down"], "tp")


def loss(weights, embedding, words):
    x, _ = lax.scan(lambda x, w: (layer(x, w), None), embedding[words], weights)
    likelihood = jax.nn.log_softmax(x @ embedding.T)
    following = jax.nn.one_hot(jnp.roll(words, -1, axis=1), WORDS)
    return -(following * likelihood).sum(-1).mean()


def make_arguments():
    shapes = {"q": (WIDTH, WIDTH), "k": (WIDTH, WIDTH), "v": (WIDTH, WIDTH),
              "o": (WIDTH, WIDTH), "up": (WIDTH, 4 * WIDTH), "down": (4 * WIDTH, WIDTH)}
    weights = {name: jt.normals((LAYERS, *shape), seed=seed) / 6
               for seed, (name, shape) in enumerate(shapes.items())}
    weights["scale1"] = weights["scale2"] = np.ones((LAYERS, WIDTH), np.float32)
    words = np.random.RandomState(1).randint(0, WORDS, (BATCH, LENGTH)).astype(np.int32)
    return weights, jt.normals((WORDS, WIDTH), seed=9), words


class TransformerTest(jt.JaxTestCase):
    def check(self, fn, out_specs):
        return self.check_equal(
            jax.jit(jax.shard_map(fn, mesh=MESH, in_specs=(SPECS, P(), P()),
                                  out_specs=out_specs)), *make_arguments(), tolerance=1e-5)

    def test_loss(self):
        program = self.check(loss, P())
        self.assertEqual(program.text.count("scf.for"), 1)
        self.assertEqual(program.text.count("comm.all_reduce"), 2)

    def test_gradients(self):
        program = self.check(jax.grad(loss, argnums=(0, 1)), (SPECS, P()))
        self.assertEqual(program.text.count("comm.all_reduce"), 6)


if __name__ == "__main__":
    unittest.main()
