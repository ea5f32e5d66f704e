#!/usr/bin/env python3
"""Attention as exporters write it out: every one must become one attention step, and compute the same.

    attention.py --bin build/release/bin [--target cpu] [--device cpu] [--only REGEX] [--random N]

Beside the models of models.py: the forms that older and other exporters have, and N random ones. What is counted is the
lowered program, which is the same for every target: a target without a kernel for attention splits it
later. References by onnx's evaluator; needs onnx and numpy. Exit code 77: they are not there.
"""

import argparse
import re
import sys
import tempfile

try:
    import numpy as np
    import onnx
    from onnx.reference import ReferenceEvaluator
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

import models
import random_attention
import toolkit
from builder import Model
from models import heads, linear, merge

# Cases of models.py, and how many attentions each has.
SHARED = {"bert_encoder": 2, "bert_encoder_guarded": 1, "gpt2_prompt": 2, "gpt2_step": 2,
          "gpt2_chunk": 2, "vit": 2}
PER_MODEL = 25  # random attentions in one model
CASES = {}
LOWEST = np.finfo(np.float32).min


def case(attentions=1):
    def add(function):
        CASES[function.__name__] = (attentions, function)
        return function
    return add


def evaluate(model, outputs):
    return ReferenceEvaluator(model.build(outputs)).run(outputs, model.feeds)


def f32(m, value):
    return m.constant(np.float32(value))


def split(m, x, batch, length, count, size, perm=(0, 2, 1, 3)):
    shaped = m.node("Reshape", [x, m.ints(batch, length, count, size)])
    return m.node("Transpose", [shaped], perm=list(perm))


def projections(m, x, hidden, kv_hidden=None):
    return [linear(m, x, hidden, width) for width in (hidden, kv_hidden or hidden, kv_hidden or hidden)]


@case()
def bert_traced():
    """torch.onnx's tracer: keys transposed with the heads, a division, an integer mask made additive."""
    m = Model(31)
    batch, length, hidden, count = 2, 7, 24, 3
    size = hidden // count
    x = m.random("x", batch, length, hidden)
    marks = np.ones((batch, length), np.int64)
    marks[0, 5:] = 0
    mask = m.node("Unsqueeze", [m.node("Unsqueeze", [m.input("mask", marks), m.ints(1)]), m.ints(2)])
    mask = m.node("Sub", [f32(m, 1), m.node("Cast", [mask], to=1)])
    mask = m.node("Mul", [mask, f32(m, LOWEST)])
    q, k, v = projections(m, x, hidden)
    q, v = (split(m, t, batch, length, count, size) for t in (q, v))
    k = split(m, k, batch, length, count, size, (0, 2, 3, 1))
    scores = m.node("Div", [m.node("MatMul", [q, k]), f32(m, np.sqrt(size))])
    weights = m.node("Softmax", [m.node("Add", [scores, mask])], axis=-1)
    return m.case(merge(m, m.node("MatMul", [weights, v]), batch, length, hidden))


@case(2)
def gpt2_traced():
    """Where with a slice of the triangle that the model stores, -1e4 or the lowest number elsewhere."""
    m = Model(32)
    batch, length, hidden, count, room = 2, 6, 16, 2, 12
    size = hidden // count
    x = m.random("x", batch, length, hidden)
    triangle = m.constant(np.tril(np.ones((room, room), np.uint8))[None, None])
    for fill in (LOWEST, -1e4):
        q, k, v = (split(m, t, batch, length, count, size) for t in m.node(
            "Split", [linear(m, x, hidden, 3 * hidden), m.ints(hidden, hidden, hidden)], 3, axis=2))
        k = m.node("Transpose", [k], perm=[0, 1, 3, 2])
        scores = m.node("Div", [m.node("MatMul", [q, k]), f32(m, np.sqrt(size))])
        seen = triangle
        for axis in (2, 3):
            seen = m.node("Slice", [seen, m.ints(0), m.ints(length), m.ints(axis), m.ints(1)])
        scores = m.node("Where", [m.node("Cast", [seen], to=9), scores, f32(m, fill)])
        weights = m.node("Softmax", [scores], axis=-1)
        x = m.node("Add", [x, merge(m, m.node("MatMul", [weights, v]), batch, length, hidden)])
    return m.case(x)


