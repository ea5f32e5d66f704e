"""What seeds.py needs that nobody else in the repository has as files: small models and short texts."""

import io
import json
import struct

import numpy as np
from gguf_files import ARRAY, STRING, entry, file as gguf_file, text, value
from onnx import TensorProto, helper, numpy_helper
from safetensors_folders import framed

F, I64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
U32, F32 = 4, 6


def info(name, shape, dtype=F):
    return helper.make_tensor_value_info(name, dtype, shape)


def constant(name, shape, dtype=np.float32):
    count = int(np.prod(shape))
    return numpy_helper.from_array((np.arange(count) % 7 - 3).astype(dtype).reshape(shape), name)


def indices(name, values):
    return numpy_helper.from_array(np.array(values, np.int64), name)


def whole(nodes, inputs, outputs, constants=()):
    made = [helper.make_node(op, ins.split(" "), outs.split(), name=name, **attributes)
            for name, op, ins, outs, attributes in nodes]
    graph = helper.make_graph(made, "g", inputs, [info(o, None) for o in outputs], list(constants))
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9).SerializeToString()


def loop_model():
    body = helper.make_graph(
        [helper.make_node("Add", ["s", "s"], ["t"], name="double"),
         helper.make_node("ReduceMax", ["t"], ["m"], name="most", keepdims=0),
         helper.make_node("Less", ["m", "limit"], ["go"], name="below")],
        "body", [info("i", [], I64), info("c", [], BOOL), info("s", [4])], [info("go", [], BOOL), info("t", [4])])
    node = helper.make_node("Loop", ["", "start", "x"], ["y"], name="loop", body=body)
    graph = helper.make_graph([node], "g", [info("x", [4])], [info("y", [4])],
                              [numpy_helper.from_array(np.array(True), "start"),
                               numpy_helper.from_array(np.array(100, np.float32), "limit")])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9).SerializeToString()


def small_models():
    """(name, bytes) of models that fuse, share, reuse and guard in different ways."""
    yield "sample", whole(  # sample.cc's
        [("conv", "Conv", "x w", "c", {}), ("relu", "Relu", "c", "r", {}), ("flat", "Reshape", "r s", "f", {}),
         ("product", "MatMul", "f m", "p", {}), ("softmax", "Softmax", "p", "q", {"axis": -1}),
         ("sum", "Add", "p q", "y", {})],
        [info("x", [1, 2, 6, 6])], ["y"],
        [constant("w", (4, 2, 3, 3)), constant("m", (16, 3)), indices("s", [4, 16])])
    yield "image", whole(
        [("pool", "MaxPool", "x", "p", {"kernel_shape": [2, 2], "strides": [2, 2]}),
         ("resize", "Resize", "p  scales", "r", {"mode": "linear"}), ("mix", "Concat", "x r", "c", {"axis": 1}),
         ("norm", "InstanceNormalization", "c one zero", "n", {}), ("mean", "GlobalAveragePool", "n", "g", {}),
         ("turn", "Transpose", "n", "t", {"perm": [0, 2, 3, 1]}), ("top", "TopK", "g k", "v i", {"axis": 1})],
        [info("x", [1, 2, 4, 4])], ["t", "v", "i"],
        [numpy_helper.from_array(np.array([1, 1, 2, 2], np.float32), "scales"), constant("one", (4,)),
         constant("zero", (4,)), indices("k", [2])])
    yield "tokens", whole(
        [("rows", "Gather", "table ids", "e", {}), ("norm", "LayerNormalization", "e one zero", "n", {"axis": -1}),
         ("q", "MatMul", "n wq", "q", {}), ("k", "MatMul", "n wk", "k", {}), ("kt", "Transpose", "k", "kt", {"perm": [0, 2, 1]}),
         ("scores", "MatMul", "q kt", "s", {}), ("soft", "Softmax", "s", "p", {"axis": -1}),
         ("mix", "MatMul", "p n", "o", {}), ("gelu", "Erf", "o", "y", {})],
        [info("ids", [1, 3], I64)], ["y"],
        [constant("table", (6, 4)), constant("one", (4,)), constant("zero", (4,)), constant("wq", (4, 4)), constant("wk", (4, 4))])
    yield "shapes", whole(
        [("cut", "Slice", "x from to", "a", {}), ("pad", "Pad", "a pads", "b", {}), ("scatter", "ScatterND", "b at v", "c", {}),
         ("cum", "CumSum", "c axis", "d", {}), ("cast", "Cast", "d", "e", {"to": I64}), ("hot", "NonZero", "e", "f", {}),
         ("where", "Where", "mask c d", "g", {})],
        [info("x", [3, 4]), info("mask", [3, 1], BOOL)], ["f", "g"],
        [indices("from", [0, 1]), indices("to", [3, 3]), indices("pads", [0, 1, 0, 1]), indices("at", [[0], [2]]),
         constant("v", (2, 4)), numpy_helper.from_array(np.array(1, np.int64), "axis")])
    yield "codes", whole(
        [("quantize", "QuantizeLinear", "x scale zero", "q", {}), ("back", "DequantizeLinear", "q scale zero", "d", {}),
         ("weights", "DequantizeLinear", "w scale zero", "dw", {}), ("product", "MatMul", "d dw", "y", {})],
        [info("x", [2, 8])], ["y"],
        [numpy_helper.from_array(np.array(0.5, np.float32), "scale"), numpy_helper.from_array(np.array(3, np.int8), "zero"),
         constant("w", (8, 4), np.int8)])
    yield "recurrent", whole(
        [("gru", "GRU", "x w r", "y h", {"hidden_size": 2}), ("scan", "Squeeze", "h zero", "s", {}),
         ("sum", "ReduceSum", "s zero", "z", {"keepdims": 0})],
        [info("x", [3, 1, 2])], ["y", "z"], [constant("w", (1, 6, 2)), constant("r", (1, 6, 2)), indices("zero", [0])])
    yield "loop", loop_model()


