"""Small language models with random weights, as Hugging Face folders."""

import json
import struct

import numpy as np

LETTERS = "abcdefghijklmnopqrstuvwxyz"
WORDS = ("[UNK]", "[CLS]", "[SEP]", "a", "##b", "the", "sky", "is", "blue", "sea")


def _save(folder, config, shapes, files, seed):
    rng = np.random.default_rng(seed)
    header, data = {}, b""
    for name, shape in shapes.items():
        values = rng.standard_normal(shape) if len(shape) > 1 else 1 + 0.1 * rng.standard_normal(shape)
        raw = values.astype("<f4").tobytes()
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    folder.mkdir()
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + data)
    for name, content in {"config.json": config, **files}.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(json.dumps(content), encoding="utf-8")
    return folder


def save_llama(folder, tokenizer=True):
    """A model of 32 tokens: letters, a space, a dot, a line break, and the marks of a chat. It says nothing."""
    shapes = {"model.embed_tokens.weight": (32, 16), "model.norm.weight": (16,)}
    layer = "model.layers.0."
    for name, rows, columns in (("self_attn.q", 16, 16), ("self_attn.k", 8, 16), ("self_attn.v", 8, 16),
                                ("self_attn.o", 16, 16), ("mlp.gate", 24, 16), ("mlp.up", 24, 16), ("mlp.down", 16, 24)):
        shapes[f"{layer}{name}_proj.weight"] = (rows, columns)
    for name in ("input_layernorm", "post_attention_layernorm"):
        shapes[f"{layer}{name}.weight"] = (16,)
    config = {"model_type": "llama", "num_hidden_layers": 1, "hidden_size": 16, "num_attention_heads": 2,
              "num_key_value_heads": 1, "intermediate_size": 24, "vocab_size": 32, "max_position_embeddings": 64,
              "tie_word_embeddings": True, "rms_norm_eps": 1e-5, "eos_token_id": 31}
    special = ("<s>", "<|im_start|>", "<|im_end|>")
    vocabulary = {token: i for i, token in enumerate((*LETTERS, "\u0120", ".", "\u010a"))}
    files = {
        "tokenizer.json": {
            "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "use_regex": True},
            "added_tokens": [{"id": 29 + i, "content": token, "special": True} for i, token in enumerate(special)],
            "model": {"type": "BPE", "vocab": vocabulary, "merges": []}},
        "tokenizer_config.json": {
            "eos_token": "<|im_end|>",
            "chat_template": "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>{% endfor %}"}}
    return _save(folder, config, shapes, files if tokenizer else {}, seed=3)


def save_bert(folder):
    """An embedding model of ten words, whose vectors have 8 elements and length 1."""
    layer = "encoder.layer.0."
    shapes = {"embeddings.word_embeddings.weight": (10, 8), "embeddings.position_embeddings.weight": (16, 8),
              "embeddings.token_type_embeddings.weight": (2, 8), f"{layer}intermediate.dense.weight": (12, 8),
              f"{layer}output.dense.weight": (8, 12)}
    for name in ("embeddings", f"{layer}attention.output", f"{layer}output"):
        shapes[f"{name}.LayerNorm.weight"] = shapes[f"{name}.LayerNorm.bias"] = (8,)
    for name in ("self.query", "self.key", "self.value", "output.dense"):
        shapes[f"{layer}attention.{name}.weight"] = (8, 8)
    config = {"model_type": "bert", "num_hidden_layers": 1, "hidden_size": 8, "num_attention_heads": 2,
              "intermediate_size": 12, "vocab_size": 10, "max_position_embeddings": 16}
    special = [{"id": i, "content": WORDS[i], "special": True} for i in range(3)]
    files = {
        "tokenizer.json": {
            "normalizer": {"type": "BertNormalizer", "lowercase": True}, "pre_tokenizer": {"type": "BertPreTokenizer"},
            "post_processor": {"type": "BertProcessing", "sep": ["[SEP]", 2], "cls": ["[CLS]", 1]},
            "added_tokens": special, "decoder": {"type": "WordPiece", "prefix": "##"},
            "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
                      "max_input_chars_per_word": 100, "vocab": {word: i for i, word in enumerate(WORDS)}}},
        "modules.json": [{"type": "a.Transformer", "path": ""}, {"type": "a.Pooling", "path": "1_Pooling"},
                         {"type": "a.Normalize", "path": "2_Normalize"}],
        "1_Pooling/config.json": {"pooling_mode_mean_tokens": True}}
    return _save(folder, config, shapes, files, seed=5)
