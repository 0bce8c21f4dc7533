# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The models that transformers has for Flax, up to its version 4."""

import jax.numpy as jnp

from . import VOCABULARY, WIDTH, Task, cross_entropy, model, next_token, pictures, tokens

COMMON = {"vocab_size": VOCABULARY}
ENCODER = {"hidden_size": WIDTH, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32}


def _language(config, network):
    import transformers
    module = getattr(transformers, network)(getattr(transformers, config[0])(**config[1]), input_shape=(1, 8))
    return Task(module.params, tokens(), lambda p, b: next_token(module(b, params=p).logits, b))


@model("transformers")
def flax_gpt2():
    return _language(("GPT2Config", {**COMMON, "n_embd": WIDTH, "n_layer": 1, "n_head": 2, "n_positions": 16,
                                     "bos_token_id": 0, "eos_token_id": 0}), "FlaxGPT2LMHeadModel")


@model("transformers")
def flax_llama():
    return _language(("LlamaConfig", {**COMMON, **ENCODER, "num_key_value_heads": 1, "max_position_embeddings": 16}),
                     "FlaxLlamaForCausalLM")


@model("transformers")
def flax_bert():
    return _language(("BertConfig", {**COMMON, **ENCODER, "max_position_embeddings": 16}), "FlaxBertForMaskedLM")


@model("transformers")
def flax_vit():
    import transformers
    config = transformers.ViTConfig(image_size=8, patch_size=4, num_labels=4, **ENCODER)
    module = transformers.FlaxViTForImageClassification(config)
    return Task(module.params, pictures(), lambda p, b: cross_entropy(
        module(jnp.moveaxis(b["x"], -1, 1), params=p).logits, b["y"]))
