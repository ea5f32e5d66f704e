#!/usr/bin/env python3
"""How far the reference outputs of the real models are from the truth, and what a math mode costs them.

    reference_errors.py --models DIR            writes reference_errors.inc beside this file
    reference_errors.py --models DIR --check    compares with it; exit code 1 where it differs

The truth is the same network on the same input in float64: weights and inputs are the model's own numbers,
every operation on them is formed in float64 (the ONNX standard's evaluator; convolutions and pools as below,
since the evaluator's own take hours). Further evaluations round the operands of every product (Conv,
ConvTranspose, MatMul, Gemm, LSTM) to a math mode before they form it, in float64 too: what they are off by is
the price of the mode itself, whatever kernels a program has. For fp32 it is the larger one of rounding
everything down and everything up, which finds the outputs that a rounding decides. DIR holds a manifest.json.
"""

import argparse
import json
import math
import os
import re
import sys
import warnings

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator
from onnx.reference.op_run import OpRun

HERE = os.path.dirname(os.path.abspath(__file__))
FILE = os.path.join(HERE, "reference_errors.inc")
FLOATS = (TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.BFLOAT16)
PRODUCTS = ("Conv", "ConvTranspose", "MatMul", "Gemm", "LSTM")
# Two runs of this script on two machines sum in two orders, in float64; a rounded operand may then fall
# to the other side of a tie, which the models with large errors amplify.
RELATIVE, ABSOLUTE = {"engine": 1e-3, "mode": 0.25}, 1e-7

HEAD = """\
// Made by reference_errors.py, which says how; a test compares. Errors are the largest distance from the
// same network on the same input in float64, scaled by the output's largest magnitude.
//   engine      what the stored reference is off by: no comparison with it can be closer
//   depth       products in a row on the longest way to the output
//   fp32, tf32, fp16   what rounding the operands of every product to the mode costs by itself
//              case                         output                           engine     depth fp32       tf32       fp16
"""


# ---- Rounding of a product's operands.

def towards(infinity):
    def rounded(array):
        near = np.asarray(array, np.float64).astype(np.float32)
        beyond = near > array if infinity < 0 else near < array
        return np.where(beyond, np.nextafter(near, np.float32(infinity)), near).astype(np.float64)
    return rounded


def tf32(array):
    """To 10 mantissa bits, ties away from zero, with the exponents of float32."""
    bits = np.asarray(array, np.float32).view(np.uint32)
    return ((bits + np.uint32(0x1000)) & np.uint32(0xFFFFE000)).view(np.float32).astype(np.float64)


def fp16(array):
    with np.errstate(over="ignore"):
        return np.asarray(array, np.float32).astype(np.float16).astype(np.float64)


def exact(array):
    return array


class Rounding:
    """What products do with their operands; the classes below are made by the evaluator, so it is here."""
    of = staticmethod(exact)


# ---- Operators that the evaluator has in loops over elements.

def window(node_pads, auto_pad, spatial, kernel, strides, dilations):
    """Padding before and after each axis."""
    rank = len(spatial)
    reach = [(k - 1) * d + 1 for k, d in zip(kernel, dilations)]
    if auto_pad in (None, "", "NOTSET"):
        pads = list(node_pads or [0] * 2 * rank)
        return pads[:rank], pads[rank:]
    if auto_pad == "VALID":
        return [0] * rank, [0] * rank
    before, after = [], []
    for extent, stride, size in zip(spatial, strides, reach):
        total = max((math.ceil(extent / stride) - 1) * stride + size - extent, 0)
        less, more = total // 2, total - total // 2
        before.append(less if auto_pad == "SAME_UPPER" else more)
        after.append(more if auto_pad == "SAME_UPPER" else less)
    return before, after


def taps(x, kernel, strides, dilations, counts):
    """(position in the window, the elements that all windows have there)."""
    for at in np.ndindex(*kernel):
        where = tuple(slice(a * d, a * d + (n - 1) * s + 1, s)
                      for a, d, n, s in zip(at, dilations, counts, strides))
        yield at, x[(slice(None), slice(None), *where)]


def lists(kernel, strides, dilations):
    return list(kernel), list(strides or [1] * len(kernel)), list(dilations or [1] * len(kernel))


