# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models of `transformers` with random weights, and what they are trained with."""

import dataclasses

import torch
import torch.nn.functional as F

from .sizes import HEADS, TOKENS, VOCABULARY, WIDTH


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
    whether transformers can compute layers of it again in backward, `is_whole` whether Dynamo makes one graph of it, `has_plan`
    whether transformers has a plan of tensor parallelism for it.
    """

    def __init__(self, make, inputs, loss, columns=(), rows=(), decoder=None, can_checkpoint=True, is_whole=True, has_plan=False):
        self.make = make
        self.make_inputs = inputs
        self.loss = loss
        self.columns = columns
        self.rows = rows
        self.decoder = decoder
        self.can_checkpoint = can_checkpoint
        self.is_whole = is_whole
        self.has_plan = has_plan


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
    """Masks and positions are the model's own: windows, states, positions that are learned."""
    logits = module(input_ids=tokens).logits
    return F.cross_entropy(logits.flatten(0, 1).float(), tokens.flatten())


def _translation(module, tokens):
    logits = module(input_ids=tokens, decoder_input_ids=tokens.flip(1), use_cache=False).logits
    return F.cross_entropy(logits.flatten(0, 1).float(), tokens.flatten())


def _classes(module, pictures, labels):
    return F.cross_entropy(module(pixel_values=pictures).logits.float(), labels)


def _sounds(rank, generator):
    return torch.randn(2, 8, 2 * TOKENS, generator=generator), *_tokens(rank, generator)


def _transcription(module, sounds, tokens):
    logits = module(input_features=sounds, decoder_input_ids=tokens.flip(1), use_cache=False).logits
    return F.cross_entropy(logits.flatten(0, 1).float(), tokens.flatten())


def _waves(rank, generator):
    return torch.randn(2, 320, generator=generator), *_tokens(rank, generator)


def _letters(module, waves, tokens):
    logits = module(input_values=waves).logits
    return F.cross_entropy(logits.flatten(0, 1).float(), tokens[:, :1].expand(-1, logits.shape[1]).flatten())


def _captions(rank, generator):
    return (_pictures(rank, generator)[0], *_tokens(rank, generator))


def _matches(module, pictures, tokens):
    logits = module(pixel_values=pictures, input_ids=tokens).logits_per_image
    return F.cross_entropy(logits, torch.arange(len(logits), device=logits.device))


def _boxes(module, pictures, labels):
    found = module(pixel_values=pictures)
    return F.cross_entropy(found.logits[:, 0], labels) + found.pred_boxes.square().mean()


def _make(config, model, depth="num_hidden_layers", **options):
    """A function from a number of layers to a `model` of transformers with `options` of its `config`; `depth` names the option that
    has the number of layers."""

    def make(layers):
        import transformers

        return getattr(transformers, model)(getattr(transformers, config)(**{depth: layers, **options}))

    return make


