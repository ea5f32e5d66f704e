"""A small GGUF file of a Llama with random weights, by numpy alone."""

import dataclasses
import struct

import numpy as np

ALIGNMENT = 32
F32, F16, Q4_0, Q8_0 = 0, 1, 2, 8  # ggml's numbers of the types


@dataclasses.dataclass
class Llama:
    """`type`: ggml's number of the matrices' type."""

    type: int
    seed: int
    layers: int = 1
    hidden: int = 64
    heads: int = 2
    key_heads: int = 1
    feed_forward: int = 64
    vocabulary: int = 48


def _string(text):
    return struct.pack("<Q", len(text)) + text.encode()


def _pair(key, value):
    if isinstance(value, str):
        return _string(key) + struct.pack("<I", 8) + _string(value)
    if isinstance(value, float):
        return _string(key) + struct.pack("<If", 6, value)
    return _string(key) + struct.pack("<II", 4, value)


def _blocks(values, type):
    """Rows of f32 as the file stores them."""
    if type in (F32, F16):
        return values.astype(np.float32 if type == F32 else np.float16).tobytes()
    steps = 127 if type == Q8_0 else 7
    groups = values.reshape(-1, 32)
    scale = (np.abs(groups).max(1, keepdims=True) / steps).astype(np.float16)
    codes = np.clip(np.round(groups / scale.astype(np.float32)), -steps, steps).astype(np.int8)
    if type == Q4_0:  # element i and element i + 16 share a byte
        nibbles = (codes + 8).astype(np.uint8)
        codes = nibbles[:, :16] | nibbles[:, 16:] << 4
    return b"".join(s.tobytes() + c.tobytes() for s, c in zip(scale, codes))


def _tensors(m):
    """Names with shape, the length of a row last; vectors stay f32."""
    kv = m.hidden // m.heads * m.key_heads
    yield "token_embd.weight", (m.vocabulary, m.hidden)
    yield "output_norm.weight", (m.hidden,)
    for layer in range(m.layers):
        rows = {"attn_q": (m.hidden, m.hidden), "attn_k": (kv, m.hidden), "attn_v": (kv, m.hidden),
                "attn_output": (m.hidden, m.hidden), "ffn_gate": (m.feed_forward, m.hidden),
                "ffn_up": (m.feed_forward, m.hidden), "ffn_down": (m.hidden, m.feed_forward),
                "attn_norm": (m.hidden,), "ffn_norm": (m.hidden,)}
        for name, shape in rows.items():
            yield f"blk.{layer}.{name}.weight", shape


def save(m, path):
    rng = np.random.default_rng(m.seed)
    pairs = {"general.architecture": "llama", "llama.block_count": m.layers, "llama.embedding_length": m.hidden,
             "llama.feed_forward_length": m.feed_forward, "llama.attention.head_count": m.heads,
             "llama.attention.head_count_kv": m.key_heads, "llama.context_length": 64,
             "llama.attention.layer_norm_rms_epsilon": 1e-5}
    infos, data = b"", b""
    for count, (name, shape) in enumerate(_tensors(m), 1):
        vector = len(shape) == 1
        values = 1 + 0.1 * rng.standard_normal(shape) if vector else rng.standard_normal(shape) / np.sqrt(shape[-1])
        infos += _string(name) + struct.pack("<I", len(shape)) + struct.pack(f"<{len(shape)}Q", *reversed(shape))
        infos += struct.pack("<IQ", F32 if vector else m.type, len(data))
        data += _blocks(values, F32 if vector else m.type)
        data += bytes(-len(data) % ALIGNMENT)
    head = b"GGUF" + struct.pack("<IQQ", 3, count, len(pairs))
    head += b"".join(_pair(key, value) for key, value in pairs.items()) + infos
    with open(path, "wb") as file:
        file.write(head + bytes(-len(head) % ALIGNMENT) + data)