POLICIES = [b"gemm=ref\n", b"# all of it\nconv=direct   # fast\nnode:pro*=fp32\n", b"step.0=full\nstep.1=programmatic\n",
            b"matmul=cublaslt\nattention=flash\nconv=fp16\n", b"conv=igemm,gemm=packed,node:*=fp32"]
EDITS = [b"set step.0.kernel=cpu.conv.ref\n", b"set node:product.kernel=ref\nset step.1.in-place=own buffer\n",
         b"set step.2.math=fp32\n", b"set node:conv.fusion=separate\n"]
COMMANDS = [(c[0] + c[2:].replace(" ", "\n")).encode() for c in (
    "c m.onnx -o out.aicf --shapes=x:1x2x6x6 --target=cuda:sm_90a --math=fp16 --deterministic",
    "c m.onnx --check --bucket=a=x:1x2 --bucket=b=x:2x2,y: --bind=x:x.npy", "c --from=a.aicf -o b.aicf --set=step.0.kernel=ref",
    "c m.onnx -o o --policy=policy --decisions=log --export-decisions=e --explain=conv --strip --no-images",
    "c m.onnx -o o --timing-cache=cache --error-on-timing-cache-miss --timing-device=NVIDIA",
    "c m.onnx -o o --precision=int8 --calibrate=x:x.npy --calibrate-method=max --golden=x:x.npy,y:x.npy",
    "c m.gguf -o o --context=64 --prefill=8,16 --decode=1,2 --page=32 --cache=128 --cache-precision=fp16 --logits",
    "c m.onnx -o o --state=past:present --state=auto --meta=len --budget=nodes:100 --impossible-branches=nan",
    "c m.onnx --stop-after=lowered --dump-after=all --disable-pass=fuse --disable-fusion=conv --timings --verbose",
    "c --list-ops", "c --help", "c --onnx=m.onnx --saveEngine=o --timingCacheFile=cache",
    "r a.aicf --load-inputs=x:x.npy --load-ref-outputs=y:x.npy --rel=1e-4 --atol=0.1 --rtol=1e-3",
    "r a.aicf --device=cuda:0 --warm-up=10 --duration=1 --iterations=3 --percentile=50,99 --no-cuda-graph --json",
    "r a.aicf --verify=golden --threads=2", "r a.aicf --verify --memory", "r a.aicf --chat --prompt=hi -n 4 --temperature=0.5 --top-p=0.9",
    "r a.aicf --bench-llm -p 16,32 -n 4 -b 1,2", "i a.aicf --explain=0 --json", "i --diff a.aicf a.aicf", "i a.aicf --html=o.html --force",
    "i a.aicf --memory --ascii --entry=main", "i a.aicf --step=1", "i a.aicf --verify", "i a.aicf --summary")]


