#!/usr/bin/env python3
"""com.microsoft ops, compiled by aicf and compared with ONNX Runtime on random inputs.

    contrib.py --bin build/release/bin [--target cpu] [--device cpu] [--only REGEX]

Needs onnx, onnxruntime and numpy.
"""

import argparse
import sys

import numpy as np

import toolkit
from builder import Model

CASES = {}


def case(function):
    CASES[function.__name__] = function
    return function


def register(name, function):
    CASES[name] = function


# Activations.
for _op in ("Gelu", "QuickGelu", "FastGelu"):

    def _unary(op=_op):
        m = Model(1)
        return m.case(m.contrib(op, [m.random("x", 2, 5, 24, scale=2)]))

    register(f"activation_{_op}", _unary)


@case
def quick_gelu_alpha():
    m = Model(2)
    return m.case(m.contrib("QuickGelu", [m.random("x", 3, 7, scale=2)], alpha=1.25))


@case
def fast_gelu_bias():
    m = Model(3)
    return m.case(m.contrib("FastGelu", [m.random("x", 2, 5, 24), m.random("b", 24)]))


@case
def bias_gelu():
    m = Model(4)
    return m.case(m.contrib("BiasGelu", [m.random("x", 2, 5, 24), m.random("b", 24)]))


# Products.
def fused_matmul(name, a, b, seed=0, **attrs):
    def make():
        m = Model(seed)
        return m.case(m.contrib("FusedMatMul", [m.random("a", *a), m.random("b", *b)], **attrs))

    register(f"fused_matmul_{name}", make)


fused_matmul("alpha", (5, 7), (7, 3), alpha=0.125)
fused_matmul("ta", (7, 5), (7, 3), transA=1)
fused_matmul("tb", (2, 4, 5, 7), (2, 4, 3, 7), transB=1, alpha=0.3)
fused_matmul("tab", (2, 7, 5), (3, 7), transA=1, transB=1)
fused_matmul("batch_a", (5, 2, 4, 7), (2, 4, 7, 3), transBatchA=1)
fused_matmul("batch_b", (2, 4, 5, 7), (7, 2, 4, 3), transBatchB=1)
fused_matmul("batch_a_ta", (7, 2, 4, 5), (2, 4, 7, 3), transBatchA=1, transA=1)
fused_matmul("batch_b_tb", (2, 4, 5, 7), (3, 2, 4, 7), transBatchB=1, transB=1)


for _activation, _attrs in {
    "Relu": {}, "Tanh": {}, "Sigmoid": {}, "LeakyRelu": {"activation_alpha": 0.2},
}.items():

    def _gemm(activation=_activation, attrs=_attrs):
        m = Model(5)
        y = m.contrib("FusedGemm", [m.random("a", 7, 5), m.random("b", 3, 7), m.random("c", 3)],
                      transA=1, transB=1, alpha=0.5, beta=2.0, activation=activation, **attrs)
        return m.case(y)

    register(f"fused_gemm_{_activation}", _gemm)


for _activation, _params in {
    "Relu": [], "Sigmoid": [], "LeakyRelu": [0.1], "Clip": [0.0, 0.5], "HardSigmoid": [0.3, 0.4],
}.items():
    for _residual in (False, True):
        if _residual and _activation != "Relu":
            continue

        def _conv(activation=_activation, params=_params, residual=_residual):
            m = Model(6)
            inputs = [m.random("x", 2, 6, 9, 8), m.weight(4, 3, 3, 3), m.weight(4)]
            if residual:
                inputs.append(m.random("z", 2, 4, 5, 4))
            attrs = {"activation_params": [float(p) for p in params]} if params else {}
            y = m.contrib("FusedConv", inputs, activation=activation, group=2, kernel_shape=[3, 3],
                          pads=[1, 1, 1, 1], strides=[2, 2], **attrs)
            return m.case(y)

        register(f"fused_conv_{_activation}{'_residual' if _residual else ''}", _conv)