@case(2)
def t5():
    """No scale; one position bias from a table, with the mask added, serves all layers."""
    m = Model(33)
    batch, length, hidden, count, size = 2, 6, 16, 2, 5
    x = m.random("x", batch, length, hidden)
    marks = np.ones((batch, length), np.float32)
    marks[1, 4:] = 0
    buckets = m.constant(np.clip(np.arange(length)[None] - np.arange(length)[:, None] + 4, 0, 7))
    bias = m.node("Gather", [m.weight(8, count, scale=1), buckets])
    bias = m.node("Unsqueeze", [m.node("Transpose", [bias], perm=[2, 0, 1]), m.ints(0)])
    mask = m.node("Unsqueeze", [m.input("mask", marks), m.ints(1, 2)])
    mask = m.node("Mul", [m.node("Sub", [f32(m, 1), mask]), f32(m, LOWEST)])
    bias = m.node("Add", [bias, mask])
    for _ in range(2):
        q, k, v = (split(m, linear(m, x, hidden, count * size, bias=False), batch, length, count, size)
                   for _ in range(3))
        scores = m.node("MatMul", [q, m.node("Transpose", [k], perm=[0, 1, 3, 2])])
        weights = m.node("Softmax", [m.node("Add", [scores, bias])], axis=-1)
        y = merge(m, m.node("MatMul", [weights, v]), batch, length, count * size)
        x = m.node("Add", [x, linear(m, y, count * size, hidden, bias=False)])
    return m.case(x)


@case()
def t5_cross():
    """A decoder's query of one position over the encoder's keys."""
    m = Model(34)
    batch, keys, hidden, count, size = 2, 9, 16, 2, 8
    x, memory = m.random("x", batch, 1, hidden), m.random("memory", batch, keys, hidden)
    q = split(m, linear(m, x, hidden, hidden, bias=False), batch, 1, count, size)
    k, v = (split(m, linear(m, memory, hidden, hidden, bias=False), batch, keys, count, size)
            for _ in range(2))
    weights = m.node("Softmax", [m.node("MatMul", [q, m.node("Transpose", [k], perm=[0, 1, 3, 2])])],
                     axis=-1)
    return m.case(merge(m, m.node("MatMul", [weights, v]), batch, 1, hidden))


@case()
def vit_packed():
    """timm: one projection, its three parts picked by index."""
    m = Model(35)
    batch, length, hidden, count = 2, 5, 24, 3
    size = hidden // count
    x = linear(m, m.random("x", batch, length, hidden), hidden, 3 * hidden)
    x = m.node("Reshape", [x, m.ints(batch, length, 3, count, size)])
    x = m.node("Transpose", [x], perm=[2, 0, 3, 1, 4])
    q, k, v = (m.node("Gather", [x, m.constant(np.int64(i))], axis=0) for i in range(3))
    q = m.node("Mul", [q, f32(m, size ** -0.5)])
    weights = m.node("Softmax", [m.node("MatMul", [q, m.node("Transpose", [k], perm=[0, 1, 3, 2])])],
                     axis=-1)
    return m.case(merge(m, m.node("MatMul", [weights, v]), batch, length, hidden))


@case()
def opt_batched():
    """bmm on [B * H, L, D]: queries scaled before the heads part, the mask added on four axes."""
    m = Model(36)
    batch, length, hidden, count = 2, 5, 24, 3
    size = hidden // count
    x = m.random("x", batch, length, hidden)
    q, k, v = projections(m, x, hidden)
    q = m.node("Mul", [q, f32(m, size ** -0.5)])
    flat = lambda t: m.node("Reshape", [split(m, t, batch, length, count, size),
                                        m.ints(batch * count, length, size)])
    q, k, v = flat(q), flat(k), flat(v)
    scores = m.node("MatMul", [q, m.node("Transpose", [k], perm=[0, 2, 1])])
    scores = m.node("Reshape", [scores, m.ints(batch, count, length, length)])
    mask = np.where(np.tril(np.ones((length, length))), 0, LOWEST).astype(np.float32)
    scores = m.node("Add", [scores, m.constant(np.broadcast_to(mask, (batch, 1, length, length)).copy())])
    scores = m.node("Reshape", [scores, m.ints(batch * count, length, length)])
    y = m.node("MatMul", [m.node("Softmax", [scores], axis=-1), v])
    y = m.node("Reshape", [y, m.ints(batch, count, length, size)])
    return m.case(merge(m, y, batch, length, hidden))


@case()
def multihead_module():
    """nn.MultiheadAttention: sequence first, batch and heads one axis."""
    m = Model(37)
    length, batch, hidden, count = 6, 2, 16, 4
    size = hidden // count
    x = m.random("x", length, batch, hidden)
    parts = []
    for t in projections(m, x, hidden):
        t = m.node("Reshape", [t, m.ints(length, batch * count, size)])
        parts.append(m.node("Transpose", [t], perm=[1, 0, 2]))
    q, k, v = parts
    q = m.node("Div", [q, f32(m, np.sqrt(size))])
    weights = m.node("Softmax", [m.node("MatMul", [q, m.node("Transpose", [k], perm=[0, 2, 1])])],
                     axis=-1)
    y = m.node("Transpose", [m.node("MatMul", [weights, v])], perm=[1, 0, 2])
    y = m.node("Reshape", [y, m.ints(length * batch, hidden)])
    return m.case(m.node("Reshape", [linear(m, y, hidden, hidden), m.ints(length, batch, hidden)]))