def arrays():
    for array in (np.zeros((2, 3), np.float32), np.asfortranarray(np.ones((2, 3), np.int64)), np.array(True),
                  np.zeros(0, np.uint8), np.arange(4, dtype=np.float16).reshape(1, 4, 1), np.arange(3, dtype=np.int8)):
        out = io.BytesIO()
        np.lib.format.write_array(out, array)
        yield out.getvalue()
    for version in ((2, 0), (3, 0)):
        out = io.BytesIO()
        np.lib.format.write_array(out, np.zeros(5, np.float64), version=version)
        yield out.getvalue()


def timing_caches(whole_cache):
    """Extracts: a few problems with their times, on a GPU and as if a CPU had been measured."""
    lines = whole_cache.decode().splitlines()
    problems = [l for l in lines if l.startswith("problem ")]
    times = [l for l in lines if l.startswith("time ")]
    device = next(l for l in lines if l.startswith("device "))
    for first in (0, 5):
        names = [p.split()[1] for p in problems[first:first + 3]]
        kept = [t for t in times if t.split()[1] in names][:6]
        yield "\n".join(["aicf-timing-cache 2", *problems[first:first + 3], device, *kept, ""]).encode()
    yield "\n".join(["aicf-timing-cache 2", device, *times[:2], "fit cuda.gemm.* fp32 1.5 2.25 7", ""]).encode()
    cpu = 'device cpu "a processor"'
    time = "time 0060f92d91528d8c98b8ec0343f328d3 cpu.gemm.ref 5.568 0.032 15 aicf-0.1.0"
    yield "\n".join(["aicf-timing-cache 2", cpu, time, "fit cpu.gemm.ref fp32 2 0 4", ""]).encode()
    yield b"aicf-timing-cache 2\n"


BYTE_LEVEL = {
    "normalizer": {"type": "NFC"},
    "pre_tokenizer": {"type": "Sequence", "pretokenizers": [
        {"type": "Digits", "individual_digits": True},
        {"type": "ByteLevel", "add_prefix_space": False, "use_regex": True}]},
    "post_processor": {"type": "TemplateProcessing",
                       "single": [{"SpecialToken": {"id": "<s>"}}, {"Sequence": {"id": "A"}}]},
    "added_tokens": [{"id": 6, "content": "<s>", "special": True}],
    "model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "\u0120": 2, "ab": 3, "\u0120ab": 4, "1": 5},
              "merges": ["a b", ["\u0120", "ab"]]}}
WORD_PIECE = {
    "normalizer": {"type": "BertNormalizer", "lowercase": True}, "pre_tokenizer": {"type": "BertPreTokenizer"},
    "post_processor": {"type": "BertProcessing", "sep": ["[SEP]", 2], "cls": ["[CLS]", 1]},
    "added_tokens": [{"id": 0, "content": "[UNK]", "special": True}, {"id": 1, "content": "[CLS]", "special": True},
                     {"id": 2, "content": "[SEP]", "special": True}],
    "decoder": {"type": "WordPiece", "prefix": "##"},
    "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100,
              "vocab": {"[UNK]": 0, "[CLS]": 1, "[SEP]": 2, "a": 3, "##b": 4, "1": 5}}}