_WORDS = dict(
    hidden_size=WIDTH, num_attention_heads=HEADS, vocab_size=VOCABULARY, max_position_embeddings=4 * TOKENS,
    attn_implementation="sdpa", tie_word_embeddings=False, pad_token_id=0, bos_token_id=1, eos_token_id=2,
)  # fmt: skip
_LAYERS = dict(hidden_size=WIDTH, num_attention_heads=HEADS, intermediate_size=2 * WIDTH)
_NO_DROPOUT = dict(hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
_PATCHES = dict(image_size=32, patch_size=8)


def _causal(name, **more):
    options = dict(intermediate_size=3 * WIDTH // 2, num_key_value_heads=HEADS // 2, use_cache=False)
    return _make(f"{name}Config", f"{name}ForCausalLM", **{**_WORDS, **options, **more})


def _classifier(name, depth="num_hidden_layers", **more):
    return _make(f"{name}Config", f"{name}ForImageClassification", depth, **{"num_labels": 5, **more})


def _stages(name, **more):
    """A `_classifier` with two stages, of which the second has all layers but one."""
    return lambda layers: _classifier(name, "_", depths=[1, layers], **more)(layers)


def _whisper(layers):
    return _make(
        "WhisperConfig", "WhisperForConditionalGeneration", "encoder_layers", decoder_layers=layers, vocab_size=VOCABULARY,
        num_mel_bins=8, d_model=WIDTH, max_source_positions=TOKENS, max_target_positions=TOKENS, use_cache=False,
        tie_word_embeddings=False, encoder_ffn_dim=2 * WIDTH, decoder_ffn_dim=2 * WIDTH, encoder_attention_heads=HEADS,
        decoder_attention_heads=HEADS, **_SPECIAL,
    )(layers)  # fmt: skip


def _wav2vec2(layers):
    """Sounds in their own form. What is frozen, as for another task, has no gradients."""
    dropout = ("hidden_dropout", "attention_dropout", "activation_dropout", "feat_proj_dropout", "final_dropout", "layerdrop", "mask_time_prob")
    module = _make(
        "Wav2Vec2Config", "Wav2Vec2ForCTC", **_LAYERS, vocab_size=VOCABULARY, conv_dim=(16, 16), conv_stride=(5, 2), conv_kernel=(10, 3),
        num_conv_pos_embeddings=8, num_conv_pos_embedding_groups=4, pad_token_id=0, **dict.fromkeys(dropout, 0.0),
    )(layers)  # fmt: skip
    module.freeze_feature_encoder()
    return module


_SPECIAL_WORDS = dict(pad_token_id=0, bos_token_id=1, eos_token_id=2)
_SPECIAL = dict(**_SPECIAL_WORDS, decoder_start_token_id=1)


def _clip(layers):
    more = dict(**_LAYERS, num_hidden_layers=layers)
    words = dict(vocab_size=VOCABULARY, max_position_embeddings=TOKENS, **_SPECIAL_WORDS)
    return _make(
        "CLIPConfig", "CLIPModel", "_", text_config={**more, **words}, vision_config={**more, **_PATCHES}, projection_dim=WIDTH
    )(layers)


def _siglip(layers):
    more = dict(**_LAYERS, num_hidden_layers=layers)
    words = dict(vocab_size=VOCABULARY, max_position_embeddings=TOKENS, projection_size=WIDTH, **_SPECIAL_WORDS)
    return _make("SiglipConfig", "SiglipModel", "_", text_config={**more, **words}, vision_config={**more, **_PATCHES})(layers)


def _detr(layers):
    from transformers import DetrConfig, DetrForObjectDetection, ResNetConfig

    stages = dict(embedding_size=16, hidden_sizes=[16, 32], depths=[1, 1], layer_type="basic", out_features=["stage2"])
    return DetrForObjectDetection(DetrConfig(
        backbone_config=ResNetConfig(**stages), use_timm_backbone=False, d_model=WIDTH, num_queries=8, num_labels=5,
        encoder_layers=layers, decoder_layers=layers, encoder_attention_heads=HEADS, decoder_attention_heads=HEADS,
        encoder_ffn_dim=2 * WIDTH, decoder_ffn_dim=2 * WIDTH, dropout=0.0,
    ))  # fmt: skip


_QUERIES = ("q_proj", "k_proj", "v_proj")
_LLAMA = dict(columns=(*_QUERIES, "gate_proj", "up_proj"), rows=("o_proj", "down_proj"))
_FC = dict(columns=(*_QUERIES, "fc1"), rows=("out_proj", "fc2"))
_BERT = dict(columns=("query", "key", "value", "intermediate.dense"), rows=("output.dense",))
_EXPERTS = dict(experts_implementation="batched_mm", num_experts_per_tok=2, moe_intermediate_size=WIDTH)
#: Attention of DeepSeek: keys and values by way of a small number of features, with positions beside.
_LATENT = dict(kv_lora_rank=16, q_lora_rank=32, qk_rope_head_dim=8, qk_nope_head_dim=8, v_head_dim=16, num_key_value_heads=HEADS)
#: ResNet, RegNet, MobileNet and EfficientNet have graphs that write inputs of their own: the statistics of batches.
MODELS = {
    "llama": Model(_causal("Llama"), _tokens, _next_token, **_LLAMA, decoder=Decoder(), has_plan=True),
    "mixtral": Model(
        _causal("Mixtral", num_local_experts=4, experts_implementation="batched_mm"),
        _tokens, _next_token, _QUERIES, ("o_proj",), Decoder(has_experts=True), has_plan=True,
    ),
    "gpt_neox": Model(
        _causal("GPTNeoX", intermediate_size=2 * WIDTH, attention_dropout=0.0, hidden_dropout=0.0), _tokens, _next_token,
        ("query_key_value", "dense_h_to_4h"), ("attention.dense", "dense_4h_to_h"),
        Decoder(
            "gpt_neox.layers", "gpt_neox.embed_in", "gpt_neox.final_layer_norm", attention="attention", has_keyword=False
        ),
    ),
    "qwen2": Model(_causal("Qwen2"), _tokens, _next_token, **_LLAMA, decoder=Decoder()),
    "qwen3": Model(_causal("Qwen3", head_dim=WIDTH // HEADS), _tokens, _next_token, **_LLAMA, decoder=Decoder()),
    "mistral": Model(_causal("Mistral", sliding_window=TOKENS // 2), _tokens, _same_token, **_LLAMA),
    "gemma2": Model(
        _causal("Gemma2", head_dim=WIDTH // HEADS, sliding_window=TOKENS // 2, attn_implementation="eager"), _tokens, _same_token, **_LLAMA,
    ),
    "gemma3": Model(
        _make(
            "Gemma3TextConfig", "Gemma3ForCausalLM", head_dim=WIDTH // HEADS, sliding_window=TOKENS // 2, num_key_value_heads=2,
            intermediate_size=WIDTH, **{**_WORDS, "tie_word_embeddings": True},
        ),
        _tokens, _same_token, **_LLAMA,
    ),
    "phi3": Model(_causal("Phi3"), _tokens, _same_token),
    "opt": Model(
        _make("OPTConfig", "OPTForCausalLM", **_WORDS, ffn_dim=2 * WIDTH, word_embed_proj_dim=WIDTH, dropout=0.0), _tokens,
        _same_token, **_FC,
    ),
    # One projection for queries, keys and values, as a layer of its own kind; one weight for embedding and head.
    "gpt2": Model(
        _make(
            "GPT2Config", "GPT2LMHeadModel", "n_layer", n_embd=WIDTH, n_head=HEADS, n_positions=TOKENS, vocab_size=VOCABULARY,
            resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0, bos_token_id=1, eos_token_id=2,
        ),
        _tokens, _same_token,
    ),
    "qwen3_moe": Model(
        _causal("Qwen3Moe", head_dim=WIDTH // HEADS, num_experts=4, **_EXPERTS), _tokens, _next_token, _QUERIES, ("o_proj",),
    ),
    "deepseek_v3": Model(
        _causal(
            "DeepseekV3", **_EXPERTS, **_LATENT, n_routed_experts=4, n_group=2, topk_group=1, first_k_dense_replace=0,
        ),
        _tokens, _same_token, has_plan=True,
    ),
    # Attention with sinks, a window in every other layer.
    "gpt_oss": Model(
        _causal(
            "GptOss", head_dim=WIDTH // HEADS, num_local_experts=4, num_experts_per_tok=2, sliding_window=TOKENS // 2,
            attn_implementation="eager", experts_implementation="batched_mm",
        ),
        _tokens, _same_token, has_plan=True,
    ),
    # Attention and MLP side by side.
    "falcon": Model(
        _make(
            "FalconConfig", "FalconForCausalLM", **_WORDS, hidden_dropout=0.0, attention_dropout=0.0, use_cache=False,
            new_decoder_architecture=True, num_kv_heads=HEADS // 2,
        ),
        _tokens, _same_token,
    ),
    "cohere2": Model(_causal("Cohere2", sliding_window=TOKENS // 2), _tokens, _same_token, **_LLAMA),
    # One weight for all experts, attention in chunks of the sequence.
    "llama4": Model(
        _make(
            "Llama4TextConfig", "Llama4ForCausalLM", **_WORDS, head_dim=WIDTH // HEADS, num_key_value_heads=HEADS // 2,
            intermediate_size=WIDTH, intermediate_size_mlp=WIDTH, num_local_experts=4, num_experts_per_tok=1, use_cache=False,
            attention_chunk_size=TOKENS // 2,
        ),
        _tokens, _same_token, _QUERIES, ("o_proj",),
    ),
    "glm4_moe": Model(
        _causal(
            "Glm4Moe", **_EXPERTS, head_dim=WIDTH // HEADS, n_routed_experts=4, n_group=1, topk_group=1, first_k_dense_replace=0,
        ),
        _tokens, _same_token, _QUERIES, ("o_proj",),
    ),
    # Norms behind attention and MLP, and over all heads of queries and keys, which tensor parallelism would have to know.
    "olmo2": Model(_causal("Olmo2"), _tokens, _same_token),
    "starcoder2": Model(
        _causal("Starcoder2", residual_dropout=0.0, embedding_dropout=0.0), _tokens, _same_token, (*_QUERIES, "c_fc"), ("o_proj", "c_proj"),
    ),
    # Linear attention, whose state a matrix forgets and learns.
    "qwen3_next": Model(
        lambda layers: _causal(
            "Qwen3Next", head_dim=WIDTH // HEADS, num_experts=4, shared_expert_intermediate_size=WIDTH, linear_key_head_dim=16,
            linear_value_head_dim=16, linear_num_key_heads=2, linear_num_value_heads=4, layer_types=["linear_attention"] * layers, **_EXPERTS,
        )(layers),
        _tokens, _same_token,
    ),
    "recurrent_gemma": Model(
        _make(
            "RecurrentGemmaConfig", "RecurrentGemmaForCausalLM", hidden_size=WIDTH, intermediate_size=2 * WIDTH, num_attention_heads=HEADS,
            vocab_size=VOCABULARY, attention_window_size=TOKENS // 2, use_cache=False, **_SPECIAL_WORDS,
        ),
        _tokens, _same_token,
    ),
    # Short convolutions in place of attention.
    "lfm2": Model(
        lambda layers: _causal("Lfm2", layer_types=["conv", *["full_attention"] * (layers - 1)])(layers), _tokens, _same_token,
    ),
    "mamba": Model(
        _make(
            "MambaConfig", "MambaForCausalLM", hidden_size=WIDTH, state_size=4, vocab_size=VOCABULARY, use_cache=False,
            time_step_rank=4, use_associative_scan=False, **_SPECIAL,
        ),
        _tokens, _same_token,
    ),
    "mamba2": Model(
        _make(
            "Mamba2Config", "Mamba2ForCausalLM", hidden_size=WIDTH, num_heads=8, head_dim=16, n_groups=2, state_size=8,
            chunk_size=8, vocab_size=VOCABULARY, use_cache=False, **_SPECIAL,
        ),
        _tokens, _same_token,
    ),
    "bert": Model(
        _make("BertConfig", "BertForMaskedLM", **_WORDS, intermediate_size=2 * WIDTH, **_NO_DROPOUT), _tokens, _same_token, **_BERT
    ),
    # Positions beside words in attention.
    "deberta_v2": Model(
        _make(
            "DebertaV2Config", "DebertaV2ForMaskedLM", intermediate_size=2 * WIDTH, relative_attention=True, position_biased_input=False,
            pos_att_type=["p2c", "c2p"], **_NO_DROPOUT, **{**_WORDS, "attn_implementation": "eager", "tie_word_embeddings": True},
        ),
        _tokens, _same_token, ("query_proj", "key_proj", "value_proj", "intermediate.dense"), ("output.dense",),
    ),
    "xlnet": Model(
        _make(
            "XLNetConfig", "XLNetLMHeadModel", "n_layer", d_model=WIDTH, n_head=HEADS, d_inner=2 * WIDTH, vocab_size=VOCABULARY, dropout=0.0,
            use_mems_eval=False, **_SPECIAL_WORDS,
        ),
        _tokens, _same_token, can_checkpoint=False,
    ),
    # Fourier transforms in place of attention.
    "fnet": Model(
        _make(
            "FNetConfig", "FNetForMaskedLM", hidden_size=WIDTH, intermediate_size=2 * WIDTH, vocab_size=VOCABULARY, hidden_dropout_prob=0.0,
            max_position_embeddings=TOKENS, type_vocab_size=2, **_SPECIAL_WORDS,
        ),
        _tokens, _same_token,
    ),
    # All layers are one.
    "albert": Model(
        _make(
            "AlbertConfig", "AlbertForMaskedLM", embedding_size=WIDTH // 2, intermediate_size=2 * WIDTH, **_NO_DROPOUT,
            **{**_WORDS, "tie_word_embeddings": True},
        ),
        _tokens, _same_token, can_checkpoint=False,
    ),
    "modernbert": Model(
        _make("ModernBertConfig", "ModernBertForMaskedLM", **_WORDS, intermediate_size=WIDTH, local_attention=8, cls_token_id=1, sep_token_id=2),
        _tokens, _same_token,
    ),
    "t5": Model(
        _make(
            "T5Config", "T5ForConditionalGeneration", "num_layers", d_model=WIDTH, d_kv=WIDTH // HEADS, d_ff=3 * WIDTH // 2,
            num_heads=HEADS, vocab_size=VOCABULARY, dropout_rate=0.0, feed_forward_proj="gated-gelu", use_cache=False,
            tie_word_embeddings=False, decoder_start_token_id=0,
        ),
        _tokens, _translation, ("wi_0", "wi_1"), ("DenseReluDense.wo",),
    ),
    "bart": Model(
        lambda layers: _make(
            "BartConfig", "BartForConditionalGeneration", "encoder_layers", decoder_layers=layers, vocab_size=VOCABULARY,
            d_model=WIDTH, encoder_attention_heads=HEADS, decoder_attention_heads=HEADS, encoder_ffn_dim=2 * WIDTH,
            decoder_ffn_dim=2 * WIDTH, max_position_embeddings=TOKENS, dropout=0.0, use_cache=False, **_SPECIAL,
        )(layers),
        _tokens, _translation, **_FC,
    ),
    "whisper": Model(_whisper, _sounds, _transcription, **_FC),
    "wav2vec2": Model(_wav2vec2, _waves, _letters),
    "clip": Model(_clip, _captions, _matches, **_FC),
    # Its head reads weights of a linear layer itself, which tensor parallelism cannot split.
    "siglip": Model(_siglip, _captions, _matches),
    "vit": Model(
        _classifier("ViT", **_LAYERS, **_PATCHES, **_NO_DROPOUT, attn_implementation="sdpa"), _pictures, _classes,
        (*_QUERIES, "fc1"), ("o_proj", "fc2"),
    ),
    "dinov2": Model(_classifier("Dinov2", **_LAYERS, **_PATCHES, **_NO_DROPOUT, use_swiglu_ffn=True), _pictures, _classes),
    "swin": Model(
        _stages("Swin", image_size=32, embed_dim=16, num_heads=[2, 4], window_size=4, drop_path_rate=0.0), _pictures, _classes,
    ),
    "detr": Model(_detr, _pictures, _boxes, can_checkpoint=False, is_whole=False),
    "segformer": Model(
        _stages(
            "Segformer", num_encoder_blocks=2, sr_ratios=[2, 1], hidden_sizes=[16, 32], patch_sizes=[7, 3], strides=[4, 2],
            num_attention_heads=[1, 2], mlp_ratios=[2, 2], drop_path_rate=0.0,
        ),
        _pictures, _classes, can_checkpoint=False,
    ),
    "resnet": Model(
        _stages("ResNet", embedding_size=16, hidden_sizes=[16, 32], layer_type="basic"), _pictures, _classes, can_checkpoint=False
    ),
    "regnet": Model(
        _stages("RegNet", embedding_size=16, hidden_sizes=[16, 32], groups_width=8), _pictures, _classes, can_checkpoint=False
    ),
    "convnext": Model(
        _stages("ConvNext", num_stages=2, hidden_sizes=[16, 32]), _pictures, _classes, can_checkpoint=False
    ),
    # Convolutions of each channel alone; their depth is the architecture's.
    "mobilenet_v2": Model(
        _classifier("MobileNetV2", "_", image_size=32, depth_multiplier=0.25, tf_padding=False, classifier_dropout_prob=0.0),
        _pictures, _classes, can_checkpoint=False,
    ),
    "efficientnet": Model(
        _classifier(
            "EfficientNet", "_", image_size=32, width_coefficient=1.0, depth_coefficient=1.0, kernel_sizes=[3, 5],
            in_channels=[32, 16], out_channels=[16, 24], strides=[1, 2], num_block_repeats=[1, 2], expand_ratios=[1, 6],
            hidden_dim=1280, dropout_rate=0.0, drop_connect_rate=0.0,
        ),
        _pictures, _classes, can_checkpoint=False,
    ),
}  # fmt: skip
