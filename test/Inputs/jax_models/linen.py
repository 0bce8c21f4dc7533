# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models of Flax's linen."""

import jax
import jax.numpy as jnp

from . import BATCH, VOCABULARY, WIDTH, Task, cross_entropy, key, model, next_token, pictures, sequences, tokens, vectors

try:
    from flax import linen as nn
except ImportError:
    nn = None


def _task(module, batch, loss, inputs, **options):
    return Task(module.init({"params": key(0), "dropout": key(9), "noise": key(8)}, inputs, **options), batch, loss)


@model("flax")
def linen_transformer():
    """A decoder: learned positions, causal attention, GELU, tied embedding."""
    class Decoder(nn.Module):
        @nn.compact
        def __call__(self, given):
            embed = nn.Embed(VOCABULARY, WIDTH)
            x = embed(given) + self.param("positions", nn.initializers.normal(0.1), (given.shape[1], WIDTH))
            for _ in range(2):
                mask = nn.make_causal_mask(given)
                x += nn.MultiHeadDotProductAttention(num_heads=4)(nn.LayerNorm()(x), mask=mask)
                x += nn.Dense(WIDTH)(nn.gelu(nn.Dense(4 * WIDTH)(nn.LayerNorm()(x))))
            return embed.attend(nn.LayerNorm()(x))

    module = Decoder()
    return _task(module, tokens(), lambda p, b: next_token(module.apply(p, b), b), tokens())


@model("flax")
def linen_scanned_transformer(dtype=jnp.bfloat16):
    """Layers under `nn.scan` and `nn.remat`, in bf16."""
    class Layer(nn.Module):
        @nn.compact
        def __call__(self, x, _):
            h = nn.RMSNorm(dtype=dtype)(x)
            x += nn.SelfAttention(num_heads=2, dtype=dtype)(h)
            gate, up = jnp.split(nn.Dense(8 * WIDTH, dtype=dtype)(nn.RMSNorm(dtype=dtype)(x)), 2, -1)
            return x + nn.Dense(WIDTH, dtype=dtype)(nn.silu(gate) * up), None

    class Decoder(nn.Module):
        @nn.compact
        def __call__(self, given):
            x = nn.Embed(VOCABULARY, WIDTH, dtype=dtype)(given)
            layers = nn.scan(nn.remat(Layer), variable_axes={"params": 0}, split_rngs={"params": True}, length=2)
            return nn.Dense(VOCABULARY)(layers()(x, None)[0])

    module = Decoder()
    parameters = module.init(key(0), tokens())
    return Task(parameters, tokens(), lambda p, b: next_token(module.apply(p, b), b), is_16_bit=dtype == jnp.bfloat16)


@model("flax")
def linen_cnn():
    """Convolutions, overlapping max pools, dropout."""
    class CNN(nn.Module):
        @nn.compact
        def __call__(self, x):
            x = nn.relu(nn.Conv(8, (3, 3))(x))
            x = nn.max_pool(x, (3, 3), strides=(2, 2), padding="SAME")
            x = nn.relu(nn.Conv(16, (3, 3))(x))
            x = nn.avg_pool(x, (2, 2), strides=(2, 2)).reshape(len(x), -1)
            x = nn.Dropout(0.25, deterministic=False)(nn.relu(nn.Dense(32)(x)))
            return nn.Dense(4)(x)

    module, batch = CNN(), pictures()
    return _task(module, batch, lambda p, b: cross_entropy(module.apply(p, b["x"], rngs={"dropout": key(9)}), b["y"]),
                 batch["x"])


