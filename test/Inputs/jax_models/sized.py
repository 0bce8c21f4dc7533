# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Training steps of plain JAX in sizes that fill GPUs: parameters in bf16, split over the axis "r", forward and backward.

Each model is a function of its sizes, which a caller may change, and gives a Sized.
"""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

TYPE = jnp.bfloat16


@dataclass(frozen=True)
class Sized:
    """A model: parameters of each layer as shapes, the batch of a rank as shapes and types, and the loss as
    `loss(read, layers, batch)`, where `read` gives the whole parameters of a layer. `columns` and `rows` name the
    parameters that tensor parallelism splits along their last and their first dimension; without it they are empty. A way
    "own" splits them alike, and gives each rank a batch of its own: such a loss has the collectives of the axis "r" itself.
    `stacked`: the first dimension of each parameter counts layers, and `read` gives those of a slice of all of them.
    `parts`: the first dimension of the batch, if it counts micro-batches whose gradients a loop adds up."""

    layers: list[dict[str, tuple[int, ...]]]
    batch: dict[str, tuple[tuple[int, ...], Any]]
    loss: Callable[..., Any]
    columns: tuple[str, ...] = ()
    rows: tuple[str, ...] = ()
    stacked: bool = False
    parts: int = 0


MODELS: dict[str, Callable[..., Sized]] = {}


def model(make):
    MODELS[make.__name__] = make
    return make


def rms_norm(x, g):
    return x * jax.lax.rsqrt(jnp.mean(jnp.square(x.astype(jnp.float32)), -1, keepdims=True) + 1e-5).astype(x.dtype) * g


def layer_norm(x, g, b):
    wide = x.astype(jnp.float32)
    mean = wide.mean(-1, keepdims=True)
    wide = (wide - mean) * jax.lax.rsqrt(jnp.square(wide - mean).mean(-1, keepdims=True) + 1e-5)
    return wide.astype(x.dtype) * g + b


def rotate(x):
    """Rotary positions of (tokens, heads, width)."""
    half = x.shape[-1] // 2
    angles = jnp.arange(x.shape[0], dtype=jnp.float32)[:, None] * 10000.0 ** (-jnp.arange(half, dtype=jnp.float32) / half)
    c, s = jnp.cos(angles)[:, None].astype(x.dtype), jnp.sin(angles)[:, None].astype(x.dtype)
    a, b = x[..., :half], x[..., half:]
    return jnp.concatenate([a * c - b * s, a * s + b * c], -1)


def attend(q, k, v, causal):
    """Attention by hand of (batch, tokens, heads, width)."""
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k, preferred_element_type=jnp.float32) * q.shape[-1] ** -0.5
    if causal:
        scores = jnp.where(jnp.tril(jnp.ones(scores.shape[-2:], bool)), scores, -1e30)
    return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores, -1).astype(q.dtype), v)


def cross_entropy(logits, labels):
    chosen = jnp.take_along_axis(jax.nn.log_softmax(logits.astype(jnp.float32)), labels[..., None], -1)
    return -chosen.mean()


def _llama(width, heads, groups, inner, attention):
    """The parameters of a layer, and a layer."""
    size = width // heads

    def attention_of(q, k, v):
        if attention != "hand":
            return jax.nn.dot_product_attention(q[None], k[None], v[None], is_causal=True, implementation=attention)[0]
        k, v = (jnp.repeat(each, q.shape[1] // each.shape[1], 1) for each in (k, v))
        return attend(q[None], k[None], v[None], True)[0]

    def block(x, p, total=lambda y: y):
        h = rms_norm(x, p["g1"])
        q, k, v = ((h @ p[name]).reshape(len(x), -1, size) for name in ("q", "k", "v"))
        x = x + total(attention_of(rotate(q), rotate(k), v).reshape(len(x), -1) @ p["o"])
        h = rms_norm(x, p["g2"])
        return x + total((jax.nn.silu(h @ p["gate"]) * (h @ p["up"])) @ p["down"])

    shapes = {"g1": (width,), "g2": (width,), "q": (width, width), "k": (width, groups * size), "v": (width, groups * size),
              "o": (width, width), "gate": (width, inner), "up": (width, inner), "down": (inner, width)}
    return shapes, block


@model
def llama(width=4096, heads=32, groups=8, inner=14336, layers=2, tokens=2048, attention="hand", parts=0):
    """RMSNorm, rotary positions, grouped-query attention, SwiGLU. `attention`: by hand, or an implementation of
    jax.nn.dot_product_attention. `parts`: micro-batches of so many tokens, or a single batch."""
    shapes, block = _llama(width, heads, groups, inner, attention)

    def loss(read, parameters, batch, total=lambda y: y):
        x = batch["x"]
        for p in parameters:
            x = block(x, read(p), total)
        return jnp.mean(jnp.square((x - batch["y"]).astype(jnp.float32)))

    shape = (parts, tokens, width) if parts else (tokens, width)
    return Sized([shapes] * layers, {"x": (shape, TYPE), "y": (shape, TYPE)}, loss, ("q", "k", "v", "gate", "up"), ("o", "down"),
                 parts=parts)


@model
def scan(width=4096, heads=32, groups=8, inner=14336, layers=16, tokens=2048, attention="hand"):
    """The layers of `llama` in a loop over stacked parameters; the backward pass gathers and computes each layer again."""
    shapes, block = _llama(width, heads, groups, inner, attention)

    def loss(read, parameters, batch):
        layer = jax.checkpoint(lambda x, p: (block(x, read(p)), None), prevent_cse=False)
        x, _ = jax.lax.scan(layer, batch["x"], parameters[0])
        return jnp.mean(jnp.square((x - batch["y"]).astype(jnp.float32)))

    batch = {"x": ((tokens, width), TYPE), "y": ((tokens, width), TYPE)}
    return Sized([{name: (layers, *shape) for name, shape in shapes.items()}], batch, loss, stacked=True)


def _transformer_shapes(width, inner):
    return {"g1": (width,), "b1": (width,), "qkv": (width, 3 * width), "o": (width, width), "g2": (width,), "b2": (width,),
            "up": (width, inner), "up_bias": (inner,), "down": (inner, width), "down_bias": (width,)}


def _transformer_block(x, p, heads, causal, drop=lambda x, number: x):
    h = layer_norm(x, p["g1"], p["b1"])
    q, k, v = jnp.split((h @ p["qkv"]).reshape(*x.shape[:2], 3 * heads, -1), 3, 2)
    x = x + drop(attend(q, k, v, causal).reshape(x.shape) @ p["o"], 0)
    h = layer_norm(x, p["g2"], p["b2"])
    return x + drop(jax.nn.gelu(h @ p["up"] + p["up_bias"]) @ p["down"] + p["down_bias"], 1)


@model
def gpt2(width=2048, heads=16, layers=2, samples=4, tokens=1024, vocabulary=32768, rate=0.1):
    """Learned positions, LayerNorm, GELU, dropout by jax.random, cross entropy."""
    def loss(read, parameters, batch):
        ends = read(parameters[0])
        x = ends["embed"][batch["tokens"]] + ends["positions"]
        root = jax.random.wrap_key_data(batch["seed"])
        for number, p in enumerate(parameters[1:]):
            def drop(x, place, number=number):
                keep = jax.random.bernoulli(jax.random.fold_in(root, 2 * number + place), 1 - rate, x.shape)
                return jnp.where(keep, x / (1 - rate), 0).astype(x.dtype)
            x = _transformer_block(x, read(p), heads, True, drop)
        logits = layer_norm(x, ends["g"], ends["b"]) @ ends["embed"].T
        return cross_entropy(logits[:, :-1], batch["tokens"][:, 1:])

    ends = {"embed": (vocabulary, width), "positions": (tokens, width), "g": (width,), "b": (width,)}
    return Sized([ends] + [_transformer_shapes(width, 4 * width)] * layers,
                 {"tokens": ((samples, tokens), jnp.int32), "seed": ((2,), jnp.uint32)}, loss)


@model
def vit(width=1024, heads=16, layers=4, samples=64, size=224, patch=16, classes=1024):
    """A convolution over patches, a class token, attention without a mask."""
    def loss(read, parameters, batch):
        ends = read(parameters[0])
        x = jax.lax.conv_general_dilated(batch["pictures"], ends["patch"], (patch, patch), "VALID",
                                         dimension_numbers=("NHWC", "HWIO", "NHWC")).reshape(samples, -1, width)
        first = jnp.broadcast_to(ends["class"], (samples, 1, width))
        x = jnp.concatenate([first, x], 1) + ends["positions"][:x.shape[1] + 1]
        for p in parameters[1:]:
            x = _transformer_block(x, read(p), heads, False)
        return cross_entropy(layer_norm(x[:, 0], ends["g"], ends["b"]) @ ends["head"], batch["labels"])

    positions = -(-((size // patch) ** 2 + 1) // 8) * 8
    ends = {"patch": (patch, patch, 3, width), "class": (width,), "positions": (positions, width), "g": (width,), "b": (width,),
            "head": (width, classes)}
    batch = {"pictures": ((samples, size, size, 3), TYPE), "labels": ((samples,), jnp.int32)}
    return Sized([ends] + [_transformer_shapes(width, 4 * width)] * layers, batch, loss)


@model
def experts(width=2048, inner=4096, count=8, chosen=2, layers=2, tokens=4096, room=1.25):
    """A mixture of experts: top_k of a softmax, places in the buffers of experts by a cumulative sum."""
    places = int(room * chosen * tokens / count)

    def block(x, p):
        gates = jax.nn.softmax((x @ p["router"]).astype(jnp.float32))
        weights, which = jax.lax.top_k(gates, chosen)
        mine = jax.nn.one_hot(which.reshape(-1), count, dtype=jnp.int32)
        place = (jnp.cumsum(mine, 0) * mine).sum(-1) - 1
        slot = jnp.where(place < places, which.reshape(-1) * places + place, count * places)
        source = jnp.repeat(jnp.arange(len(x)), chosen)
        buffers = jnp.zeros((count * places + 1, x.shape[1]), x.dtype).at[slot].set(x[source])[:-1]
        hidden = jax.nn.silu(jnp.einsum("etd,edf->etf", buffers.reshape(count, places, -1), p["up"]))
        out = jnp.einsum("etf,efd->etd", hidden, p["down"]).reshape(count * places, -1)
        found = jnp.concatenate([out, jnp.zeros_like(out[:1])])[slot].reshape(len(x), chosen, -1)
        return x + (found * weights[..., None].astype(x.dtype)).sum(1)

    def loss(read, parameters, batch):
        x = batch["x"]
        for p in parameters:
            p = read(p)
            x = block(rms_norm(x, p["g"]), p)
        return jnp.mean(jnp.square((x - batch["y"]).astype(jnp.float32)))

    shapes = {"g": (width,), "router": (width, count), "up": (count, width, inner), "down": (count, inner, width)}
    return Sized([shapes] * layers, {"x": ((tokens, width), TYPE), "y": ((tokens, width), TYPE)}, loss)


@model
def small(width=512, parameters=64, tokens=2048):
    """Many small parameters: a matmul with each one."""
    def loss(read, layers, batch):
        x = batch["x"]
        for p in layers:
            x = x + jnp.tanh(x @ read(p)["w"])
        return jnp.mean(jnp.square(x.astype(jnp.float32)))

    return Sized([{"w": (width, width)}] * parameters, {"x": ((tokens, width), TYPE)}, loss)


@model
def dispatched(width=4096, inner=8192, layers=2, tokens=4096, ranks=2):
    """An expert of each rank: a dense layer, an exchange by dispatched tokens, the expert's MLP, and an exchange back."""
    def exchange(x):
        return jax.lax.all_to_all(x, "r", 0, 0)

    def loss(read, parameters, batch):
        x = batch["x"][0]
        for p in parameters:
            h = exchange(rms_norm(x, p["g"]) @ p["dense"])
            x = x + exchange(jax.nn.relu(h @ p["up"][0]) @ p["down"][0])
        return jnp.mean(jnp.square(x.astype(jnp.float32)))

    shapes = {"g": (width,), "dense": (width, width), "up": (ranks, width, inner), "down": (ranks, inner, width)}
    return Sized([shapes] * layers, {"x": ((1, ranks, tokens, width), TYPE)}, loss, (), ("up", "down"))