class Conv(OpRun):
    op_domain = ""

    def _run(self, x, w, b=None, auto_pad=None, dilations=None, group=None, kernel_shape=None, pads=None,
             strides=None):
        kernel, strides, dilations = lists(w.shape[2:], strides, dilations)
        group = group or 1
        before, after = window(pads, auto_pad, x.shape[2:], kernel, strides, dilations)
        x = np.pad(Rounding.of(x), [(0, 0), (0, 0), *zip(before, after)])
        w = Rounding.of(w)
        counts = [(e - (k - 1) * d - 1) // s + 1 for e, k, d, s in zip(x.shape[2:], kernel, dilations, strides)]
        n, take, per = x.shape[0], w.shape[1], w.shape[0] // group
        y = np.zeros((n, group, per, int(np.prod(counts))))
        for at, part in taps(x, kernel, strides, dilations, counts):
            weights = w[(slice(None), slice(None), *at)].reshape(group, per, take)
            if take == 1 and per == 1:
                y += weights[None] * part.reshape(n, group, 1, -1)
            else:
                y += np.matmul(weights[None], part.reshape(n, group, take, -1))
        y = y.reshape(n, group * per, *counts)
        return (y if b is None else y + b.reshape(-1, *[1] * len(kernel)),)


class ConvTranspose(OpRun):
    op_domain = ""

    def _run(self, x, w, b=None, auto_pad=None, dilations=None, group=None, kernel_shape=None,
             output_padding=None, output_shape=None, pads=None, strides=None):
        assert auto_pad in (None, "NOTSET") and not output_shape and (group or 1) == 1
        kernel, strides, dilations = lists(w.shape[2:], strides, dilations)
        rank = len(kernel)
        pads, extra = list(pads or [0] * 2 * rank), list(output_padding or [0] * rank)
        x, w = Rounding.of(x), Rounding.of(w)
        room = [(e - 1) * s + (k - 1) * d + 1 + o
                for e, s, k, d, o in zip(x.shape[2:], strides, kernel, dilations, extra)]
        y = np.zeros((x.shape[0], w.shape[1], *room))
        for at in np.ndindex(*kernel):
            where = tuple(slice(a * d, a * d + (e - 1) * s + 1, s)
                          for a, d, e, s in zip(at, dilations, x.shape[2:], strides))
            y[(slice(None), slice(None), *where)] += np.einsum(
                "nc...,cm->nm...", x, w[(slice(None), slice(None), *at)], optimize=True)
        cut = tuple(slice(p, r - q) for p, q, r in zip(pads[:rank], pads[rank:], room))
        y = y[(slice(None), slice(None), *cut)]
        return (y if b is None else y + b.reshape(-1, *[1] * rank),)


class MaxPool(OpRun):
    op_domain = ""

    def _run(self, x, auto_pad=None, ceil_mode=None, dilations=None, kernel_shape=None, pads=None,
             storage_order=None, strides=None):
        kernel, strides, dilations = lists(kernel_shape, strides, dilations)
        before, after = window(pads, auto_pad, x.shape[2:], kernel, strides, dilations)
        counts = []
        for i, (extent, k, s, d) in enumerate(zip(x.shape[2:], kernel, strides, dilations)):
            left = extent + before[i] + after[i] - (k - 1) * d - 1
            count = (-(-left // s) if ceil_mode else left // s) + 1
            if ceil_mode and (count - 1) * s >= extent + before[i]:
                count -= 1  # the last window would begin in the padding
            after[i] += max(0, (count - 1) * s + (k - 1) * d + 1 - extent - before[i] - after[i])
            counts.append(count)
        x = np.pad(x, [(0, 0), (0, 0), *zip(before, after)], constant_values=-np.inf)
        y = None
        for _, part in taps(x, kernel, strides, dilations, counts):
            y = part if y is None else np.maximum(y, part)
        return (np.ascontiguousarray(y),)


class GlobalMaxPool(OpRun):
    op_domain = ""

    def _run(self, x):
        return (x.max(axis=tuple(range(2, x.ndim)), keepdims=True),)


class Softmax(OpRun):
    """Before opset 13: over all axes from the given one on."""
    op_domain = ""

    def _run(self, x, axis=None):
        flat = x.reshape(int(np.prod(x.shape[:axis], dtype=np.int64)), -1)
        e = np.exp(flat - flat.max(axis=1, keepdims=True))
        return ((e / e.sum(axis=1, keepdims=True)).reshape(x.shape),)


class BatchNormalization(OpRun):
    """Inference; the evaluator's own takes old versions of the op for training."""
    op_domain = ""

    def _run(self, x, scale, bias, mean, variance, epsilon=None, momentum=None, **_):
        scale, bias, mean, variance = (v.reshape(-1, *[1] * (x.ndim - 2))
                                       for v in (scale, bias, mean, variance))
        return ((x - mean) / np.sqrt(variance + (1e-5 if epsilon is None else epsilon)) * scale + bias,)


class MatMul(OpRun):
    op_domain = ""

    def _run(self, a, b):
        return (np.matmul(Rounding.of(a), Rounding.of(b)),)


class Gemm(OpRun):
    op_domain = ""

    def _run(self, a, b, c=None, alpha=None, beta=None, transA=None, transB=None, **_):
        a, b = (a.T if transA else a), (b.T if transB else b)
        y = (1.0 if alpha is None else alpha) * np.matmul(Rounding.of(a), Rounding.of(b))
        return (y if c is None else y + (1.0 if beta is None else beta) * c,)


def sigmoid(x):
    e = np.exp(-np.abs(x))
    return np.where(x >= 0, 1.0, e) / (1.0 + e)


class Sigmoid(OpRun):
    op_domain = ""

    def _run(self, x):
        return (sigmoid(x),)


class LSTM(OpRun):
    """One direction, all sequences of full length, the usual functions."""
    op_domain = ""

    def _run(self, x, w, r, b=None, lengths=None, h0=None, c0=None, p=None, activation_alpha=None,
             activation_beta=None, activations=None, clip=None, direction=None, hidden_size=None,
             input_forget=None, layout=None):
        assert w.shape[0] == 1 and not layout and p is None and lengths is None and not clip
        hidden = r.shape[2]
        bias = np.zeros(8 * hidden) if b is None else b[0]
        h = np.zeros((x.shape[1], hidden)) if h0 is None else h0[0]
        c = np.zeros((x.shape[1], hidden)) if c0 is None else c0[0]
        out = []
        for step in x:
            # Recurrent kernels multiply in full precision whatever the mode; W is an ordinary product.
            gates = Rounding.of(step) @ Rounding.of(w[0]).T + h @ r[0].T + bias[:4 * hidden] + bias[4 * hidden:]
            i, o, f, g = np.split(gates, 4, axis=1)
            c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
            h = sigmoid(o) * np.tanh(c)
            out.append(h)
        return (np.stack(out)[:, None], h[None], c[None])


OPERATORS = [BatchNormalization, Conv, ConvTranspose, GlobalMaxPool, MaxPool, MatMul, Gemm, Sigmoid, LSTM]


# ---- The model in float64.

def doubled(tensor):
    if tensor.data_type not in FLOATS:
        return tensor
    return numpy_helper.from_array(numpy_helper.to_array(tensor).astype(np.float64), tensor.name)


def widen(graph):
    """Every float tensor, type and cast of the graph and of its branches becomes a double."""
    for tensor in graph.initializer:
        tensor.CopyFrom(doubled(tensor))
    for value in [*graph.input, *graph.output, *graph.value_info]:
        if value.type.tensor_type.elem_type in FLOATS:
            value.type.tensor_type.elem_type = TensorProto.DOUBLE
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.TENSOR:
                attribute.t.CopyFrom(doubled(attribute.t))
            elif attribute.type == onnx.AttributeProto.GRAPH:
                widen(attribute.g)
            elif node.op_type == "Cast" and attribute.name == "to" and attribute.i in FLOATS:
                attribute.i = TensorProto.DOUBLE


def depths(graph, known=None):
    """Products in a row on the longest way to each value."""
    depth = dict(known or {})
    for node in graph.node:
        inner = [depths(a.g, depth) for a in node.attribute if a.type == onnx.AttributeProto.GRAPH]
        own = max([depth.get(name, 0) for name in node.input], default=0)
        for branch in inner:
            own = max([own, *branch.values()])
        for name in node.output:
            depth[name] = own + (node.op_type in PRODUCTS)
    return depth


class Network:
    def __init__(self, path):
        model = onnx.load(path)
        self.depth = depths(model.graph)
        widen(model.graph)
        self.names = [o.name for o in model.graph.output]
        opset = next(o.version for o in model.opset_import if o.domain == "")
        for node in model.graph.node:
            if node.op_type == "Softmax" and not node.attribute and opset < 13:
                node.attribute.append(helper.make_attribute("axis", 1))  # its default then
        self.evaluator = ReferenceEvaluator(model, new_ops=OPERATORS + [Softmax] * (opset < 13))

    def run(self, feeds, rounding):
        Rounding.of = staticmethod(rounding)
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            return dict(zip(self.names, self.evaluator.run(None, feeds)))


def precise(array):
    return array.astype(np.float64) if array.dtype.kind == "f" else array


def scaled(found, truth, largest):
    """Largest distance, in units of the stored reference's largest magnitude."""
    return float(np.max(np.abs(precise(found) - truth), initial=0.0)) / largest


def prices(errors):
    return max(errors[:2]), *errors[2:]


def rows_of(name, entry, root):
    network = Network(os.path.join(root, entry["model"]))
    feeds = {t: precise(np.load(os.path.join(root, i["file"]))) for t, i in entry["inputs"].items()}
    truth = network.run(feeds, exact)
    found = [network.run(feeds, mode) for mode in (towards(-np.inf), towards(np.inf), tf32, fp16)]
    rows = []
    for output, file in entry["outputs"].items():
        reference = precise(np.load(os.path.join(root, file)))
        assert reference.shape == truth[output].shape, (name, output)
        largest = float(np.max(np.abs(reference))) or 1.0
        rows.append((name, output, scaled(reference, truth[output], largest), network.depth[output],
                     *prices([scaled(one[output], truth[output], largest) for one in found])))
    return rows


# ---- The file.

def text_of(rows):
    lines = []
    for name, output, engine, depth, *modes in rows:
        first, second = f'"{name}",', f'"{output}",'
        numbers = ", ".join([f"{engine:.3e}", f"{depth:>3}", *(f"{m:.3e}" for m in modes)])
        lines.append(f"AICF_REFERENCE({first:<29} {second:<32} {numbers})\n")
    return HEAD + "".join(lines)


def parsed(text):
    pattern = r'AICF_REFERENCE\("([^"]+)",\s*"([^"]+)",([^)]+)\)'
    return {(m[1], m[2]): tuple(float(n) for n in m[3].split(",")) for m in re.finditer(pattern, text)}


def differences(rows, known):
    out = [f"{key}: has a row and no output" for key in sorted(known.keys() - {r[:2] for r in rows})]
    for name, output, *found in rows:
        want = known.get((name, output))
        if want is None:
            out.append(f"{name} {output}: has no row")
            continue
        kinds = ("engine", None, "mode", "mode", "mode")
        for i, kind in enumerate(kinds):
            slack = RELATIVE[kind] * want[i] + ABSOLUTE if kind else 0
            if abs(found[i] - want[i]) > slack:
                out.append(f"{name} {output}: found {found[i]:.6g}, the file has {want[i]:.6g}")
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--models", default=os.environ.get("AICF_TEST_MODELS"))
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--only", default="", help="regular expression of the cases")
    options = parser.parse_args()
    if not options.models or not os.path.exists(os.path.join(options.models, "manifest.json")):
        print("skipped: AICF_TEST_MODELS names no folder with a manifest.json")
        return 77
    with open(os.path.join(options.models, "manifest.json")) as file:
        cases = {n: e for n, e in json.load(file).items()
                 if "inputs" in e and re.fullmatch(options.only or ".*", n)}
    rows = []
    for name, entry in cases.items():
        rows += rows_of(name, entry, options.models)
        print(f"{name}: done", flush=True)
    if not options.check:
        with open(FILE, "w") as file:
            file.write(text_of(rows))
        return 0
    with open(FILE) as file:
        known = {k: v for k, v in parsed(file.read()).items() if k[0] in cases}
    wrong = differences(rows, known)
    for line in wrong:
        print("FAIL", line)
    # The comparison itself: a row that is twice as large must be found.
    name, output, *numbers = rows[0]
    spoiled = {**known, (name, output): (numbers[0] * 2 + 1e-5, *numbers[1:])}
    if not differences(rows, spoiled):
        print("FAIL a planted error is not found")
        return 1
    print(f"{len(rows)} outputs of {len(cases)} models: " + (f"{len(wrong)} differ" if wrong else "all right"))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
