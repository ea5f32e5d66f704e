"""Language models as Hugging Face folders, with nothing but Python."""

import json
import os
import struct


def deep_llama(folder, layers=150, hidden=16, width=32, vocabulary=64):
    """Many small layers. Equal weights would be one constant, so each tensor begins with its own number."""
    shapes = {"model.embed_tokens.weight": (vocabulary, hidden), "model.norm.weight": (hidden,)}
    for layer in range(layers):
        name = f"model.layers.{layer}."
        shapes.update({
            name + "input_layernorm.weight": (hidden,), name + "post_attention_layernorm.weight": (hidden,),
            name + "self_attn.q_proj.weight": (hidden, hidden), name + "self_attn.k_proj.weight": (hidden // 2, hidden),
            name + "self_attn.v_proj.weight": (hidden // 2, hidden), name + "self_attn.o_proj.weight": (hidden, hidden),
            name + "mlp.gate_proj.weight": (width, hidden), name + "mlp.up_proj.weight": (width, hidden),
            name + "mlp.down_proj.weight": (hidden, width)})
    header, data = {}, b""
    for number, (name, shape) in enumerate(shapes.items()):
        count = shape[0] * (shape[1] if len(shape) > 1 else 1)
        tensor = struct.pack("<f", number / 1000) + struct.pack("<f", 0.01) * (count - 1)
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + len(tensor)]}
        data += tensor
    text = json.dumps(header).encode()
    os.makedirs(folder)
    with open(os.path.join(folder, "model.safetensors"), "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)
    with open(os.path.join(folder, "config.json"), "w", encoding="utf-8") as file:
        json.dump({"model_type": "llama", "num_hidden_layers": layers, "hidden_size": hidden,
                   "num_attention_heads": 2, "num_key_value_heads": 1, "intermediate_size": width,
                   "vocab_size": vocabulary, "max_position_embeddings": 128, "tie_word_embeddings": True,
                   "rms_norm_eps": 1e-5}, file)
