# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One small program for each operation whose meaning a split dimension could change, and
the ways to split its arguments and results over a mesh."""

from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import jax_testing as jt
import numpy as np
from jax import lax
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

LINE = jt.make_mesh((4,), ("i",))
SQUARE = jt.make_mesh((2, 2), ("i", "j"))
# The devices of a mesh may stand in any order.
SHUFFLED = jax.sharding.Mesh(np.array(jax.devices())[[3, 1, 0, 2]].reshape(2, 2), ("i", "j"))


@dataclass
class Case:
    name: str
    fn: Any
    args: list
    tolerance: float = 0.0
    refused: str = ""  # the op that has no translation


# Whole numbers, of which the largest and the smallest in a row stand anywhere.
X = np.random.RandomState(0).permutation(96).reshape(8, 12).astype(np.float32) - 40
Y = jt.integers((12, 8), seed=1)
SIGNS = np.where(X % 3 == 0, -1, np.where(X % 7 == 0, 2, 1)).astype(np.float32)
NUMBERS = X.astype(np.int32)
BYTES = (X + 40).astype(np.uint8) * 2
ROWS = np.array([3, 0, 7, 3], np.int32)
IMAGES = jt.integers((4, 8, 8, 4), seed=2)
FILTERS = jt.integers((3, 3, 4, 8), seed=3)
BATCHES = jt.integers((4, 8, 12), seed=4)
TALL = jt.integers((4, 12, 8), seed=5)
TOLERANCE = 4e-6


def pool(op, start):
    return lambda x: lax.reduce_window(x, start, op, (1, 2, 3, 1), (1, 2, 1, 1), "SAME")


def convolve(strides=(1, 1), padding="SAME", **options):
    return lambda x, w: lax.conv_general_dilated(
        x, w, strides, padding, dimension_numbers=("NHWC", "HWIO", "NHWC"), **options)


def reductions():
    for axis in (0, 1, None):
        for name, fn, x in (
                ("sum", jnp.sum, X), ("max", jnp.max, X), ("min", jnp.min, X),
                ("prod", jnp.prod, SIGNS), ("argmax", jnp.argmax, X), ("argmin", jnp.argmin, X),
                ("any", jnp.any, X > 50), ("all", jnp.all, X < 50),
                ("max of unsigned", jnp.max, BYTES), ("min of unsigned", jnp.min, BYTES)):
            yield Case(f"{name} over {axis}", lambda x, f=fn, a=axis: f(x, axis=a), [x])
        dims = (0, 1) if axis is None else (axis,)
        for name, fn in (("xor", lax.reduce_xor), ("and", lax.reduce_and), ("or", lax.reduce_or)):
            yield Case(f"{name} over {axis}", lambda x, f=fn, d=dims: f(x, axes=d), [NUMBERS])
    yield Case("var", lambda x: x.var(0), [X], TOLERANCE)
    yield Case("softmax", lambda x: jax.nn.softmax(x / 8, axis=1), [X], TOLERANCE)
    yield Case("logsumexp", lambda x: jax.nn.logsumexp(x / 8, axis=0), [X], TOLERANCE)
    yield Case("layer norm", lambda x: (x - x.mean(1, keepdims=True))
               * lax.rsqrt(x.var(1, keepdims=True) + 1e-5), [X], TOLERANCE)


def moves():
    for axis in (0, 1):
        yield Case(f"reverse {axis}", lambda x, a=axis: jnp.flip(x, a), [X])
        yield Case(f"roll {axis}", lambda x, a=axis: jnp.roll(x, 3, a), [X])
        yield Case(f"concatenate {axis}", lambda x, y, a=axis: jnp.concatenate([x, y * 2], a),
                   [X, X + 1])
        yield Case(f"stack {axis}", lambda x, y, a=axis: jnp.stack([x, y], a), [X, X + 1])
        yield Case(f"repeat {axis}", lambda x, a=axis: jnp.repeat(x, 2, a), [X])
        yield Case(f"differences {axis}", lambda x, a=axis: jnp.diff(x, axis=a), [X])
        yield Case(f"cumsum {axis}", lambda x, a=axis: jnp.cumsum(x, axis=a), [X])
        yield Case(f"cumprod {axis}", lambda x, a=axis: jnp.cumprod(x, axis=a), [SIGNS])
        yield Case(f"cummax {axis}", lambda x, a=axis: lax.cummax(x, axis=a, reverse=True), [X])
    yield Case("reverse both", lambda x: x[::-1, ::-1], [X])
    yield Case("pad", lambda x: lax.pad(x, np.float32(7), ((2, 6, 0), (1, 3, 0))), [X])
    yield Case("pad between", lambda x: lax.pad(x, np.float32(7), ((0, 1, 1), (4, 1, 2))), [X])
    yield Case("pad by less than nothing", lambda x: lax.pad(x, np.float32(7), ((-2, 2, 0),
                                                                              (3, -3, 1))), [X])
    yield Case("slice", lambda x: x[1:5, 2:10], [X])
    yield Case("slice in steps", lambda x: x[::2, 1::3], [X])
    yield Case("swap halves", lambda x: jnp.concatenate([x[4:] * 2, x[:4]]), [X])
    yield Case("dynamic_slice", lambda x, i: lax.dynamic_slice(x, (i, i + 2), (4, 4)),
               [X, np.int32(3)])
    yield Case("dynamic_slice that clamps", lambda x, i: lax.dynamic_slice(x, (i, -i), (4, 4)),
               [X, np.int32(7)])
    yield Case("dynamic_update_slice", lambda x, u, i: lax.dynamic_update_slice(x, u, (i, i + 3)),
               [X, -Y[:4, :4], np.int32(3)])
    yield Case("transpose", lambda x: x.T + 1, [X])
    yield Case("transpose of three", lambda x: jnp.transpose(x, (2, 0, 1)) * 2, [BATCHES])
    yield Case("flatten", lambda x: x.reshape(-1) * 2, [X])
    yield Case("split rows", lambda x: x.reshape(2, 4, 12).sum(0), [X])
    yield Case("split columns", lambda x: x.reshape(8, 3, 4).max(1), [X])
    yield Case("join and split", lambda x: x.reshape(4, 24) - 1, [X])
    yield Case("heads", lambda x: jnp.transpose(x.reshape(8, 4, 3), (1, 0, 2)) * 2, [X])
    yield Case("broadcast", lambda x, y: x[:, None] + y[None], [X[:, 0], X[0]])
    yield Case("iota", lambda x: x + jnp.arange(12) + 100 * jnp.arange(8)[:, None], [X])
    yield Case("triangle", lambda x: jnp.tril(x) + jnp.eye(8, 12), [X])
    yield Case("one_hot", lambda i: jax.nn.one_hot(i, 8), [ROWS])


def lookups():
    yield Case("gather of rows", lambda x, i: x[i], [X, ROWS])
    yield Case("gather of columns", lambda x, i: x[:, i], [X, ROWS])
    yield Case("gather of elements", lambda x, i: x[i, i + 1], [X, ROWS])
    yield Case("gather out of bounds", lambda x, i: jnp.take(x, i + 4, axis=0, mode="fill",
                                                             fill_value=-1), [X, ROWS])
    yield Case("gather of windows", lambda x, i: jax.vmap(
        lambda j: lax.dynamic_slice(x, (j, 2), (2, 4)))(i), [X, ROWS])
    yield Case("take_along_axis", lambda x, i: jnp.take_along_axis(x, abs(i) % 8, axis=0),
               [X, NUMBERS])
    yield Case("scatter of a row", lambda x: x.at[5].set(1.0), [X])
    yield Case("scatter of columns", lambda x: x.at[:, 3:5].multiply(2.0), [X])
    yield Case("scatter to rows", lambda x, i: x.at[i].add(1.0), [X, ROWS])
    yield Case("scatter of updates", lambda x, i, u: x.at[i].add(u), [X, ROWS, X[2:6]])
    yield Case("scatter of maxima", lambda x, i, u: x.at[:, i].max(u), [X, ROWS, Y[:8, :4]])
    yield Case("gradient of a lookup", lambda x, i: jax.grad(lambda t: (t[i] ** 2).sum())(x),
               [X, ROWS])
    yield Case("segment_sum", lambda x, i: jax.ops.segment_sum(x, i, 8), [X[:4], ROWS])


def matmuls():
    yield Case("product", lambda x, y: x @ y, [X, Y])
    yield Case("batched product", jnp.matmul, [BATCHES, TALL])
    yield Case("product of the first dimensions", lambda x, y: jnp.einsum("ba,bc->ac", x, y),
               [X, X])
    yield Case("product over two dimensions", lambda x, y: jnp.einsum("bij,bjk->ik", x, y),
               [BATCHES, TALL])
    yield Case("outer product", lambda x, y: jnp.einsum("a,bc->abc", x, y), [X[:, 0], Y])
    yield Case("product of bf16", lambda x, y: (x.astype(jnp.bfloat16) @ y.astype(jnp.bfloat16)
                                                ).astype(np.float32), [X % 8, Y])
    yield Case("attention", lambda q, k: jax.nn.softmax(
        jnp.einsum("bth,bsh->bts", q, k) / 64) @ k, [BATCHES, BATCHES], TOLERANCE)
    for name, fn, filters in (
            ("convolution", convolve(), FILTERS), ("convolution in steps", convolve((2, 2)), FILTERS),
            ("convolution without padding", convolve(padding="VALID"), FILTERS),
            ("convolution of wide filters", convolve(rhs_dilation=(2, 2)), FILTERS),
            ("transposed convolution", convolve(padding=((2, 2), (2, 2)), lhs_dilation=(2, 2)),
             FILTERS),
            ("convolution of groups", convolve(feature_group_count=2), FILTERS[:, :, :2]),
            ("gradient of a convolution", jax.grad(lambda x, w: (convolve()(x, w) ** 2).sum(),
                                                   argnums=(0, 1)), FILTERS),
            ("gradient of a convolution of groups", jax.grad(
                lambda x, w: (convolve(feature_group_count=4)(x, w) ** 2).sum(), argnums=(0, 1)),
             FILTERS[:, :, :1])):
        yield Case(name, fn, [IMAGES, filters])
    yield Case("largest in windows", pool(lax.max, -np.inf), [IMAGES])
    yield Case("sum of windows", pool(lax.add, 0.0), [IMAGES])
    yield Case("gradient of the largest in windows",
               jax.grad(lambda x: (pool(lax.max, -np.inf)(x) ** 2).sum()), [IMAGES])


def control(mesh):
    axis = mesh.axis_names[-1]
    mapped = jax.shard_map(lambda x: lax.psum(x, axis) * x.sum(), mesh=mesh,
                           in_specs=P(None, axis), out_specs=P(None, axis))
    yield Case("scan", lambda x, y: lax.scan(lambda c, _: (jnp.tanh(c @ y @ y.T / 64), c[0]), x,
                                             None, length=3), [X / 64, Y], TOLERANCE)
    # The gather of the second iteration is started in the only one that is left in a loop.
    yield Case("scan of two", lambda x, y: lax.scan(lambda c, _: (jnp.tanh(c @ y @ y.T / 64), None), x,
                                                    None, length=2)[0], [X / 64, Y], TOLERANCE)
    yield Case("scan over rows", lambda x: lax.scan(lambda c, r: (c + r, c * r), x[0], x), [X])
    yield Case("while", lambda x: lax.while_loop(lambda c: c.max() < 500, lambda c: c * 2 + 1, x),
               [X])
    yield Case("cond", lambda x: lax.cond(x.sum() > 0, lambda x: x[::-1], lambda x: x * 2, x), [X])
    yield Case("map", lambda x: lax.map(lambda r: r.max() - r, x), [X])
    yield Case("random", lambda x: x + jax.random.normal(jax.random.key(1), x.shape), [X],
               TOLERANCE)
    for name, fn in (("gelu", lambda x: jax.nn.gelu(x, approximate=False)), ("tan", jnp.tan),
                     ("erf_inv", lambda x: lax.erf_inv(x / 64)), ("asinh", jnp.arcsinh),
                     ("sinh", lambda x: jnp.sinh(x / 8)), ("lgamma", lambda x: lax.lgamma(x + 99)),
                     ("digamma", lambda x: lax.digamma(x + 99)), ("log1p", lambda x: jnp.log1p(
                         abs(x))), ("atan2", lambda x: jnp.arctan2(x, x + 3)),
                     ("next_after", lambda x: jnp.nextafter(x, 0))):
        yield Case(name, fn, [X], 2e-5)
    yield Case("complex", lambda x: jnp.abs((x + 1j) * (2 - 1j)).sum(0), [X], TOLERANCE)
    yield Case("custom_vjp", jax.grad(lambda x: clipped(x * 2).sum()), [X])
    yield Case("function under shard_map times two", lambda x: 2 * mapped(x + 1)[::-1], [X])
    yield Case("gradient outside shard_map", jax.grad(lambda x: (mapped(x) ** 2).sum()), [X],
               TOLERANCE)


def orders():
    yield Case("sort", lambda x: jnp.sort(x, axis=0), [X])
    yield Case("argsort", lambda x: jnp.argsort(x, axis=1), [X])
    yield Case("top_k", lambda x: lax.top_k(x, 4), [X])
    yield Case("ranks of a permutation", lambda x: jnp.argsort(jnp.argsort(x[0])), [X])
    yield Case("median", lambda x: jnp.median(x, axis=0), [X])
    yield Case("gradient of a pool", jax.grad(lambda x: (lax.reduce_window(
        x, -np.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID") ** 2).sum()), [IMAGES])
    yield Case("qr", lambda x: jnp.linalg.qr(x)[1], [X], tolerance=1e-5)
    yield Case("call of a library", lambda x: jax.ffi.ffi_call("nothing", jax.ShapeDtypeStruct(x.shape, x.dtype))(x), [X],
               refused="stablehlo.custom_call")


@jax.custom_vjp
def clipped(x):
    return x * x


clipped.defvjp(lambda x: (x * x, x), lambda x, g: (jnp.clip(g * x, -4, 4),))


def make_cases(mesh):
    """The programs, for arguments and results that are split over this mesh."""
    return [*reductions(), *moves(), *lookups(), *matmuls(), *control(mesh),
            *orders()]


def layouts(case, mesh):
    """The ways to split one dimension of one argument along each axis of the mesh: a list of
    specs for the arguments each."""
    args, axes = case.args, mesh.axis_names
    found = []

    def extend(specs, number):
        if number == len(axes):
            found.append([P(*spec) for spec in specs])
            return
        for i, arg in enumerate(args):
            for d in range(np.ndim(arg)):
                names = (*specs[i][d], axes[number])
                if np.shape(arg)[d] % int(np.prod([mesh.shape[n] for n in names])) == 0:
                    changed = [list(spec) for spec in specs]
                    changed[i][d] = names
                    extend(changed, number + 1)

    extend([[()] * np.ndim(arg) for arg in args], 0)
    return found


def outputs(case, mesh):
    """Shardings for the results: chosen by the partitioner, or along the axes of the mesh in
    the first dimensions of a result that they divide."""
    def split(shape):
        spec, axes = [], list(mesh.axis_names)
        for size in shape.shape:
            spec.append(axes.pop(0) if axes and size % mesh.shape[axes[0]] == 0 else None)
        return NamedSharding(mesh, P(*spec))

    return [None, jax.tree.map(split, jax.eval_shape(case.fn, *case.args))]


def jit(fn, specs, out, mesh):
    """`jax.jit` with these shardings."""
    return jax.jit(fn, in_shardings=tuple(NamedSharding(mesh, spec) for spec in specs),
                   out_shardings=out)
