"""The models: every architecture, each with what sets it apart."""

import dataclasses
from typing import Any, Callable

import torch
import transformers

WINDOW = 12  # positions, fewer than any text has


@dataclasses.dataclass
class Case:
    model: str
    make: Callable[[], Any]
    dtype: torch.dtype = torch.float32
    shard: str = "1GB"  # weights in files of at most this size
    context: int = 96
    edit: Callable[[dict], None] | None = None  # of config.json, to the form that older versions wrote
    files: dict[str, Any] = dataclasses.field(default_factory=dict)
    normalized: bool = False

    def config(self):
        return self.make()


def sizes(**more):
    return dict(vocab_size=97, hidden_size=48, intermediate_size=80, num_hidden_layers=3, num_attention_heads=6,
                num_key_value_heads=2, max_position_embeddings=256, pad_token_id=0, bos_token_id=1,
                eos_token_id=2) | more


def rope(kind, theta=500.0, **more):
    return dict(rope_type=kind, rope_theta=theta) | more


LLAMA3 = rope("llama3", factor=4.0, low_freq_factor=1.0, high_freq_factor=4.0, original_max_position_embeddings=32)


def llama(**more):
    return lambda: transformers.LlamaConfig(**sizes(**more))


def qwen2(**more):
    return lambda: transformers.Qwen2Config(**sizes(**more))


def gemma3(**more):
    return lambda: transformers.Gemma3TextConfig(
        **sizes(num_hidden_layers=7, head_dim=16, query_pre_attn_scalar=24, sliding_window=WINDOW,
                rope_parameters={"full_attention": rope("linear", 5000.0, factor=2.0),
                                 "sliding_attention": rope("default", 100.0)}) | more)


def images():
    """A model for texts and images, whose text model has sizes that its configuration leaves out."""
    text = gemma3(hidden_size=64, num_attention_heads=8, num_key_value_heads=4, head_dim=256, num_hidden_layers=3,
                  query_pre_attn_scalar=256,
                  rope_parameters={"full_attention": rope("linear", 1e6, factor=8.0),
                                   "sliding_attention": rope("default", 1e4)})()
    return transformers.Gemma3Config(
        text_config=text.to_dict(), mm_tokens_per_image=4, image_token_index=90, boi_token_index=91, eoi_token_index=92,
        vision_config=dict(hidden_size=16, intermediate_size=16, num_hidden_layers=1, num_attention_heads=2,
                           image_size=28, patch_size=14))


def usual_left_out(config):
    text = config["text_config"]
    flat(text)
    for key in ("num_attention_heads", "num_key_value_heads", "head_dim", "query_pre_attn_scalar", "rope_theta",
                "rope_local_base_freq", "rms_norm_eps", "tie_word_embeddings", "hidden_activation"):
        text.pop(key)


def phi3(**more):
    return lambda: transformers.Phi3Config(**sizes(**more))


def longrope(pairs, original):
    factors = {"short_factor": [1.0 + 0.1 * i for i in range(pairs)],
               "long_factor": [1.5 + 0.3 * i for i in range(pairs)]}
    return dict(rope_parameters=rope("longrope", original_max_position_embeddings=original, **factors),
                original_max_position_embeddings=original)


def flat(config):
    """rope_parameters as versions before 5 wrote them."""
    rope_parameters = config.pop("rope_parameters")
    if "full_attention" in rope_parameters:
        config["rope_local_base_freq"] = rope_parameters["sliding_attention"]["rope_theta"]
        rope_parameters = rope_parameters["full_attention"]
    config["rope_theta"] = rope_parameters.pop("rope_theta")
    if "partial_rotary_factor" in rope_parameters:
        config["partial_rotary_factor"] = rope_parameters.pop("partial_rotary_factor")
    rest = {key: value for key, value in rope_parameters.items() if key != "original_max_position_embeddings"}
    if rope_parameters["rope_type"] == "longrope":
        rope_parameters = {("type" if key == "rope_type" else key): value for key, value in rest.items()}
    config["rope_scaling"] = None if rope_parameters.get("rope_type") == "default" else rope_parameters
    config.pop("layer_types", None)
    config.pop("dtype", None)
    config["torch_dtype"] = "float32"


GPT2 = dict(vocab_size=97, n_positions=128, n_embd=48, n_layer=3, n_head=4, bos_token_id=1, eos_token_id=2)

