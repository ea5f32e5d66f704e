#!/usr/bin/env python3
"""Layers as PyTorch's exporter writes them, compiled by aicf and compared with ONNX Runtime.

    models.py --bin build/release/bin [--target cpu] [--device cpu] [--only REGEX]

Small versions of what export.py exports with PyTorch itself, for machines without it. Needs onnx,
onnxruntime and numpy.
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


# Pieces, in the exporter's words.
def linear(m, x, inner, outer, bias=True):
    y = m.node("MatMul", [x, m.weight(inner, outer)])
    return m.node("Add", [y, m.weight(outer)]) if bias else y


def layer_norm(m, x, size, epsilon=1e-5):
    return m.node("LayerNormalization", [x, m.near_one(size), m.weight(size)], axis=-1, epsilon=epsilon)


def reshape_by_shape(m, x, tail):
    """[B, S, ...tail] with B and S read from x, as the exporter does for dynamic axes."""
    shape = m.node("Shape", [x], start=0, end=2)
    return m.node("Reshape", [x, m.node("Concat", [shape, m.ints(*tail)], axis=0)], allowzero=1)


def heads(m, x, count, size):
    return m.node("Transpose", [reshape_by_shape(m, x, (count, size))], perm=[0, 2, 1, 3])


def swapped(m, k):
    """k with its last two axes swapped, by a fixed permutation of rank 3."""
    first, length = m.node("Shape", [k], start=0, end=-2), m.node("Shape", [k], start=-2, end=-1)
    width = m.node("Shape", [k], start=-1)
    flat = m.node("Reshape", [k, m.node("Concat", [m.ints(-1), length, width], axis=0)])
    flat = m.node("Transpose", [flat], perm=[0, 2, 1])
    return m.node("Reshape", [flat, m.node("Concat", [first, width, length], axis=0)])


def attention(m, q, k, v, mask=None, guard=False):
    """scaled_dot_product_attention as it is decomposed: the root of the scale on both sides."""
    width = m.node("Gather", [m.node("Shape", [q]), m.ints(-1)])
    one = m.constant(np.array([1], np.float32))
    scale = m.node("Div", [one, m.node("Sqrt", [m.node("Cast", [width], to=1)])])
    root = m.node("Sqrt", [scale])
    scores = m.node("MatMul", [m.node("Mul", [q, root]), m.node("Mul", [swapped(m, k), root])])
    if mask is not None:
        scores = m.node("Add", [scores, mask])
    weights = m.node("Softmax", [scores], axis=-1)
    if guard:
        zero = m.constant(np.float32(0))
        weights = m.node("Where", [m.node("IsNaN", [weights]), zero, weights])
    return m.node("MatMul", [weights, v])


def merge(m, x, batch, length, hidden):
    x = m.node("Transpose", [x], perm=[0, 2, 1, 3])
    return m.node("Reshape", [x, m.ints(batch, length, hidden)], allowzero=1)


def padding_mask(m, marks, length):
    """[B, S] marks as [B, 1, S, S] of 0 and the lowest float."""
    mask = m.node("Unsqueeze", [marks, m.ints(1, 2)])
    batch = m.node("Shape", [marks], start=0, end=1)
    mask = m.node("Expand", [mask, m.node("Concat", [batch, m.ints(1, length, length)], axis=0)])
    inverse = m.node("Sub", [m.constant(np.float32(1)), m.node("Cast", [mask], to=1)])
    hidden = m.node("Cast", [inverse], to=9)
    return m.node("Where", [hidden, m.constant(np.finfo(np.float32).min), inverse])


def bert_layer(m, x, batch, length, hidden, count, mask, guard):
    size = hidden // count
    q, k, v = (heads(m, linear(m, x, hidden, hidden), count, size) for _ in range(3))
    y = merge(m, attention(m, q, k, v, mask, guard), batch, length, hidden)
    x = layer_norm(m, m.node("Add", [linear(m, y, hidden, hidden), x]), hidden, 1e-12)
    y = m.node("Gelu", [linear(m, x, hidden, 4 * hidden)])
    return layer_norm(m, m.node("Add", [linear(m, y, 4 * hidden, hidden), x]), hidden, 1e-12)


def bert(layers, guard=False):
    m = Model(21)
    batch, length, hidden, count = 2, 12, 48, 4
    ids = m.input("input_ids", m.rng.integers(0, 60, (batch, length)))
    types = m.input("token_type_ids", m.rng.integers(0, 2, (batch, length)))
    marks = np.ones((batch, length), np.int64)
    marks[1, 9:] = 0
    mask = padding_mask(m, m.input("attention_mask", marks), length)
    places = m.node("Slice", [m.constant(np.arange(32)[None]), m.ints(0), m.ints(length), m.ints(1)])
    x = m.node("Add", [m.node("Gather", [m.weight(60, hidden, scale=1), ids]),
                       m.node("Gather", [m.weight(2, hidden, scale=1), types])])
    x = m.node("Add", [x, m.node("Gather", [m.weight(32, hidden, scale=1), places])])
    x = layer_norm(m, x, hidden, 1e-12)
    for _ in range(layers):
        x = bert_layer(m, x, batch, length, hidden, count, mask, guard)
    first = m.node("Gather", [x, m.constant(np.int64(0))], axis=1)
    pooled = m.node("Tanh", [m.node("Gemm", [first, m.weight(hidden, hidden), m.weight(hidden)], transB=1)])
    return m.case([x, pooled])


@case
def bert_encoder():
    return bert(2)


@case
def bert_encoder_guarded():
    return bert(1, guard=True)


def gelu_new(m, x):
    cube = m.node("Pow", [x, m.constant(np.float32(3))])
    inner = m.node("Add", [x, m.node("Mul", [cube, m.constant(np.float32(0.044715))])])
    inner = m.node("Tanh", [m.node("Mul", [inner, m.constant(np.float32(np.sqrt(2 / np.pi)))])])
    half = m.node("Mul", [x, m.constant(np.float32(0.5))])
    return m.node("Mul", [half, m.node("Add", [inner, m.constant(np.float32(1))])])


def conv1d(m, x, batch, length, inner, outer):
    """GPT-2's Conv1D: a Gemm on rows."""
    flat = m.node("Reshape", [x, m.ints(-1, inner)], allowzero=1)
    y = m.node("Gemm", [flat, m.weight(inner, outer), m.weight(outer)], beta=1.0)
    return m.node("Reshape", [y, m.ints(batch, length, outer)], allowzero=1)


