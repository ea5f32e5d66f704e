"""Group D: folders of safetensors. What headers may hold is tested in compiler/import/safetensors."""

import json
import os
import struct

from case import case, put

CONFIG = {"model_type": "llama", "num_hidden_layers": 1, "hidden_size": 8, "num_attention_heads": 2,
          "num_key_value_heads": 1, "intermediate_size": 12, "vocab_size": 10, "max_position_embeddings": 64,
          "tie_word_embeddings": True, "rms_norm_eps": 1e-5}


def framed(header, data=b"", length=None):
    header = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(header) if length is None else length) + header + data


def folder_of(row, name, code, message, weights, config=CONFIG, more=()):
    @case(row, name, code, message)
    def _(folder):
        model = os.path.join(folder, "model")
        put(folder, "model/config.json", config if isinstance(config, bytes) else json.dumps(config).encode())
        if weights is not None:
            put(folder, "model/model.safetensors", weights)
        for file, content in more:
            put(folder, "model/" + file, content)
        return [model, "-o", os.path.join(folder, "out.aicf")]


def tensor(dtype="F32", shape=(4,), offsets=(0, 16), data=bytes(16), name="t"):
    return framed({name: {"dtype": dtype, "shape": list(shape), "data_offsets": list(offsets)}}, data)


folder_of("D1", "seven bytes", 3, "", bytes(7))
for length in (2**63, 2**64 - 1, 200_000_000, 1000):
    folder_of("D1", f"a header of {length}", 3, "", framed(b"{}", length=length))
folder_of("D2", "no UTF-8", 3, "", framed(b'{"a\xff": 1}'))
folder_of("D2", "a million brackets", 3, "", framed(b'{"a":' + b"[" * 1_000_000))
folder_of("D2", "no object", 3, "", framed(b"[1]"))
folder_of("D2", "a comma too many", 3, "", framed(b'{"t":{"dtype":"F32","shape":[4],"data_offsets":[0,16]},}', bytes(16)))
folder_of("D3", "a key twice", 3, "", framed(b'{"t":{"dtype":"F32","shape":[4],"data_offsets":[0,16]},'
                                            b'"t":{"dtype":"F32","shape":[4],"data_offsets":[0,16]}}', bytes(16)))
folder_of("D4", "begins after its end", 3, "", tensor(offsets=(16, 0)))
folder_of("D4", "beyond the file", 3, "", tensor(shape=(8,), offsets=(0, 32)))
folder_of("D4", "a hole", 3, "", tensor(offsets=(16, 32), data=bytes(32)))
folder_of("D4", "bytes behind the last", 3, "", tensor(data=bytes(20)))
folder_of("D5", "bytes of another shape", 3, "", tensor(shape=(5,)))
folder_of("D5", "a shape that overflows", 3, "", tensor(shape=(2**62, 8)))
for number in ("1e400", "-0", "1.5", "18446744073709551616", '"16"', "-1"):
    folder_of("D6", f"an extent of {number}", 3, "", framed(
        b'{"t":{"dtype":"F32","shape":[' + number.encode() + b'],"data_offsets":[0,16]}}', bytes(16)))
folder_of("D7", "an unknown type", 4, "F99", tensor(dtype="F99"))
folder_of("D8", "metadata of numbers", 3, "expected a string", framed({"__metadata__": {"a": 1}}))
folder_of("D10", "a hundred thousand empty tensors", 4, "is not known", framed(
    {f"t{k}": {"dtype": "F32", "shape": [0], "data_offsets": [0, 0]} for k in range(100_000)}))
folder_of("D9", "an index that names a file elsewhere", 3, "", None, more=[(
    "model.safetensors.index.json", json.dumps({"weight_map": {"t": "../outside.safetensors"}}).encode())])
folder_of("D9", "an index without its shard", 8, "", None, more=[(
    "model.safetensors.index.json", json.dumps({"weight_map": {"t": "a.safetensors"}}).encode())])
folder_of("D2", "a config that is no JSON", 3, "", tensor(), config=b"{,}")
folder_of("D2", "a config of a million brackets", 3, "", tensor(), config=b"[" * 1_000_000)


def linked(row, name, code, message, link, flags=(), config=CONFIG):
    """A folder as a cache of downloads has it: `link` of its files are links to a store beside it."""

    @case(row, name, code, message)
    def _(folder):
        files = {"config.json": json.dumps(config).encode(), "model.safetensors": tensor()}
        for file, content in files.items():
            put(folder, ("store/" if file in link else "model/") + file, content)
        os.makedirs(os.path.join(folder, "model"), exist_ok=True)
        for file in link:
            os.symlink("../store/" + file, os.path.join(folder, "model", file))
        return [os.path.join(folder, "model"), "-o", os.path.join(folder, "out.aicf"),
                *(f.replace("FOLDER", folder) for f in flags)]


linked("B3", "a folder whose config is a link", 3, "--external-data-dir", ["config.json"])
linked("B3", "a folder whose tensors are a link", 3, "--external-data-dir", ["model.safetensors"])
linked("B3", "a folder of links to a store", 4, "is not known of architecture", ["config.json", "model.safetensors"],
       ["--external-data-dir=FOLDER/store"])