@model
def sequence(width=4096, layers=2, tokens=4096):
    """Sequence-parallel MLPs: tokens are gathered before the first matmul, and scattered sums follow the second one."""
    def loss(read, parameters, batch):
        x = batch["x"]
        for p in parameters:
            whole = jax.lax.all_gather(rms_norm(x, p["g"]), "r", tiled=True)
            x = x + jax.lax.psum_scatter(jax.nn.relu(whole @ p["up"]) @ p["down"], "r", tiled=True)
        return jnp.mean(jnp.square(x.astype(jnp.float32)))

    shapes = {"g": (width,), "up": (width, 4 * width), "down": (4 * width, width)}
    return Sized([shapes] * layers, {"x": ((tokens, width), TYPE)}, loss, ("up",), ("down",))


@model
def state_space(width=2048, layers=2, samples=2, tokens=1024):
    """A gated linear recurrence by an associative scan over time."""
    def block(x, p):
        h = rms_norm(x, p["g"])
        decay = jnp.exp(-jax.nn.softplus((h @ p["step"]).astype(jnp.float32)))
        source = (1 - decay) * (h @ p["in"]).astype(jnp.float32)
        combine = lambda a, b: (a[0] * b[0], b[0] * a[1] + b[1])
        _, state = jax.lax.associative_scan(combine, (decay, source), axis=1)
        return x + (state.astype(x.dtype) * jax.nn.silu(h @ p["gate"])) @ p["out"]

    def loss(read, parameters, batch):
        x = batch["x"]
        for p in parameters:
            x = block(x, read(p))
        return jnp.mean(jnp.square((x - batch["y"]).astype(jnp.float32)))

    shapes = {"g": (width,), **{name: (width, width) for name in ("step", "in", "gate", "out")}}
    sizes = ((samples, tokens, width), TYPE)
    return Sized([shapes] * layers, {"x": sizes, "y": sizes}, loss)