def repeated(m, x, batch, groups, share, length, size):
    """repeat_kv: every head of keys or values for the queries of its group."""
    x = m.node("Unsqueeze", [x, m.ints(2)])
    x = m.node("Expand", [x, m.ints(batch, groups, share, length, size)])
    return m.node("Reshape", [x, m.ints(batch, groups * share, length, size)])


def grouped(length, past, batch=2):
    m = Model(38)
    groups, share, size = 2, 3, 4
    count, hidden, total = groups * share, groups * share * size, past + length
    x = m.random("x", batch, length, hidden)
    q, k, v = projections(m, x, hidden, groups * size)
    q = split(m, q, batch, length, count, size)
    k, v = (split(m, t, batch, length, groups, size) for t in (k, v))
    outputs = []
    if past:
        k = m.node("Concat", [m.random("past_k", batch, groups, past, size), k], axis=2)
        v = m.node("Concat", [m.random("past_v", batch, groups, past, size), v], axis=2)
        outputs = [k, v]
    k, v = (repeated(m, t, batch, groups, share, total, size) for t in (k, v))
    seen = np.tril(np.ones((length, total)), past)
    mask = m.constant(np.where(seen, 0, LOWEST).astype(np.float32)[None, None])
    scores = m.node("MatMul", [q, m.node("Transpose", [k], perm=[0, 1, 3, 2])])
    scores = m.node("Add", [m.node("Mul", [scores, f32(m, size ** -0.5)]), mask])
    y = m.node("MatMul", [m.node("Softmax", [scores], axis=-1), v])
    return m.case([merge(m, y, batch, length, hidden)] + outputs)


@case()
def llama_prompt():
    return grouped(6, 0)


@case()
def llama_step():
    return grouped(1, 5)


@case()
def llama_chunk():
    return grouped(3, 4)


@case()
def mistral_window():
    """A sliding window: a band of the lowest number on both sides."""
    m = Model(39)
    batch, length, count, size, window = 1, 9, 2, 4, 3
    q, k, v = (m.random(n, batch, count, length, size) for n in "qkv")
    i, j = np.arange(length)[:, None], np.arange(length)[None]
    seen = m.constant(((j <= i) & (j > i - window))[None, None])
    scores = m.node("MatMul", [q, m.node("Transpose", [k], perm=[0, 1, 3, 2])])
    scores = m.node("Mul", [scores, f32(m, size ** -0.5)])
    scores = m.node("Where", [seen, scores, f32(m, -np.inf)])
    return m.case(m.node("MatMul", [m.node("Softmax", [scores], axis=-1), v]))


@case()
def swin_window():
    """Windows beside the batch; a mask per window, added on five axes; a bias per head."""
    m = Model(40)
    batch, windows, count, length, size = 2, 3, 2, 4, 5
    rows = batch * windows
    q, k, v = (m.random(n, rows, count, length, size) for n in "qkv")
    q = m.node("Mul", [q, f32(m, size ** -0.5)])
    scores = m.node("MatMul", [q, m.node("Transpose", [k], perm=[0, 1, 3, 2])])
    scores = m.node("Add", [scores, m.weight(1, count, length, length, scale=1)])
    scores = m.node("Reshape", [scores, m.ints(batch, windows, count, length, length)])
    mask = np.where(m.rng.random((1, windows, 1, length, length)) < 0.3, -100, 0).astype(np.float32)
    scores = m.node("Add", [scores, m.constant(mask)])
    scores = m.node("Reshape", [scores, m.ints(rows, count, length, length)])
    return m.case(m.node("MatMul", [m.node("Softmax", [scores], axis=-1), v]))


@case()
def gemma_softcap():
    """A bent score: tanh between two factors; the softmax in f32 between casts of f16 operands."""
    m = Model(41)
    batch, length, count, size, cap = 2, 5, 2, 8, 5.0
    half = np.float16
    q, k, v = (m.random(n, batch, count, length, size, dtype=half) for n in "qkv")
    scores = m.node("MatMul", [q, m.node("Transpose", [k], perm=[0, 1, 3, 2])])
    scores = m.node("Mul", [scores, m.constant(half(0.25))])
    scores = m.node("Tanh", [m.node("Div", [scores, m.constant(half(cap))])])
    scores = m.node("Mul", [scores, m.constant(half(cap))])
    mask = m.constant(np.triu(np.full((length, length), -65504, half), 1)[None, None])
    scores = m.node("Cast", [m.node("Add", [scores, mask])], to=1)
    weights = m.node("Cast", [m.node("Softmax", [scores], axis=-1)], to=10)
    # f16 stores of the product and the weights: 2^-11 each, on scores up to the cap.
    return m.case(m.node("MatMul", [weights, v]), tolerance=("--rel=2e-2", "--atol=1e-2"))