@model("flax")
def linen_resnet():
    """Residual blocks with batch norm, strides, and global pooling."""
    class ResNet(nn.Module):
        @nn.compact
        def __call__(self, x):
            x = nn.Conv(8, (3, 3), use_bias=False)(x)
            for width, stride in ((8, 1), (16, 2)):
                h = nn.BatchNorm(use_running_average=False)(x)
                h = nn.Conv(width, (3, 3), (stride, stride), use_bias=False)(nn.relu(h))
                h = nn.Conv(width, (3, 3), use_bias=False)(nn.relu(nn.GroupNorm(4)(h)))
                x = nn.Conv(width, (1, 1), (stride, stride))(x) + h
            return nn.Dense(4)(x.mean((1, 2)))

    module, batch = ResNet(), pictures()
    variables = module.init(key(0), batch["x"])
    statistics = variables["batch_stats"]

    def loss(parameters, b):
        logits, _ = module.apply({"params": parameters, "batch_stats": statistics}, b["x"], mutable=["batch_stats"])
        return cross_entropy(logits, b["y"])

    return Task(variables["params"], batch, loss)


@model("flax")
def linen_lstm():
    class Tagger(nn.Module):
        @nn.compact
        def __call__(self, x):
            x = nn.Bidirectional(nn.RNN(nn.OptimizedLSTMCell(8)), nn.RNN(nn.GRUCell(8)))(x)
            return nn.Dense(4)(x[:, -1])

    module, batch = Tagger(), sequences()
    return _task(module, batch, lambda p, b: cross_entropy(module.apply(p, b["x"]), b["y"]), batch["x"])


@model("flax")
def linen_vae():
    class VAE(nn.Module):
        @nn.compact
        def __call__(self, x):
            h = nn.relu(nn.Dense(32)(x))
            mean, deviation = nn.Dense(8)(h), nn.Dense(8)(h)
            z = mean + jnp.exp(deviation / 2) * jax.random.normal(self.make_rng("noise"), mean.shape)
            return nn.Dense(x.shape[-1])(nn.relu(nn.Dense(32)(z))), mean, deviation

    module, batch = VAE(), vectors()

    def loss(parameters, b):
        found, mean, deviation = module.apply(parameters, b["x"], rngs={"noise": key(8)})
        return ((found - b["x"]) ** 2).sum(-1).mean() - 0.5 * (1 + deviation - mean ** 2 - jnp.exp(deviation)).sum(-1).mean()

    return _task(module, batch, loss, batch["x"])


@model("flax")
def linen_moe():
    """Experts chosen by `top_k`, with a capacity, one-hot dispatch and a balancing loss."""
    experts, capacity = 4, 4

    class Experts(nn.Module):
        @nn.compact
        def __call__(self, x):
            scores = jax.nn.softmax(nn.Dense(experts)(x))
            gates, chosen = jax.lax.top_k(scores, 2)
            mask = jax.nn.one_hot(chosen, experts)
            place = jnp.cumsum(mask.sum(1), axis=0)[:, None] * mask - 1
            slots = jax.nn.one_hot(place.max(-1).astype(jnp.int32), capacity)
            dispatch = jnp.einsum("tke,tkc->tec", mask, slots)
            combine = jnp.einsum("tk,tke,tkc->tec", gates, mask, slots)
            up = self.param("up", nn.initializers.lecun_normal(), (experts, WIDTH, 2 * WIDTH))
            down = self.param("down", nn.initializers.lecun_normal(), (experts, 2 * WIDTH, WIDTH))
            inside = jnp.einsum("tec,td->ecd", dispatch, x)
            outside = jnp.einsum("ecf,efd->ecd", nn.gelu(jnp.einsum("ecd,edf->ecf", inside, up)), down)
            balance = experts * (scores.mean(0) * mask[:, 0].mean(0)).sum()
            return jnp.einsum("tec,ecd->td", combine, outside), balance

    class Decoder(nn.Module):
        @nn.compact
        def __call__(self, given):
            x = nn.Embed(VOCABULARY, WIDTH)(given)
            found, balance = Experts()(x.reshape(-1, WIDTH))
            return nn.Dense(VOCABULARY)(x + found.reshape(x.shape)), balance

    module = Decoder()

    def loss(parameters, b):
        logits, balance = module.apply(parameters, b)
        return next_token(logits, b) + 0.01 * balance

    return _task(module, tokens(), loss, tokens())


