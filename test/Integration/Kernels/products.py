# REQUIRES: jax
# RUN: %jax_python %s %t %cxx
"""The kernels of a tensor product as of e3nn and of its gradients, run on the host, against JAX: matmuls with short sums,
which are elementwise. The nodes stay the outermost dimension around matmuls of the library."""
import re
import sys

import jax
import jax.numpy as jnp
import jax_kernels
import kernel_launches
import numpy as np

import braid.jax

NODES, CHANNELS = 48, 10
COUPLINGS = {(1, 1, 1): (3, 3, 3), (1, 2, 1): (3, 5, 3), (1, 1, 2): (3, 3, 5)}


def product(x, vectors, couplings):
    second = jnp.einsum("bi,bj,ijk->bk", vectors, vectors, couplings[1, 1, 2])
    terms = [jnp.einsum("bui,bj,ijk->buk", x, second if key[1] == 2 else vectors, value) for key, value in couplings.items()]
    return jnp.tanh(jnp.concatenate(terms, axis=2))


def step(x, vectors, couplings):
    results, back = jax.vjp(product, x, vectors, couplings)
    return results, *back(jnp.cos(results).astype(results.dtype))[:1]


def check(element, directory, cxx):
    generator = np.random.default_rng(0)
    draw = lambda *shape: jnp.asarray(generator.standard_normal(shape) / 2, element)
    values = draw(NODES, CHANNELS, 3), draw(NODES, 3), {key: draw(*shape) for key, shape in COUPLINGS.items()}
    program = braid.jax.export(jax.jit(step), *values)
    # Sums of bf16 on the host lose more than those of a kernel, which are f32.
    expected = jax.jit(step)(*jax.tree.map(lambda value: value.astype(jnp.float32), values))
    unit = 2.0**-6 if element is jnp.bfloat16 else 2.0**-18
    jax_kernels.check(program, values, expected, unit, element.__name__, directory, cxx, types=[element] * 2)


def rows(x, y):
    """Matrices of few rows, and of one."""
    return jnp.einsum("bmk,bnk->bmn", x, y), jnp.einsum("bmk,bmk->bm", jnp.tanh(x), y)


def check_rows(element, directory, cxx):
    generator = np.random.default_rng(0)
    values = [jnp.asarray(generator.standard_normal((256, 5, 44)) / 8, element) for _ in range(2)]
    program = braid.jax.export(jax.jit(rows), *values)
    expected = jax.jit(rows)(*(value.astype(jnp.float32) for value in values))
    unit = 2.0**-6 if element is jnp.bfloat16 else 2.0**-18
    jax_kernels.check(program, values, expected, unit, f"rows-{element.__name__}", directory, cxx, types=[element] * 2)


def linear(x, weights):
    results, back = jax.vjp(lambda x, weights: jnp.einsum("bui,uw->bwi", x, weights) * 0.25, x, weights)
    return results, *back(jnp.cos(results))


def check_layouts():
    program = braid.jax.export(jax.jit(linear), jnp.ones((NODES, 24, 3)), jnp.ones((24, 20)))
    text = kernel_launches.braid_opt(program.text, ["--braid-prepare=target=cuda"])
    if moved := re.findall(rf"linalg.*tensor<2[04]x{NODES}x3xf32>.*", text):
        sys.exit(f"expected {NODES} as the first size, found {moved}")


def main(directory, cxx):
    check_layouts()
    for element in (jnp.float32, jnp.bfloat16):
        check(element, directory, cxx)
        check_rows(element, directory, cxx)


main(*sys.argv[1:])
