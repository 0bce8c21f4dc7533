# REQUIRES: jax
# RUN: %jax_python %s %t %cxx
"""The places of the largest and smallest elements, by kernels on the host, against JAX: NaNs, equal elements and infinities."""
import os
import sys

import braid_testing as bt
import jax
import jax.numpy as jnp
import kernel_emulator
import numpy as np

import braid.jax

# Element type, shape, and the dimensions along which places count.
CASES = [
    ("bfloat16", (4, 17003), (1,)),
    ("float32", (64, 16), (1, 0)),
    ("float32", (5, 1037), (1, None)),
    ("float16", (300, 9), (0, 1)),
    ("float32", (3, 40, 50), (0, 1, 2)),
    ("int8", (33, 129), (1, 0)),
    ("int32", (2, 2100), (1, None)),
    ("uint8", (70, 20), (1,)),
    ("bool", (40, 65), (1, 0)),
]
FUNCTIONS = (jnp.argmax, jnp.argmin, jnp.nanargmax, lambda x, axis: jax.lax.argmax(x, axis or 0, np.uint32))


def values(kind, shape, generator):
    """Tensors with many equal elements, with NaNs and infinities, and of one element."""
    whole = generator.integers(-3, 4, shape) if kind not in ("bool", "uint8") else generator.integers(0, 3, shape)
    x = whole.astype(jnp.dtype(kind))
    yield x
    if not jnp.issubdtype(x.dtype, jnp.floating):
        yield np.full_like(x, np.iinfo(x.dtype).min if kind != "bool" else False)
        return
    for number, share in ((np.nan, 0.02), (-np.inf, 0.3), (np.inf, 0.01)):
        yield np.where(generator.random(shape) < share, jnp.asarray(number, kind), generator.standard_normal(shape).astype(x.dtype))
    for number in (np.nan, -np.inf, np.inf):
        yield np.full(shape, number, x.dtype)
    # Zeros of both signs are equal.
    yield np.where(generator.random(shape) < 0.5, jnp.asarray(0.0, kind), jnp.asarray(-0.0, kind))


def main(directory, cxx):
    generator = np.random.default_rng(0)
    for number, (kind, shape, axes) in enumerate(CASES):
        def places(x, axes=axes):
            return [function(x, axis=axis) for function in FUNCTIONS for axis in axes]

        program = braid.jax.export(jax.jit(places), jax.ShapeDtypeStruct(shape, kind))
        emulator = kernel_emulator.Emulator(program.text, os.path.join(directory, str(number)), cxx)
        if any(launch["kernel"].startswith("sequential") for launch in emulator.launches):
            sys.exit(f"one thread reduces {kind} of {shape}: {emulator.launches}")
        storage = [bt.ELEMENT_TYPES[buffer["type"]].storage for buffer in emulator.buffers.values() if buffer["direction"] == "in"]
        for x in values(kind, shape, generator):
            expected = [np.asarray(value) for value in jax.jit(places)(x)]
            for _ in range(2):
                found = emulator.run([np.asarray(x).view(storage[0])])
                for one, other in zip(found, expected, strict=True):
                    if not np.array_equal(one.view(other.dtype).reshape(other.shape), other):
                        sys.exit(f"{kind} of {shape}: {one} instead of {other} of {x}")
    print("all right")


main(*sys.argv[1:])
