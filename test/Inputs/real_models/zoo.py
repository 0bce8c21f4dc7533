# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models of `transformers` with random weights, and what they are trained with."""

import dataclasses

import torch
import torch.nn.functional as F

TOKENS = 16
VOCABULARY = 128
WIDTH = 64
HEADS = 4


@dataclasses.dataclass(frozen=True)
class Decoder:
    """The names of parts of a decoder, for sequence parallelism.

    `has_keyword`: attention gets its values by name. `has_experts`: `mlp` has no linear layers to split.
    """

    layers: str = "model.layers"
    embedding: str = "model.embed_tokens"
    norm: str = "model.norm"
    head: str = "lm_head"
    attention: str = "self_attn"
    mlp: str = "mlp"
    has_keyword: bool = True
    has_experts: bool = False


class Model:
    """A module, its inputs on a rank, and how to compute a loss.

    `columns` and `rows` are the suffixes of the names of linear layers that tensor parallelism splits along their
    outputs and along their inputs. `decoder` is a `Decoder` where sequence parallelism knows the model. `can_checkpoint` says
    whether transformers can compute layers of it again in backward.
    """

    def __init__(self, make, inputs, loss, columns=(), rows=(), decoder=None, can_checkpoint=True):
        self.make = make
        self.make_inputs = inputs
        self.loss = loss
        self.columns = columns
        self.rows = rows
        self.decoder = decoder
        self.can_checkpoint = can_checkpoint


def _tokens(rank, generator):
    return (torch.randint(0, VOCABULARY, (2, TOKENS), generator=generator),)


def _pictures(rank, generator):
    return torch.randn(2, 3, 32, 32, generator=generator), torch.randint(0, 5, (2,), generator=generator)


def _next_token(module, tokens):
    # Where a rank has a part of the sequence, positions and mask are not those of its part.
    length = tokens.shape[1]
    more = {"position_ids": torch.arange(length)[None], "attention_mask": torch.ones(1, 1, length, length).tril().bool()}
    logits = module(input_ids=tokens, use_cache=False, **more).logits
    return F.cross_entropy(logits[:, :-1].flatten(0, 1).float(), tokens[:, 1:].flatten())


def _same_token(module, tokens):
    logits = module(input_ids=tokens).logits
    return F.cross_entropy(logits.flatten(0, 1).float(), tokens.flatten())


def _translation(module, tokens):
    logits = module(input_ids=tokens, decoder_input_ids=tokens.flip(1), use_cache=False).logits
    return F.cross_entropy(logits.flatten(0, 1).float(), tokens.flatten())


def _classes(module, pictures, labels):
    return F.cross_entropy(module(pixel_values=pictures).logits.float(), labels)


def _decoder(**more):
    return dict(
        hidden_size=WIDTH, num_attention_heads=HEADS, vocab_size=VOCABULARY, max_position_embeddings=4 * TOKENS,
        attn_implementation="sdpa", use_cache=False, tie_word_embeddings=False, **more,
    )  # fmt: skip


def _llama(layers):
    from transformers import AutoModelForCausalLM, LlamaConfig

    config = LlamaConfig(**_decoder(num_hidden_layers=layers, intermediate_size=3 * WIDTH // 2, num_key_value_heads=HEADS // 2))
    return AutoModelForCausalLM.from_config(config)


def _mixtral(layers):
    from transformers import AutoModelForCausalLM, MixtralConfig

    config = MixtralConfig(
        **_decoder(num_hidden_layers=layers, intermediate_size=3 * WIDTH // 2, num_key_value_heads=HEADS // 2),
        num_local_experts=4, experts_implementation="batched_mm",
    )  # fmt: skip
    return AutoModelForCausalLM.from_config(config)


def _gpt_neox(layers):
    from transformers import AutoModelForCausalLM, GPTNeoXConfig

    config = GPTNeoXConfig(
        **_decoder(num_hidden_layers=layers, intermediate_size=2 * WIDTH), attention_dropout=0.0, hidden_dropout=0.0
    )
    return AutoModelForCausalLM.from_config(config)


def _bert(layers):
    from transformers import BertConfig, BertForMaskedLM

    config = BertConfig(
        hidden_size=WIDTH, num_hidden_layers=layers, num_attention_heads=HEADS, intermediate_size=2 * WIDTH,
        vocab_size=VOCABULARY, max_position_embeddings=4 * TOKENS, hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0, attn_implementation="sdpa", tie_word_embeddings=False,
    )  # fmt: skip
    return BertForMaskedLM(config)


def _t5(layers):
    from transformers import T5Config, T5ForConditionalGeneration

    config = T5Config(
        d_model=WIDTH, d_kv=WIDTH // HEADS, d_ff=3 * WIDTH // 2, num_layers=layers, num_heads=HEADS, vocab_size=VOCABULARY,
        dropout_rate=0.0, feed_forward_proj="gated-gelu", use_cache=False, tie_word_embeddings=False,
        decoder_start_token_id=0,
    )  # fmt: skip
    return T5ForConditionalGeneration(config)


def _vit(layers):
    from transformers import ViTConfig, ViTForImageClassification

    config = ViTConfig(
        hidden_size=WIDTH, num_hidden_layers=layers, num_attention_heads=HEADS, intermediate_size=2 * WIDTH, image_size=32,
        patch_size=8, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0, num_labels=5,
        attn_implementation="sdpa",
    )  # fmt: skip
    return ViTForImageClassification(config)


def _resnet(layers):
    from transformers import ResNetConfig, ResNetForImageClassification

    config = ResNetConfig(
        embedding_size=16, hidden_sizes=[16, 32], depths=[1, layers], layer_type="basic", num_labels=5
    )
    return ResNetForImageClassification(config)


_LLAMA = dict(
    columns=("q_proj", "k_proj", "v_proj", "gate_proj", "up_proj"), rows=("o_proj", "down_proj"), decoder=Decoder()
)
#: ResNet is the one whose compiled graph writes inputs of its own: the statistics of batches.
MODELS = {
    "llama": Model(_llama, _tokens, _next_token, **_LLAMA),
    "mixtral": Model(
        _mixtral, _tokens, _next_token, ("q_proj", "k_proj", "v_proj"), ("o_proj",), Decoder(has_experts=True)
    ),
    "gpt_neox": Model(
        _gpt_neox, _tokens, _next_token,
        ("query_key_value", "dense_h_to_4h"), ("attention.dense", "dense_4h_to_h"),
        Decoder(
            "gpt_neox.layers", "gpt_neox.embed_in", "gpt_neox.final_layer_norm", attention="attention", has_keyword=False
        ),
    ),
    "bert": Model(
        _bert, _tokens, _same_token,
        ("query", "key", "value", "intermediate.dense"), ("output.dense",),
    ),
    "t5": Model(_t5, _tokens, _translation, ("wi_0", "wi_1"), ("DenseReluDense.wo",)),
    "vit": Model(_vit, _pictures, _classes, ("q_proj", "k_proj", "v_proj", "fc1"), ("o_proj", "fc2")),
    "resnet": Model(_resnet, _pictures, _classes, can_checkpoint=False),
}  # fmt: skip