# Normalisations.
for _form in ("plain", "bias", "shared_skip", "sum"):

    def _skip(form=_form, simplified=False):
        m = Model(7)
        skip = (5, 24) if form == "shared_skip" else (2, 5, 24)
        inputs = [m.random("x", 2, 5, 24), m.random("skip", *skip), m.near_one(24)]
        if not simplified:
            inputs.append(m.weight(24))
        if form == "bias":
            inputs.append(m.weight(24))
        op = "SkipSimplifiedLayerNormalization" if simplified else "SkipLayerNormalization"
        if form == "sum":
            m.contrib(op, inputs, ["y", "", "", "sum"], epsilon=1e-3)
            return m.case(["y", "sum"])
        return m.case(m.contrib(op, inputs, epsilon=1e-3))

    register(f"skip_layer_norm_{_form}", _skip)
    register(f"skip_simplified_layer_norm_{_form}", lambda f=_form, s=_skip: s(f, True))


@case
def simplified_layer_norm():
    m = Model(8)
    return m.case(m.node("SimplifiedLayerNormalization", [m.random("x", 2, 5, 24), m.near_one(24)],
                         axis=-1, epsilon=1e-4, stash_type=1))


def embed(name, segments=True, positions=False, mask=False, total=False):
    def make():
        m = Model(9)
        ids = m.input("ids", m.rng.integers(0, 30, (2, 6)).astype(np.int32))
        seg = m.input("seg", m.rng.integers(0, 2, (2, 6)).astype(np.int32)) if segments else ""
        inputs = [ids, seg, m.weight(30, 16, scale=1), m.weight(12, 16, scale=1),
                  m.weight(2, 16, scale=1) if segments else "", m.near_one(16), m.weight(16)]
        marks = np.array([[1, 1, 1, 1, 0, 0], [1, 1, 1, 1, 1, 1]], np.int32)
        inputs.append(m.input("mask", marks) if mask else "")
        if positions:
            inputs.append(m.input("pos", m.rng.integers(0, 12, (2, 6)).astype(np.int32)))
        while inputs[-1] == "":
            inputs.pop()
        m.contrib("EmbedLayerNormalization", inputs, ["y", "index"] + (["sum"] if total else []),
                  epsilon=1e-5)
        return m.case(["y"] + (["index"] if mask else []) + (["sum"] if total else []))

    register(f"embed_layer_norm_{name}", make)


embed("plain")
embed("without_segments", segments=False)
embed("mask", mask=True)
embed("position_ids", positions=True, total=True)


# Attention with its projection.
def attention(name, mask=None, past=0, bias=True, extra=None, sizes=None, **attrs):
    def build(bias):
        m = Model(10)
        batch, length, heads, size = 2, 5, 3, 8
        hidden = heads * size
        q, k, v = sizes or (hidden, hidden, hidden)
        total = past + length
        inputs = [m.random("x", batch, length, 20), m.weight(20, q + k + v)]
        inputs.append("" if bias is None else m.constant(bias(m.rng, q + k + v).astype(np.float32)))
        inputs.append("" if mask is None else m.input("mask", mask(batch, length, total).astype(np.int32)))
        inputs.append(m.random("past", 2, batch, heads, past, size) if past else "")
        inputs.append(m.random("extra", *extra(batch, heads, length, total)) if extra else "")
        while inputs[-1] == "":
            inputs.pop()
        if sizes:
            attrs["qkv_hidden_sizes"] = list(sizes)
        outputs = ["y", "present"] if past else ["y"]
        m.contrib("Attention", inputs, outputs, num_heads=heads, **attrs)
        return m, outputs

    def make():
        if bias:
            m, outputs = build(lambda rng, n: rng.standard_normal(n))
            return m.case(outputs)
        # ONNX Runtime crashes without a bias.
        zero, _ = build(lambda rng, n: np.zeros(n))
        m, outputs = build(None)
        return m.case(outputs, reference=zero)

    register(f"attention_{name}", make)


