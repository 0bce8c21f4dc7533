# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models of bonsai: Flax NNX."""

import dataclasses

import jax
import jax.numpy as jnp
from flax import nnx

from bonsai.models.convnext import modeling as convnext_modeling
from bonsai.models.densenet121 import modeling as densenet_modeling
from bonsai.models.dinov3 import modeling as dinov3_modeling
from bonsai.models.gemma3 import modeling as gemma3_modeling
from bonsai.models.mamba2 import modeling as mamba2_modeling
from bonsai.models.qwen3 import modeling as qwen3_modeling
from bonsai.models.resnet import modeling as resnet_modeling
from bonsai.models.vae import modeling as vae_modeling
from bonsai.models.vgg19 import modeling as vgg19_modeling
from bonsai.models.whisper import modeling as whisper_modeling

from . import Task, model, normal, tokens


def _make(module, batch, call):
    """The Task of a module; `call(module, batch)` gives its results."""
    definition, parameters, keys, rest = nnx.split(module, nnx.Param, nnx.RngState, ...)

    def function(parameters, batch):
        # Nothing draws by the keys.
        return call(nnx.merge(definition, parameters, keys, batch["rest"]), batch)

    return Task(function, parameters, {"rest": rest, **batch})


def _pictures(module, count, size=224):
    return _make(module, {"image": normal(1, (count, size, size, 3))}, lambda module, batch: module(batch["image"]))


@model("DenseNet-121, 32 pictures", "bonsai")
def densenet121(small):
    config = densenet_modeling.ModelConfig.densenet_121()
    if small:
        config = dataclasses.replace(config, dense_block_layers=[1, 1, 1, 1], growth_rate=8)
    return _pictures(densenet_modeling.DenseNet(config, rngs=nnx.Rngs(0)), *((2, 32) if small else (32,)))


@model("Whisper tiny, 8 x 3,000 frames", "bonsai")
def whisper(small):
    config = whisper_modeling.ModelConfig.whisper_tiny()
    samples, frames, length = 8, 3000, config.max_length
    if small:
        config = dataclasses.replace(config, d_model=48, encoder_ffn_dim=64, decoder_ffn_dim=64, encoder_layers=1, decoder_layers=1,
                                     max_source_positions=16, vocab_size=100)  # fmt: skip
        samples, frames, length = 2, 32, 8
    batch = {"frames": normal(1, (samples, frames, config.num_mel_bins)), "tokens": tokens(2, (samples, length), config.vocab_size)}

    def call(module, batch):
        encoded = module.encoder(batch["frames"])
        mask = nnx.make_causal_mask(batch["tokens"])
        return module.decoder(batch["tokens"], mask, encoded, None, decode=False)

    return _make(whisper_modeling.Whisper(config, rngs=nnx.Rngs(0)), batch, call)


@model("ConvNeXt tiny, 32 pictures", "bonsai")
def convnext(small):
    config = convnext_modeling.ModelConfig.convnext_tiny_224()
    if small:
        config = dataclasses.replace(config, stage_depths=(1, 1, 1, 1), stage_dims=(8, 16, 16, 32))
    batch = {"image": normal(1, (2, 64, 64, 3) if small else (32, 224, 224, 3))}
    module = convnext_modeling.ConvNeXt(config, rngs=nnx.Rngs(0))
    # The key is for dropped paths, which training has none of at the rate of this configuration.
    return _make(module, batch, lambda module, batch: module(batch["image"], rngs=jax.random.key(0), train=True))