@case()
def padding_guarded():
    """A request without a single key: minus infinity everywhere, and NaN turned into 0."""
    m = Model(42)
    batch, length, count, size = 2, 4, 2, 3
    q, k, v = (m.random(n, batch, count, length, size) for n in "qkv")
    seen = np.ones((batch, 1, 1, length), bool)
    seen[1] = False
    mask = m.node("Where", [m.input("seen", seen), f32(m, 0), f32(m, -np.inf)])
    scores = m.node("MatMul", [q, m.node("Transpose", [k], perm=[0, 1, 3, 2])])
    weights = m.node("Softmax", [m.node("Add", [scores, mask])], axis=-1)
    weights = m.node("Where", [m.node("IsNaN", [weights]), f32(m, 0), weights])
    return m.case(m.node("MatMul", [weights, v]))


@case()
def single_head():
    """Two axes are enough: one head, no batch."""
    m = Model(43)
    q, k, v = m.random("q", 4, 6), m.random("k", 5, 6), m.random("v", 5, 3)
    scores = m.node("MatMul", [q, m.node("Transpose", [k], perm=[1, 0])])
    return m.case(m.node("MatMul", [m.node("Softmax", [scores], axis=-1), v]))


@case(0)
def no_attention():
    """A layer's constant weights around a softmax, and a head mask on the probabilities, stay apart."""
    m = Model(44)
    x = linear(m, m.random("x", 3, 8), 8, 6)
    memory = linear(m, m.node("Softmax", [x], axis=-1), 6, 4)
    q, k, v = (m.random(n, 1, 2, 4, 3) for n in "qkv")
    scores = m.node("MatMul", [q, m.node("Transpose", [k], perm=[0, 1, 3, 2])])
    weights = m.node("Mul", [m.node("Softmax", [scores], axis=-1), m.random("heads", 1, 2, 1, 1)])
    return m.case([memory, m.node("MatMul", [weights, v])])


def families(tools, model):
    """How many attentions and softmaxes the lowered program has."""
    code, text = tools.call("aicf-compile", model, f"--target={tools.target}", "--stop-after=lowered")
    if code != 0:
        return code, text
    softmaxes = len(re.findall(r"(?:^\s*|: )normalize .*kind=0 ", text, re.M))
    return len(re.findall(r"(?:^\s*|: )attention ", text, re.M)), softmaxes


def check(tools, attentions, make):
    with tempfile.TemporaryDirectory() as directory:
        model, feeds, references, tolerance = make()
        path = f"{directory}/model.onnx"
        onnx.save(model, path)
        # A plan for a GPU that the CPU executes needs no device code.
        flags = ["--no-images"] if tools.device == "cpu" and tools.target != "cpu" else []
        ok, why = tools.check(directory, path, feeds, references, tolerance, flags)
        if not ok:
            return why
        found, softmaxes = families(tools, path)
        if found == attentions and (softmaxes == 0 or attentions == 0):
            return ""
        return f"{found} attention steps instead of {attentions}, {softmaxes} softmaxes"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", required=True, help="folder with the tools")
    parser.add_argument("--target", default="cpu")
    parser.add_argument("--device", help="where aicf-run runs; default: the target's")
    parser.add_argument("--only", help="regular expression of case names")
    parser.add_argument("--random", type=int, default=100, help="random attentions")
    args = parser.parse_args()
    tools = toolkit.Tools(args.bin, args.target, args.device)
    Model.run = evaluate
    cases = {name: (count, models.CASES[name]) for name, count in SHARED.items()} | CASES
    for seed in range(0, args.random, PER_MODEL):
        count = min(PER_MODEL, args.random - seed)
        cases[f"random_{seed}"] = (count, lambda s=seed, n=count: random_attention.model(s, n))
    failed = 0
    for name, (attentions, make) in cases.items():
        if args.only and not re.search(args.only, name):
            continue
        why = check(tools, attentions, make)
        print(f"{'FAIL' if why else 'PASS'} {name} ({attentions})")
        failed += bool(why)
        if why:
            print("  " + why.replace("\n", "\n  "))
    print(f"{failed} failed" if failed else "all passed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