@model
def resnet(width=256, layers=2, samples=32, size=56):
    """Bottleneck blocks: convolutions of 1x1, 3x3 and 1x1, with norms over the batch of a rank."""
    def convolve(x, w):
        return jax.lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))

    def norm(x, g):
        wide = x.astype(jnp.float32)
        mean, square = wide.mean((0, 1, 2)), jnp.square(wide).mean((0, 1, 2))
        return ((wide - mean) * jax.lax.rsqrt(square - jnp.square(mean) + 1e-5)).astype(x.dtype) * g

    def loss(read, parameters, batch):
        x = batch["x"]
        for p in parameters:
            p = read(p)
            h = jax.nn.relu(norm(convolve(x, p["in"]), p["g1"]))
            h = jax.nn.relu(norm(convolve(h, p["middle"]), p["g2"]))
            x = jax.nn.relu(x + norm(convolve(h, p["out"]), p["g3"]))
        return jnp.mean(jnp.square((x - batch["y"]).astype(jnp.float32)))

    inner = width // 4
    shapes = {"in": (1, 1, width, inner), "g1": (inner,), "middle": (3, 3, inner, inner), "g2": (inner,),
              "out": (1, 1, inner, width), "g3": (width,)}
    sizes = ((samples, size, size, width), TYPE)
    return Sized([shapes] * layers, {"x": sizes, "y": sizes}, loss)


