# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models of big_vision: Flax Linen."""

import importlib

import jax
import jax.numpy as jnp
from big_vision.models.ppp import gemma as gemma_module

from . import Task, model, normal, tokens


def _make(module, batch, *names, **arguments):
    """The Task of a module, called with these entries of the batch; its results are what it predicts."""
    # Compiled, so that no forward pass runs.
    parameters = jax.jit(lambda: module.init(jax.random.key(0), *(batch[name] for name in names)))()["params"]

    def function(parameters, batch):
        rngs = {"dropout": jax.random.key(batch["seed"], impl="threefry2x32")} if "seed" in batch else None
        return module.apply({"params": parameters}, *(batch[name] for name in names), rngs=rngs, **arguments)[0]

    return Task(function, parameters, batch)


def _pictures(name, small, batch=(), arguments=(), **sizes):
    module = importlib.import_module(f"big_vision.models.{name}").Model(10 if small else 1000, **sizes)
    batch = {"image": normal(1, (2, 64, 64, 3) if small else (32, 224, 224, 3)), **dict(batch)}
    return _make(module, batch, "image", **dict(arguments))


@model("ViT-B/16, bf16, 32 pictures", "big_vision")
def vit_bf16(small):
    return _pictures("vit", small, variant="mu/16" if small else "B/16", dtype_mm="bfloat16")


@model("ViT-B/16, scan, dropout, 32 pictures", "big_vision")
def vit_scan(small):
    return _pictures("vit", small, {"seed": jnp.int32(7)}, {"train": True}, variant="mu/16" if small else "B/16", scan=True, dropout=0.1)


@model("MLP-Mixer B/16, 32 pictures", "big_vision")
def mixer(small):
    sizes = {"hidden_dim": 16, "num_blocks": 1, "channels_mlp_dim": 32, "tokens_mlp_dim": 8} if small else {}
    return _pictures("mlp_mixer", small, variant="B/16", **sizes)


@model("Gemma, 4 layers of 1,024, 4 x 1,024 tokens", "big_vision")
def gemma(small):
    config = {**gemma_module.get_config("gemma_2b"), "width": 1024, "depth": 4, "mlp_dim": 4096, "num_heads": 4}
    if small:
        config.update(width=32, depth=2, mlp_dim=64, head_dim=16, vocab_size=100)
    batch = {"tokens": tokens(1, (2, 16) if small else (4, 1024), config["vocab_size"])}
    return _make(gemma_module.Model(**{key: value for key, value in config.items()}), batch, "tokens")


@model("BiT ResNet-50, 32 pictures", "big_vision")
def bit(small):
    return _pictures("bit", small, depth=[1, 1, 1, 1] if small else 50, width=0.5 if small else 1)