@model("flax")
def linen_sorted_moe():
    """Experts whose tokens are sorted by expert, and put back by the inverse permutation."""
    class Decoder(nn.Module):
        @nn.compact
        def __call__(self, given):
            x = nn.Embed(VOCABULARY, WIDTH)(given).reshape(-1, WIDTH)
            scores = jax.nn.softmax(nn.Dense(4)(x))
            expert = jnp.argmax(scores, -1)
            order = jnp.argsort(expert)
            inside = jnp.take(x, order, axis=0)
            weights = self.param("experts", nn.initializers.lecun_normal(), (4, WIDTH, WIDTH))
            sizes = jnp.bincount(expert, length=4)
            owner = jnp.repeat(jnp.arange(4), sizes, total_repeat_length=len(x))
            outside = jnp.einsum("td,tdf->tf", inside, weights[owner])
            found = jnp.take(outside, jnp.argsort(order), axis=0) * scores.max(-1, keepdims=True)
            return nn.Dense(VOCABULARY)(x + found).reshape(*given.shape, -1)

    module = Decoder()
    return _task(module, tokens(), lambda p, b: next_token(module.apply(p, b), b), tokens())


@model("flax")
def linen_state_space():
    """A diagonal state-space layer by `associative_scan`, with gates."""
    class Layer(nn.Module):
        @nn.compact
        def __call__(self, x):
            decay = jax.nn.sigmoid(nn.Dense(WIDTH)(x))
            value = nn.Dense(WIDTH)(x) * (1 - decay)
            combine = lambda one, other: (one[0] * other[0], one[1] * other[0] + other[1])
            states = jax.lax.associative_scan(combine, (decay, value), axis=1)[1]
            return nn.Dense(4)(nn.LayerNorm()(states * nn.silu(nn.Dense(WIDTH)(x))).mean(1))

    module, batch = Layer(), sequences()
    return _task(module, batch, lambda p, b: cross_entropy(module.apply(p, b["x"]), b["y"]), batch["x"])


@model("flax")
def linen_unet():
    """Strided and transposed convolutions, time embeddings, upsampling by `jax.image.resize`."""
    class UNet(nn.Module):
        @nn.compact
        def __call__(self, x, time):
            angles = time[:, None] * jnp.exp(-jnp.arange(4.0))
            h = nn.Dense(8)(jnp.concatenate([jnp.sin(angles), jnp.cos(angles)], -1))[:, None, None]
            first = nn.silu(nn.Conv(8, (3, 3))(x) + h)
            inner = nn.silu(nn.GroupNorm(2)(nn.Conv(16, (3, 3), (2, 2))(first)))
            low = nn.Conv(16, (3, 3), (2, 2))(inner)
            inner = inner + jax.image.resize(low, inner.shape, "bilinear")
            outer = nn.ConvTranspose(8, (2, 2), (2, 2))(inner)
            return nn.Conv(x.shape[-1], (3, 3))(jnp.concatenate([first, outer], -1))

    module, batch = UNet(), {**pictures(), "t": jnp.arange(BATCH) / BATCH}

    def loss(parameters, b):
        noise = jax.random.normal(key(8), b["x"].shape)
        t = b["t"][:, None, None, None]
        return ((module.apply(parameters, b["x"] * (1 - t) + noise * t, b["t"]) - noise) ** 2).mean()

    return Task(module.init(key(0), batch["x"], batch["t"]), batch, loss)


@model("flax")
def linen_mixer():
    class Mixer(nn.Module):
        @nn.compact
        def __call__(self, x):
            x = nn.Conv(WIDTH, (2, 2), (2, 2))(x)
            x = x.reshape(len(x), -1, WIDTH)
            h = jnp.swapaxes(nn.LayerNorm()(x), 1, 2)
            x += jnp.swapaxes(nn.Dense(x.shape[1])(nn.gelu(nn.Dense(32)(h))), 1, 2)
            x += nn.Dense(WIDTH)(nn.gelu(nn.Dense(32)(nn.LayerNorm()(x))))
            return nn.Dense(4)(x.mean(1))

    module, batch = Mixer(), pictures()
    return _task(module, batch, lambda p, b: cross_entropy(module.apply(p, b["x"]), b["y"]), batch["x"])