@model("Gemma 3 4B, 2 layers, a picture and 1,024 tokens", "bonsai")
def gemma3(small):
    config = gemma3_modeling.ModelConfig.gemma3_4b_it(norm_dtype=jnp.float32)
    length = 64 if small else 1024
    text = dataclasses.replace(config.text_config, num_hidden_layers=2)
    vision = dataclasses.replace(config.vision_config, num_hidden_layers=2)
    if small:
        text = dataclasses.replace(text, head_dim=16, hidden_size=32, intermediate_size=64, num_attention_heads=2,
                                   num_key_value_heads=1, vocab_size=100)  # fmt: skip
        vision = dataclasses.replace(vision, hidden_size=32, intermediate_size=64, num_attention_heads=2, image_size=112)
    config = dataclasses.replace(config, text_config=text, vision_config=vision, mm_tokens_per_image=16 if small else 256)
    size = vision.image_size
    cache = gemma3_modeling.init_cache(config, 1, length, 0, jnp.float32)
    cache_definition, cache_state = nnx.split(cache)
    batch = {"image": normal(1, (1, size, size, 3)), "tokens": tokens(2, (1, length), text.vocab_size), "cache": cache_state,
             "types": (jnp.arange(length) < config.mm_tokens_per_image).astype(jnp.int32)[None]}  # fmt: skip

    def call(module, batch):
        cache = nnx.merge(cache_definition, batch["cache"], copy=True)
        return module(batch["tokens"], batch["image"], cache=cache, segment_ids=jnp.ones_like(batch["tokens"]), token_type_ids=batch["types"])

    return _make(gemma3_modeling.Gemma3Model(config, rngs=nnx.Rngs(0)), batch, call)


@model("DINOv3 small, 32 pictures", "bonsai")
def dinov3(small):
    config = dinov3_modeling.ModelConfig.dinov3_vits16()
    if small:
        config = dataclasses.replace(config, hidden_size=32, intermediate_size=64, num_hidden_layers=1, num_attention_heads=2, image_size=64)
    batch = {"image": normal(1, (2 if small else 32, 3, config.image_size, config.image_size))}
    return _make(dinov3_modeling.Dinov3ViTModel(config, rngs=nnx.Rngs(0)), batch, lambda module, batch: module(batch["image"]))


@model("VGG-19, 32 pictures", "bonsai")
def vgg19(small):
    config = vgg19_modeling.ModelConfig.vgg_19()
    if small:
        config = dataclasses.replace(config, block_layers=[1] * 5, channels=[8, 8, 8, 8, 8, 16])
    return _pictures(vgg19_modeling.VGG(config, rngs=nnx.Rngs(0)), *((2, 32) if small else (32,)))


@model("VAE, 2 pictures of 256x256", "bonsai")
def vae(small):
    config = vae_modeling.ModelConfig.stable_diffusion_v1_5()
    if small:
        config = dataclasses.replace(config, block_out_channels=[8, 8, 16, 16], norm_num_groups=4)
    return _pictures(vae_modeling.VAE(config, nnx.Rngs(0)), 2, 32 if small else 256)


@model("Mamba-2, 4 of 24 layers, 4 x 1,024 tokens", "bonsai")
def mamba2(small):
    config = mamba2_modeling.ModelConfig(num_hidden_layers=4)
    if small:
        config = mamba2_modeling.ModelConfig.tiny()
    batch = {"tokens": tokens(1, (2, 64) if small else (4, 1024), config.vocab_size)}
    return _make(mamba2_modeling.Mamba2ForCausalLM(config, rngs=nnx.Rngs(0)), batch, lambda module, batch: module(batch["tokens"])["logits"])


@model("ResNet-50, 64 pictures", "bonsai")
def resnet50(small):
    config = resnet_modeling.ModelConfig.resnet50()
    if small:
        config = dataclasses.replace(config, block_layers=[1, 1, 1, 1])
    return _pictures(resnet_modeling.ResNet(config, rngs=nnx.Rngs(0)), *((2, 32) if small else (64,)))


@model("Qwen3 0.6B, 4 of 28 layers, 4 x 1,024 tokens", "bonsai")
def qwen3(small):
    config = dataclasses.replace(qwen3_modeling.ModelConfig.qwen3_0_6b(), num_layers=4)
    samples, length = 4, 1024
    if small:
        config = dataclasses.replace(config, num_layers=1, vocab_size=100, emb_dim=32, mlp_dim=64, num_heads=4, head_dim=16, num_kv_heads=2)
        samples, length = 2, 16
    # As the package's own script has it: room for as many tokens more.
    cache_definition, cache = nnx.split(qwen3_modeling.init_cache(config, samples, length, length, jnp.float32))
    batch = {"tokens": tokens(1, (samples, length), config.vocab_size), "cache": cache}

    def call(module, batch):
        cache = nnx.merge(cache_definition, batch["cache"], copy=True)
        return module(batch["tokens"], cache=cache, segment_ids=1 * (batch["tokens"] != 0))

    return _make(qwen3_modeling.Qwen3(config, rngs=nnx.Rngs(0)), batch, call)