UNIGRAM = {
    "normalizer": {"type": "Sequence", "normalizers": [{"type": "Prepend", "prepend": "\u2581"},
                                                       {"type": "Replace", "pattern": {"String": " "}, "content": "\u2581"}]},
    "added_tokens": [{"id": 0, "content": "<unk>", "special": True}],
    "model": {"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0.0], ["\u2581", -2.0], ["a", -3.0], ["ab", -1.5]]}}
SENTENCE = {
    "normalizer": UNIGRAM["normalizer"], "added_tokens": UNIGRAM["added_tokens"],
    "decoder": {"type": "Sequence", "decoders": [{"type": "Replace", "pattern": {"String": "\u2581"}, "content": " "},
                                                 {"type": "ByteFallback"}, {"type": "Fuse"},
                                                 {"type": "Strip", "content": " ", "start": 1, "stop": 0}]},
    "model": {"type": "BPE", "unk_token": "<unk>", "byte_fallback": True, "fuse_unk": True,
              "vocab": {"<unk>": 0, "<0x41>": 1, "\u2581": 2, "a": 3, "b": 4, "ab": 5}, "merges": ["a b"]}}
TOKENIZER_CONFIG = {"bos_token": "<s>", "eos_token": {"content": "<s>"}, "pad_token": None, "add_bos_token": True,
                    "chat_template": "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>{% endfor %}"}


def as_json(data):
    return json.dumps(data, ensure_ascii=False).encode()


def tokenizers():
    for data in (BYTE_LEVEL, WORD_PIECE, UNIGRAM, SENTENCE):
        yield [("a", as_json(data))]
    yield [("a", as_json(BYTE_LEVEL)), ("u", as_json(TOKENIZER_CONFIG)), ("c", b'{"eos_token_id": [6]}'),
           ("g", b'{"eos_token_id": 6}'), ("x", b"a <s>ab 11\xc3\xa9")]
    for marks in ("<|start_header_id|>user<|end_header_id|>", "[INST] {{ m }} [/INST]", "<start_of_turn>user", "<|user|><|end|>"):
        yield [("a", as_json(SENTENCE)), ("j", marks.encode()), ("x", b"ab")]


def weights(shapes):
    """A safetensors file of zeros."""
    header, at = {}, 0
    for name, shape in shapes.items():
        size = 4 * int(np.prod(shape))
        header[name] = {"dtype": "F32", "shape": list(shape), "data_offsets": [at, at + size]}
        at += size
    return framed(header, bytes(at))


LLAMA = {"model_type": "llama", "num_hidden_layers": 1, "hidden_size": 8, "num_attention_heads": 2, "num_key_value_heads": 1,
         "intermediate_size": 12, "vocab_size": 10, "max_position_embeddings": 64, "tie_word_embeddings": True,
         "rms_norm_eps": 1e-5}


def llama_weights(bias=False, norms=False):
    at = "model.layers.0."
    shapes = {"model.embed_tokens.weight": (10, 8), "model.norm.weight": (8,), at + "input_layernorm.weight": (8,),
              at + "post_attention_layernorm.weight": (8,), at + "self_attn.o_proj.weight": (8, 8),
              at + "mlp.gate_proj.weight": (12, 8), at + "mlp.up_proj.weight": (12, 8), at + "mlp.down_proj.weight": (8, 12)}
    for name, rows in (("q", 8), ("k", 4), ("v", 4)):
        shapes[f"{at}self_attn.{name}_proj.weight"] = (rows, 8)
        if bias:
            shapes[f"{at}self_attn.{name}_proj.bias"] = (rows,)
        if norms and name != "v":
            shapes[f"{at}self_attn.{name}_norm.weight"] = (4,)
    return shapes


def bert_folder():
    shapes = {"embeddings.word_embeddings.weight": (10, 8), "embeddings.position_embeddings.weight": (16, 8),
              "embeddings.token_type_embeddings.weight": (2, 8), "encoder.layer.0.intermediate.dense.weight": (12, 8),
              "encoder.layer.0.output.dense.weight": (8, 12)}
    for name in ("embeddings", "encoder.layer.0.attention.output", "encoder.layer.0.output"):
        shapes[name + ".LayerNorm.weight"] = shapes[name + ".LayerNorm.bias"] = (8,)
    for name in ("self.query", "self.key", "self.value", "output.dense"):
        shapes[f"encoder.layer.0.attention.{name}.weight"] = (8, 8)
    config = {"model_type": "bert", "num_hidden_layers": 1, "hidden_size": 8, "num_attention_heads": 2,
              "intermediate_size": 12, "vocab_size": 10, "max_position_embeddings": 16}
    return {"config.json": as_json(config), "model.safetensors": weights(shapes),
            "modules.json": b'[{"type": "a.Transformer", "path": ""}, {"type": "a.Pooling", "path": "1_Pooling"},'
                            b' {"type": "a.Normalize", "path": "2_Normalize"}]',
            "1_Pooling/config.json": b'{"pooling_mode_mean_tokens": true}'}


def folders():
    llama = {"config.json": as_json(LLAMA), "model.safetensors": weights(llama_weights())}
    yield llama
    yield {**llama, "tokenizer.json": as_json(BYTE_LEVEL), "tokenizer_config.json": as_json(TOKENIZER_CONFIG),
           "generation_config.json": b'{"eos_token_id": [6]}'}
    rope = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
            "original_max_position_embeddings": 32}
    for more in ({"rope_scaling": rope}, {"rope_scaling": {"type": "linear", "factor": 2.0}, "rope_theta": 1e6},
                 {"model_type": "mistral", "sliding_window": 16}):
        yield {**llama, "config.json": as_json({**LLAMA, **more})}
    yield {"config.json": as_json({**LLAMA, "model_type": "qwen2"}), "model.safetensors": weights(llama_weights(bias=True))}
    yield {"config.json": as_json({**LLAMA, "model_type": "qwen3", "head_dim": 4}),
           "model.safetensors": weights(llama_weights(norms=True))}
    yield bert_folder()


def sharded_folders():
    shapes = llama_weights()
    names = sorted(shapes)
    parts = [{n: shapes[n] for n in names[k::2]} for k in (0, 1)]
    index = {"metadata": {"total_size": sum(4 * int(np.prod(s)) for s in shapes.values())},
             "weight_map": {n: f"{k + 1}.safetensors" for k in (0, 1) for n in parts[k]}}
    yield {"config.json": as_json(LLAMA), "model.safetensors.index.json": as_json(index),
           "1.safetensors": weights(parts[0]), "2.safetensors": weights(parts[1])}


def number(key, n):
    return value(key, U32, struct.pack("<I", n))


def real(key, x):
    return value(key, F32, struct.pack("<f", x))


def strings(key, items):
    return value(key, ARRAY, struct.pack("<IQ", STRING, len(items)) + b"".join(text(i) for i in items))


def gguf_model(architecture="llama", hidden=8, kind=0, more=()):
    """One layer; `kind` is the tensor type of the feed-forward weights, whose blocks have 32 elements if not 0."""
    a = architecture + "."
    forward = 12 if kind == 0 else 32
    values = [value("general.architecture", STRING, text(architecture)), number(a + "block_count", 1),
              number(a + "embedding_length", hidden), number(a + "feed_forward_length", forward),
              number(a + "attention.head_count", 2), number(a + "attention.head_count_kv", 1),
              number(a + "context_length", 64), real(a + "attention.layer_norm_rms_epsilon", 1e-5), *more]
    key = hidden // 2
    tensors = {"token_embd": (hidden, 10), "output_norm": (hidden,), "blk.0.attn_norm": (hidden,), "blk.0.ffn_norm": (hidden,),
               "blk.0.attn_q": (hidden, hidden), "blk.0.attn_k": (hidden, key), "blk.0.attn_v": (hidden, key),
               "blk.0.attn_output": (hidden, hidden), "blk.0.ffn_gate": (hidden, forward), "blk.0.ffn_up": (hidden, forward),
               "blk.0.ffn_down": (forward, hidden)}
    block = {0: (1, 4), 1: (1, 2), 2: (32, 18), 8: (32, 34)}
    entries, data = [], b""
    for name, shape in tensors.items():
        used = kind if "ffn_" in name and len(shape) == 2 else 0
        elements, size = block[used]
        entries.append(entry(name + ".weight", shape, used, len(data)))
        data += bytes(int(np.prod(shape)) // elements * size)
        data += bytes(-len(data) % 32)
    return gguf_file(values, entries, data)


def gguf_files():
    yield gguf_model()
    for kind in (1, 2, 8):
        yield gguf_model(hidden=32, kind=kind)
    yield gguf_model(more=[real("llama.rope.freq_base", 1e6), number("llama.rope.dimension_count", 4)])
    tokens = ["<unk>", "<s>", "a", "b", "ab", "\u2581", "<0x41>", "c", "d", "e"]
    tokenizer = [value("tokenizer.ggml.model", STRING, text("llama")), strings("tokenizer.ggml.tokens", tokens),
                 value("tokenizer.ggml.scores", ARRAY, struct.pack("<IQ", F32, 10) + struct.pack("<10f", *range(10))),
                 value("tokenizer.ggml.token_type", ARRAY, struct.pack("<IQ", 5, 10) + struct.pack("<10i", 2, 3, 1, 1, 1, 1, 6, 1, 1, 1)),
                 number("tokenizer.ggml.bos_token_id", 1), number("tokenizer.ggml.eos_token_id", 1),
                 value("tokenizer.chat_template", STRING, text("<|im_start|>"))]
    yield gguf_model(more=tokenizer)
    merges = [value("tokenizer.ggml.model", STRING, text("gpt2")), value("tokenizer.ggml.pre", STRING, text("qwen2")),
              strings("tokenizer.ggml.tokens", ["a", "b", "ab", "\u0120", "<s>", "1", "2", "3", "4", "5"]),
              strings("tokenizer.ggml.merges", ["a b"]),
              value("tokenizer.ggml.token_type", ARRAY, struct.pack("<IQ", 5, 10) + struct.pack("<10i", 1, 1, 1, 1, 3, *[1] * 5))]
    yield gguf_model(more=merges)
