"""Language models with random weights in the shapes of known ones, as files that aicf-compile reads.

Speed does not depend on the values of weights, so these stand for models whose files are large or licensed. Every
matrix has values of its own: equal ones would be stored once, and read from the device's cache.
"""
import dataclasses
import json
import pathlib
import struct

import numpy as np

ALIGNMENT = 32
NOISE_ELEMENTS = 1 << 24


@dataclasses.dataclass(frozen=True)
class Format:
    """A type of GGUF's matrices: ggml's number of it, and elements and bytes of a block. `scales`: where a block has
    numbers in f16, and which, so that with any codes its elements are of about 0.02. No block: elements."""
    number: int
    elements: int = 1
    bytes: int = 4
    scales: tuple = ()


FORMATS = {
    "F32": Format(0), "F16": Format(1, bytes=2), "BF16": Format(30, bytes=2),
    "Q4_0": Format(2, 32, 18, ((0, 4e-3),)), "Q4_1": Format(3, 32, 20, ((0, 4e-3), (2, -3e-2))),
    "Q5_0": Format(6, 32, 22, ((0, 2e-3),)), "Q5_1": Format(7, 32, 24, ((0, 2e-3), (2, -3e-2))),
    "Q8_0": Format(8, 32, 34, ((0, 3e-4),)),
    "Q2_K": Format(10, 256, 84, ((80, 1e-3), (82, 1.5e-3))), "Q3_K": Format(11, 256, 110, ((108, 4e-4),)),
    "Q4_K": Format(12, 256, 144, ((0, 1e-4), (2, 5e-4))), "Q5_K": Format(13, 256, 176, ((0, 5e-5), (2, 5e-4))),
    "Q6_K": Format(14, 256, 210, ((208, 2e-5),)),
}


@dataclasses.dataclass(frozen=True)
class Shape:
    hidden: int
    layers: int
    heads: int
    key_heads: int
    head_size: int
    feed_forward: int
    vocabulary: int
    tied: bool  # the table of the embedding is also the last matrix

    def matrices(self):
        """Names as Hugging Face has them, GGUF's, and (rows, columns), without the table and the last matrix."""
        wide, kv = self.heads * self.head_size, self.key_heads * self.head_size
        for layer in range(self.layers):
            hf, gguf = f"model.layers.{layer}.", f"blk.{layer}."
            yield hf + "self_attn.q_proj.weight", gguf + "attn_q.weight", (wide, self.hidden)
            yield hf + "self_attn.k_proj.weight", gguf + "attn_k.weight", (kv, self.hidden)
            yield hf + "self_attn.v_proj.weight", gguf + "attn_v.weight", (kv, self.hidden)
            yield hf + "self_attn.o_proj.weight", gguf + "attn_output.weight", (self.hidden, wide)
            yield hf + "mlp.gate_proj.weight", gguf + "ffn_gate.weight", (self.feed_forward, self.hidden)
            yield hf + "mlp.up_proj.weight", gguf + "ffn_up.weight", (self.feed_forward, self.hidden)
            yield hf + "mlp.down_proj.weight", gguf + "ffn_down.weight", (self.hidden, self.feed_forward)

    def norms(self):
        for layer in range(self.layers):
            yield f"model.layers.{layer}.input_layernorm.weight", f"blk.{layer}.attn_norm.weight"
            yield f"model.layers.{layer}.post_attention_layernorm.weight", f"blk.{layer}.ffn_norm.weight"
        yield "model.norm.weight", "output_norm.weight"

    def tables(self):
        yield "model.embed_tokens.weight", "token_embd.weight", (self.vocabulary, self.hidden)
        if not self.tied:
            yield "lm_head.weight", "output.weight", (self.vocabulary, self.hidden)

    def read_bytes(self, element_bytes=2):
        """What a decode step of one token reads of weights."""
        elements = sum(rows * columns for _, _, (rows, columns) in self.matrices())
        return element_bytes * (elements + self.vocabulary * self.hidden)


SHAPES = {
    "smollm2-135m": Shape(576, 30, 9, 3, 64, 1536, 49152, True),
    "llama3.2-1b": Shape(2048, 16, 32, 8, 64, 8192, 128256, True),
    "llama3-8b": Shape(4096, 32, 32, 8, 128, 14336, 128256, False),
}


class Noise:
    """Endless bytes of which no two matrices get the same: slices of a block of noise, each begun further on."""

    def __init__(self, block):
        self._block = np.concatenate([block, block]).view(np.uint8)
        self._size = block.nbytes
        self._begin = 0

    def write(self, file, count, unit):
        self._begin = (self._begin + 7919 * unit) % self._size
        while count > 0:
            piece = min(count, self._size)
            file.write(self._block[self._begin:self._begin + piece].data)
            count -= piece
            self._begin = (self._begin + 104729 * unit) % self._size