attention("plain")
attention("no_bias", bias=False)
attention("scale", scale=0.4)
attention("value_size", sizes=(24, 24, 36))
attention("causal", unidirectional=1)
attention("past", past=4)
attention("past_causal", past=4, unidirectional=1)
attention("mask_lengths", mask=lambda b, s, t: np.array([3, 5]))
attention("mask_ends_starts", mask=lambda b, s, t: np.array([4, 5, 1, 0]))
attention("mask_keys", mask=lambda b, s, t: np.array([[1] * (t - 2) + [0] * 2, [1] * t]))
attention("mask_keys_past", past=3, mask=lambda b, s, t: np.array([[1] * (t - 2) + [0] * 2, [1] * t]))
attention("mask_3d", mask=lambda b, s, t: (np.arange(b * s * t).reshape(b, s, t) % 4 != 1))
attention("bias", extra=lambda b, n, s, t: (b, n, s, t))
attention("bias_broadcast", extra=lambda b, n, s, t: (1, n, s, t))
attention("filter_value", mask=lambda b, s, t: np.array([[1, 1, 0, 0, 0], [1] * 5]), mask_filter_value=-5.0)


def multi_head(name, form="separate", bias=False, mask=None, past=0, cross=0, extra=None, **attrs):
    def build(form):
        m = Model(11)
        batch, length, heads, size = 2, 5, 3, 8
        hidden, keys = heads * size, cross or length
        total = past + keys
        if form in ("qkv", "qkv_unpacked"):
            packed = m.rng.standard_normal((batch, length, heads, 3, size)).astype(np.float32)
            parts = [packed[:, :, :, i].reshape(batch, length, hidden) for i in range(3)]
            inputs = ([m.input("q", packed), "", ""] if form == "qkv" else
                      [m.input(n, p) for n, p in zip("qkv", parts)])
        elif form in ("kv", "kv_unpacked"):
            packed = m.rng.standard_normal((batch, keys, heads, 2, size)).astype(np.float32)
            parts = [packed[:, :, :, i].reshape(batch, keys, hidden) for i in range(2)]
            inputs = [m.random("q", batch, length, hidden)]
            inputs += ([m.input("k", packed), ""] if form == "kv" else
                       [m.input(n, p) for n, p in zip("kv", parts)])
        elif form == "cached":
            inputs = [m.random("q", batch, length, hidden), m.random("k", batch, heads, keys, size),
                      m.random("v", batch, heads, keys, size)]
        else:
            inputs = [m.random("q", batch, length, hidden), m.random("k", batch, keys, hidden),
                      m.random("v", batch, keys, hidden)]
        inputs.append(m.weight(3 * hidden) if bias else "")
        inputs.append("" if mask is None else m.input("mask", mask(batch, length, total).astype(np.int32)))
        inputs.append(m.random("extra", *extra(batch, heads, length, total)) if extra else "")
        if past:
            inputs += [m.random("pk", batch, heads, past, size), m.random("pv", batch, heads, past, size)]
        while inputs[-1] == "":
            inputs.pop()
        outputs = ["y", "nk", "nv"] if past else ["y"]
        m.contrib("MultiHeadAttention", inputs, outputs, num_heads=heads, **attrs)
        return m, outputs

    def make():
        m, outputs = build(form)
        # ONNX Runtime's CPU has no packed forms.
        packed = form in ("qkv", "kv")
        return m.case(outputs, reference=build(form + "_unpacked")[0] if packed else None)

    register(f"multi_head_{name}", make)


multi_head("separate")
multi_head("bias", bias=True)
multi_head("qkv", form="qkv")
multi_head("kv", form="kv", cross=7)
multi_head("cached", form="cached", cross=7)
multi_head("cross", cross=9, bias=True)
multi_head("past", past=4)
multi_head("past_causal", past=4, unidirectional=1)
multi_head("causal", unidirectional=1, scale=0.2)
multi_head("mask_lengths", mask=lambda b, s, t: np.array([3, 5]))
multi_head("mask_keys", mask=lambda b, s, t: np.array([[1] * (t - 2) + [0] * 2, [1] * t]))
multi_head("mask_rows", mask=lambda b, s, t: (np.arange(b * s * t).reshape(b, s, t) % 3 != 1))
multi_head("attention_bias", extra=lambda b, n, s, t: (1, 1, s, t), past=2)