def gpt2(length, past, layers=2, batch=1):
    m = Model(22)
    hidden, count, vocabulary, room = 48, 4, 70, 64
    size, total = hidden // count, past + length
    ids = m.input("input_ids", m.rng.integers(0, vocabulary, (batch, length)))
    places = m.node("Unsqueeze", [m.node("Range", [m.constant(np.int64(past)), m.constant(np.int64(total)),
                                                   m.constant(np.int64(1))]), m.ints(0)])
    table = m.weight(vocabulary, hidden, scale=1)
    x = m.node("Add", [m.node("Gather", [table, ids]), m.node("Gather", [m.weight(room, hidden), places])])
    rows = m.node("Add", [m.constant(np.arange(length)[:, None]), m.ints(past)])
    seen = m.node("LessOrEqual", [m.constant(np.arange(total)[None]), rows])
    lowest = m.constant(np.finfo(np.float32).min)
    mask = m.node("Where", [seen, m.constant(np.float32(0)), lowest])
    mask = m.node("Expand", [m.node("Unsqueeze", [mask, m.ints(0, 1)]), m.ints(batch, 1, length, total)])
    outputs = []
    for layer in range(layers):
        y = conv1d(m, layer_norm(m, x, hidden), batch, length, hidden, 3 * hidden)
        parts = m.node("Split", [y, m.ints(hidden, hidden, hidden)], 3, axis=2)
        q, k, v = (m.node("Transpose", [m.node("Reshape", [p, m.ints(batch, length, count, size)],
                                               allowzero=1)], perm=[0, 2, 1, 3]) for p in parts)
        if past:
            k = m.node("Concat", [m.random(f"past_key_{layer}", batch, count, past, size), k],
                       [f"present_key_{layer}"], axis=2)
            v = m.node("Concat", [m.random(f"past_value_{layer}", batch, count, past, size), v],
                       [f"present_value_{layer}"], axis=2)
            outputs += [k, v]
        y = merge(m, attention(m, q, k, v, mask), batch, length, hidden)
        x = m.node("Add", [conv1d(m, y, batch, length, hidden, hidden), x])
        y = gelu_new(m, conv1d(m, layer_norm(m, x, hidden), batch, length, hidden, 4 * hidden))
        x = m.node("Add", [x, conv1d(m, y, batch, length, 4 * hidden, hidden)])
    x = layer_norm(m, x, hidden)
    logits = m.node("MatMul", [x, m.node("Transpose", [table], perm=[1, 0])])
    return m.case([logits] + outputs)


@case
def gpt2_prompt():
    return gpt2(9, 0, batch=2)


@case
def gpt2_step():
    return gpt2(1, 17)


@case
def gpt2_chunk():
    return gpt2(4, 6, batch=2)