def _split(shape, ranks, outer):
    """FSDP splits the first dimension that all ranks divide, behind the `outer` first ones."""
    for dimension, size in enumerate(shape):
        if dimension >= outer and size % ranks == 0:
            return P(*[None] * dimension, "r")
    return P()


def make_step(sized, way, ranks, devices=None):
    """A training step on `ranks` ranks under "fsdp", "tp" or "own": the function for jax.jit, and its arguments as shapes.
    `devices`: JAX's devices, to run on them; None: a mesh without devices, to export."""
    mesh = Mesh(np.array(devices[:ranks]), ("r",)) if devices else jax.sharding.AbstractMesh((ranks,), ("r",))
    if way != "fsdp":
        place = {**{name: P(None, "r") for name in sized.columns}, **{name: P("r") for name in sized.rows}}
        specs = [{name: place.get(name, P()) for name in layer} for layer in sized.layers]
        more = {"total": lambda y: jax.lax.psum(y, "r")} if way == "tp" else {}
        loss = functools.partial(sized.loss, lambda p: p, **more)
    else:
        outer = 1 if sized.stacked else 0
        specs = [{name: _split(shape, ranks, outer) for name, shape in layer.items()} for layer in sized.layers]

        def read(index, p):
            gathered = {}
            for name, value in p.items():
                spec = specs[index][name]
                gathered[name] = jax.lax.all_gather(value, "r", axis=len(spec) - 1 - outer, tiled=True) if spec else value
            return gathered

        def loss(parameters, batch):
            if sized.stacked:
                return sized.loss(lambda p: read(0, p), parameters, batch)
            numbers = {id(p): number for number, p in enumerate(parameters)}
            return sized.loss(lambda p: read(numbers[id(p)], p), parameters, batch)

    def step(parameters, batch):
        if sized.parts:
            def add(total, part):
                return jax.tree.map(jnp.add, total, jax.value_and_grad(loss)(parameters, part)), None

            value, gradients = jax.lax.scan(add, jax.tree.map(jnp.zeros_like, (jnp.float32(0), parameters)), batch)[0]
        else:
            value, gradients = jax.value_and_grad(loss)(parameters, batch)
        if way != "tp":
            gradients = [{name: g if specs[i][name] else jax.lax.psum(g, "r") for name, g in layer.items()}
                         for i, layer in enumerate(gradients)]
        return jax.lax.pmean(value, "r"), gradients

    one = P() if way == "tp" else P("r")
    batch_specs = {name: P() if name == "seed" else one for name in sized.batch}
    function = jax.shard_map(step, mesh=mesh, in_specs=(specs, batch_specs), out_specs=(P(), specs), check_vma=False)

    def shape_of(shape, dtype, spec, whole):
        if not whole and spec:
            shape = (shape[0] * ranks, *shape[1:])
        sharding = NamedSharding(mesh, spec) if devices else None
        return jax.ShapeDtypeStruct(shape, dtype, sharding=sharding)

    parameters = [{name: shape_of(shape, TYPE, specs[i][name], True) for name, shape in layer.items()}
                  for i, layer in enumerate(sized.layers)]
    batch = {name: shape_of(shape, dtype, batch_specs[name], False) for name, (shape, dtype) in sized.batch.items()}
    return jax.jit(function), (parameters, batch)