def group_query(name, batch=2, length=5, past=0, room=None, lengths=None, rotary=False, packed=False,
                constant=False, extra=False, **attrs):
    def make():
        m = Model(12)
        heads, groups, size = 6, 2, 16
        total = past + length
        shape = (batch, length)
        if packed:
            inputs = [m.random("q", *shape, (heads + 2 * groups) * size), "", ""]
        else:
            inputs = [m.random("q", *shape, heads * size), m.random("k", *shape, groups * size),
                      m.random("v", *shape, groups * size)]
        if past or room:
            cache = (batch, groups, room or past, size)
            inputs += [m.random("pk", *cache), m.random("pv", *cache)]
        else:
            inputs += ["", ""]
        ends = np.array(lengths or [total - 1] * batch, np.int32)
        inputs.append(m.constant(ends) if constant else m.input("lengths", ends))
        inputs.append(m.constant(np.array(total, np.int32)))
        if rotary:
            inputs += [m.weight(32, size // 2, scale=1), m.weight(32, size // 2, scale=1)]
            attrs["do_rotary"] = 1
        if extra:
            inputs += [""] * (10 - len(inputs)) + [m.random("extra", 1, 1, length, total)]
        m.contrib("GroupQueryAttention", inputs, ["y", "nk", "nv"], num_heads=heads,
                  kv_num_heads=groups, **attrs)
        # What a cache holds behind the last position is nobody's business.
        return m.case(["y"] if lengths or room else ["y", "nk", "nv"])

    register(f"group_query_{name}", make)


group_query("prompt")
group_query("prompt_packed", packed=True)
group_query("prompt_rotary", rotary=True)
group_query("prompt_rotary_interleaved", rotary=True, rotary_interleaved=1)
group_query("decode", length=1, past=6)
group_query("decode_constant", length=1, past=6, constant=True)
group_query("decode_rotary_packed", length=1, past=6, rotary=True, packed=True)
group_query("decode_uneven", length=1, past=6, lengths=[3, 6])
group_query("decode_room", length=1, past=6, room=12)
group_query("prompt_room", length=5, room=12)
group_query("decode_window", length=1, past=6, local_window_size=3)
group_query("prompt_window", length=7, local_window_size=3)
group_query("prompt_softcap", softcap=2.0, scale=0.9)
group_query("prompt_bias", extra=True)
group_query("chunk", batch=1, length=3, past=6)
group_query("chunk_constant", batch=1, length=3, past=6, constant=True)


def rotary(name, rank=3, ids=True, **attrs):
    def make():
        m = Model(13)
        batch, length, heads, size = 2, 5, 3, 16
        width = attrs.get("rotary_embedding_dim", size) // 2
        shape = (batch, length, heads * size) if rank == 3 else (batch, heads, length, size)
        positions = m.rng.integers(0, 20, (batch, length)) if ids else np.array([4])
        x = m.random("x", *shape)
        y = m.contrib("RotaryEmbedding", [x, m.input("pos", positions.astype(np.int64)),
                                          m.weight(32, width, scale=1), m.weight(32, width, scale=1)],
                      **attrs)
        return m.case(y)

    register(f"rotary_{name}", make)


rotary("3d")
rotary("4d", rank=4)
rotary("offset", ids=False)
rotary("interleaved", interleaved=1)
rotary("partial", rotary_embedding_dim=8, num_heads=3)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", required=True, help="folder with the tools")
    parser.add_argument("--target", default="cpu")
    parser.add_argument("--device", help="where aicf-run runs; default: the target's")
    parser.add_argument("--only", help="regular expression of case names")
    args = parser.parse_args()
    tools = toolkit.Tools(args.bin, args.target, args.device)
    return toolkit.run_cases(CASES, tools, args.only)


if __name__ == "__main__":
    sys.exit(main())