def bf16(values):
    return (np.asarray(values, np.float32).view(np.uint32) >> 16).astype(np.uint16)


def write_folder(shape, folder):
    """config.json and model.safetensors in bf16."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps({
        "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_act": "silu",
        "hidden_size": shape.hidden, "num_hidden_layers": shape.layers, "num_attention_heads": shape.heads,
        "num_key_value_heads": shape.key_heads, "head_dim": shape.head_size, "intermediate_size": shape.feed_forward,
        "vocab_size": shape.vocabulary, "tie_word_embeddings": shape.tied, "rms_norm_eps": 1e-5,
        "rope_theta": 500000.0, "max_position_embeddings": 8192, "torch_dtype": "bfloat16"}))
    sizes = {name: (rows, columns) for name, _, (rows, columns) in [*shape.tables(), *shape.matrices()]}
    sizes.update({name: (shape.hidden,) for name, _ in shape.norms()})
    header, at = {}, 0
    for name, size in sizes.items():
        count = 2 * int(np.prod(size))
        header[name] = {"dtype": "BF16", "shape": size, "data_offsets": [at, at + count]}
        at += count
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    noise = Noise(bf16(0.02 * np.random.default_rng(1).standard_normal(NOISE_ELEMENTS)))
    with open(folder / "model.safetensors", "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for size in sizes.values():
            if len(size) == 1:
                file.write(bf16(np.ones(size)).tobytes())
            else:
                noise.write(file, 2 * int(np.prod(size)), 2)
    return folder


def random_matrix(format, count, rng):
    """`count` elements of a format with values of about 0.02."""
    if not format.scales:
        values = (0.02 * rng.standard_normal(count)).astype(np.float32)
        if format.number == FORMATS["BF16"].number:
            return bf16(values)
        return values.astype(np.float16) if format.bytes == 2 else values
    blocks = rng.integers(0, 256, (count // format.elements, format.bytes), np.uint8)
    for at, scale in format.scales:
        blocks[:, at:at + 2] = np.array([scale], np.float16).view(np.uint8)
    return blocks.reshape(-1)


def text_of(value):
    return struct.pack("<Q", len(value)) + value.encode()


def pair(key, value):
    if isinstance(value, str):
        return text_of(key) + struct.pack("<I", 8) + text_of(value)
    if isinstance(value, float):
        return text_of(key) + struct.pack("<If", 6, value)
    return text_of(key) + struct.pack("<II", 4, value)


def write_gguf(shape, path, matrix="Q4_K", table="Q6_K"):
    """A GGUF file with matrices and tables in these formats and norms in f32, without a tokenizer."""
    entries = [(name, size, FORMATS[table]) for _, name, size in shape.tables()]
    entries += [(name, size, FORMATS[matrix]) for _, name, size in shape.matrices()]
    entries += [(name, (shape.hidden,), FORMATS["F32"]) for _, name in shape.norms()]
    pairs = {"general.architecture": "llama", "llama.block_count": shape.layers, "llama.vocab_size": shape.vocabulary,
             "llama.embedding_length": shape.hidden, "llama.feed_forward_length": shape.feed_forward,
             "llama.attention.head_count": shape.heads, "llama.attention.head_count_kv": shape.key_heads,
             "llama.attention.key_length": shape.head_size, "llama.attention.value_length": shape.head_size,
             "llama.rope.dimension_count": shape.head_size, "llama.rope.freq_base": 500000.0,
             "llama.context_length": 8192, "llama.attention.layer_norm_rms_epsilon": 1e-5,
             "tokenizer.ggml.model": "no_vocab"}
    infos, at, sizes = b"", 0, []
    for name, size, format in entries:
        count = int(np.prod(size)) // format.elements * format.bytes
        infos += text_of(name) + struct.pack("<I", len(size)) + struct.pack(f"<{len(size)}Q", *reversed(size))
        infos += struct.pack("<IQ", format.number, at)
        sizes.append(count)
        at += count + -count % ALIGNMENT
    head = b"GGUF" + struct.pack("<IQQ", 3, len(entries), len(pairs))
    head += b"".join(pair(key, value) for key, value in pairs.items()) + infos
    rng = np.random.default_rng(2)
    noise = {format: Noise(random_matrix(format, NOISE_ELEMENTS, rng))
             for format in {FORMATS[matrix], FORMATS[table]}}
    with open(path, "wb") as file:
        file.write(head + bytes(-len(head) % ALIGNMENT))
        for (_, size, format), count in zip(entries, sizes):
            if len(size) == 1:
                file.write(np.ones(size, np.float32).tobytes())
            else:
                noise[format].write(file, count, format.bytes)
            file.write(bytes(-count % ALIGNMENT))
    return path