DECODERS = {
    "llama": Case("LlamaForCausalLM", llama()),
    "llama_tied": Case("LlamaForCausalLM", llama(tie_word_embeddings=True), shard="20KB"),
    "llama_biases": Case("LlamaForCausalLM", llama(attention_bias=True, mlp_bias=True, head_dim=16)),
    "llama_bf16": Case("LlamaForCausalLM", llama(), torch.bfloat16),
    "llama_f16": Case("LlamaForCausalLM", llama(tie_word_embeddings=True), torch.float16),
    "llama_llama3": Case("LlamaForCausalLM", llama(rope_parameters=LLAMA3)),
    "llama_llama3_flat": Case("LlamaForCausalLM", llama(rope_parameters=LLAMA3), edit=flat),
    "llama_linear": Case("LlamaForCausalLM", llama(rope_parameters=rope("linear", factor=3.0))),
    "mistral": Case("MistralForCausalLM",
                    lambda: transformers.MistralConfig(**sizes(sliding_window=WINDOW, head_dim=12))),
    "mistral_whole": Case("MistralForCausalLM", lambda: transformers.MistralConfig(**sizes(sliding_window=None))),
    "qwen2": Case("Qwen2ForCausalLM", qwen2()),
    "qwen2_windows": Case("Qwen2ForCausalLM", qwen2(use_sliding_window=True, sliding_window=WINDOW,
                                                    max_window_layers=1)),
    "qwen2_windows_flat": Case("Qwen2ForCausalLM", qwen2(use_sliding_window=True, sliding_window=WINDOW,
                                                         max_window_layers=1), edit=flat),
    "qwen3": Case("Qwen3ForCausalLM", lambda: transformers.Qwen3Config(**sizes(head_dim=16))),
    "qwen3_bf16": Case("Qwen3ForCausalLM",
                       lambda: transformers.Qwen3Config(**sizes(head_dim=16, tie_word_embeddings=True)),
                       torch.bfloat16),
    "gemma": Case("GemmaForCausalLM", lambda: transformers.GemmaConfig(**sizes(head_dim=16, num_key_value_heads=1))),
    "gemma2": Case("Gemma2ForCausalLM", lambda: transformers.Gemma2Config(
        **sizes(num_hidden_layers=4, head_dim=16, query_pre_attn_scalar=24, sliding_window=WINDOW,
                attn_logit_softcapping=2.0, final_logit_softcapping=4.0))),
    "gemma2_flat": Case("Gemma2ForCausalLM", lambda: transformers.Gemma2Config(
        **sizes(num_hidden_layers=4, head_dim=16, query_pre_attn_scalar=24, sliding_window=WINDOW)), edit=flat),
    "gemma3": Case("Gemma3ForCausalLM", gemma3()),
    "gemma3_flat": Case("Gemma3ForCausalLM", gemma3(), edit=flat),
    "gemma3_bf16": Case("Gemma3ForCausalLM", gemma3(), torch.bfloat16),
    "gemma3_images": Case("Gemma3ForConditionalGeneration", images),
    "gemma3_images_flat": Case("Gemma3ForConditionalGeneration", images, edit=usual_left_out),
    "phi3": Case("Phi3ForCausalLM", phi3(sliding_window=WINDOW)),
    "phi3_partial": Case("Phi3ForCausalLM",
                         phi3(hidden_size=96, rope_parameters=rope("default", partial_rotary_factor=0.5))),
    "phi3_long": Case("Phi3ForCausalLM", phi3(**longrope(4, 32))),
    "phi3_short": Case("Phi3ForCausalLM", phi3(**longrope(4, 32)), context=32),
    "phi3_long_flat": Case("Phi3ForCausalLM", phi3(**longrope(4, 32)), edit=flat),
    "gpt2": Case("GPT2LMHeadModel", lambda: transformers.GPT2Config(**GPT2)),
    "gpt2_untied": Case("GPT2LMHeadModel", lambda: transformers.GPT2Config(
        **GPT2, n_inner=100, tie_word_embeddings=False, activation_function="gelu")),
}


def bert(**more):
    return lambda: transformers.BertConfig(
        **dict(vocab_size=97, hidden_size=48, num_hidden_layers=3, num_attention_heads=4, intermediate_size=80,
               max_position_embeddings=64) | more)


def pooling(normalized, **modes):
    modules = ["Transformer", "Pooling"] + (["Normalize"] if normalized else [])
    paths = ["", "1_Pooling", "2_Normalize"]
    return {"modules.json": [{"idx": i, "name": str(i), "path": paths[i], "type": f"sentence_transformers.models.{m}"}
                             for i, m in enumerate(modules)],
            "1_Pooling/config.json": {"word_embedding_dimension": 48, "pooling_mode_cls_token": False,
                                      "pooling_mode_mean_tokens": True, "pooling_mode_max_tokens": False} | modes}


ENCODERS = {
    "bert": Case("BertModel", bert(), context=64),
    "bert_normalized": Case("BertModel", bert(hidden_act="gelu_new"), context=64, files=pooling(True),
                            normalized=True),
    "bert_bf16": Case("BertModel", bert(), torch.bfloat16, context=64, files=pooling(False)),
    "bert_masked": Case("BertForMaskedLM", bert(), context=64),
}