@case
def vit():
    m = Model(23)
    batch, hidden, count, patch, side = 2, 48, 4, 8, 32
    size, length = hidden // count, (side // patch) ** 2 + 1
    pixels = m.random("pixel_values", batch, 3, side, side)
    x = m.node("Conv", [pixels, m.weight(hidden, 3, patch, patch), m.weight(hidden)],
               kernel_shape=[patch, patch], strides=[patch, patch], pads=[0, 0, 0, 0],
               dilations=[1, 1], group=1, auto_pad="NOTSET")
    x = m.node("Reshape", [x, m.ints(batch, hidden, length - 1)], allowzero=1)
    x = m.node("Transpose", [x], perm=[0, 2, 1])
    first = m.node("Expand", [m.weight(1, 1, hidden, scale=1), m.ints(batch, 1, hidden)])
    x = m.node("Add", [m.node("Concat", [first, x], axis=1), m.weight(1, length, hidden, scale=1)])
    for _ in range(2):
        y = layer_norm(m, x, hidden, 1e-12)
        q, k, v = (heads(m, linear(m, y, hidden, hidden), count, size) for _ in range(3))
        y = merge(m, attention(m, q, k, v), batch, length, hidden)
        x = m.node("Add", [linear(m, y, hidden, hidden), x])
        y = m.node("Gelu", [linear(m, layer_norm(m, x, hidden, 1e-12), hidden, 4 * hidden)])
        x = m.node("Add", [linear(m, y, 4 * hidden, hidden), x])
    x = m.node("Gather", [layer_norm(m, x, hidden, 1e-12), m.constant(np.int64(0))], axis=1)
    return m.case(m.node("Gemm", [x, m.weight(10, hidden), m.weight(10)], transB=1))


def conv(m, x, inner, outer, kernel, stride=1, group=1, pad=None):
    pad = kernel // 2 if pad is None else pad
    return m.node("Conv", [x, m.weight(outer, inner // group, kernel, kernel), m.weight(outer)],
                  kernel_shape=[kernel, kernel], strides=[stride, stride], pads=[pad] * 4,
                  dilations=[1, 1], group=group, auto_pad="NOTSET")


def norm_2d(m, x, channels):
    y = layer_norm(m, m.node("Transpose", [x], perm=[0, 2, 3, 1]), channels, 1e-6)
    return m.node("Transpose", [y], perm=[0, 3, 1, 2])


def convnext_block(m, x, channels):
    y = m.node("Transpose", [conv(m, x, channels, channels, 7, group=channels)], perm=[0, 2, 3, 1])
    y = m.node("Gelu", [linear(m, layer_norm(m, y, channels, 1e-6), channels, 4 * channels)])
    y = m.node("Mul", [linear(m, y, 4 * channels, channels), m.near_one(channels)])
    return m.node("Add", [m.node("Transpose", [y], perm=[0, 3, 1, 2]), x])


@case
def convnext():
    m = Model(24)
    x = norm_2d(m, conv(m, m.random("x", 1, 3, 32, 32), 3, 16, 4, stride=4, pad=0), 16)
    x = convnext_block(m, convnext_block(m, x, 16), 16)
    x = conv(m, norm_2d(m, x, 16), 16, 32, 2, stride=2, pad=0)
    x = convnext_block(m, x, 32)
    x = m.node("ReduceMean", [x, m.ints(-1, -2)], keepdims=1)
    x = m.node("Reshape", [norm_2d(m, x, 32), m.ints(1, 32)], allowzero=1)
    return m.case(m.node("Gemm", [x, m.weight(10, 32), m.weight(10)], transB=1))


def silu(m, x):
    return m.node("Mul", [x, m.node("Sigmoid", [x])])


def batch_norm(m, x, channels):
    positive = m.constant((0.5 + m.rng.random(channels)).astype(np.float32))
    return m.node("BatchNormalization", [x, m.near_one(channels), m.weight(channels), m.weight(channels),
                                         positive], epsilon=1e-5, momentum=0.9)


def mb_conv(m, x, inner, outer, stride):
    wide, narrow = 4 * inner, inner // 4
    y = silu(m, batch_norm(m, conv(m, x, inner, wide, 1), wide))
    y = silu(m, batch_norm(m, conv(m, y, wide, wide, 3, stride, wide), wide))
    gate = m.node("ReduceMean", [y, m.ints(2, 3)], keepdims=1)
    gate = conv(m, silu(m, conv(m, gate, wide, narrow, 1)), narrow, wide, 1)
    y = m.node("Mul", [y, m.node("Sigmoid", [gate])])
    y = batch_norm(m, conv(m, y, wide, outer, 1), outer)
    return m.node("Add", [y, x]) if inner == outer and stride == 1 else y


@case
def efficientnet():
    m = Model(25)
    x = silu(m, batch_norm(m, conv(m, m.random("x", 2, 3, 32, 32), 3, 16, 3, stride=2), 16))
    x = mb_conv(m, mb_conv(m, mb_conv(m, x, 16, 16, 1), 16, 24, 2), 24, 24, 1)
    x = m.node("GlobalAveragePool", [x])
    x = m.node("Reshape", [x, m.ints(2, 24)], allowzero=1)
    return m.case(m.node("Gemm", [x, m.weight(10, 24), m.weight(10)], transB=1))


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
