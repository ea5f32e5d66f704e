"""The models of the committed artifacts: together they have every step family and every feature of the format.

Each function gives a Case; its first line says what the model is for.
"""

import dataclasses
import os
import sys

import numpy as np
from onnx import TensorProto, helper

import gguf

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "exporters"))
from builder import Model  # noqa: E402


@dataclasses.dataclass
class Case:
    """A model, its outputs, what aicf-compile is told for every target and for CUDA alone, and whether the
    first axis of its inputs is named, so that samples of several lengths belong to several entry points."""

    model: Model
    outputs: list
    flags: tuple = ()
    cuda_flags: tuple = ()
    more_samples: tuple = ()
    named_axis: bool = False


@dataclasses.dataclass
class LanguageCase:
    """A language model and its samples: metas by name. What no sample gives is zero, and so is the cache."""

    model: gguf.Llama
    samples: list
    flags: tuple = ()
    cuda_flags: tuple = ()


def info(name, element, shape):
    return helper.make_tensor_value_info(name, element, shape)


def image():
    """What vision models are made of: conv, pool, resize, grid sample, boxes, copies between them."""
    m = Model(41)
    x = m.random("x", 1, 4, 12, 12)
    y = m.node("Relu", [m.node("Conv", [x, m.weight(8, 4, 3, 3), m.weight(8)], pads=[1, 1, 1, 1])])
    small = m.node("MaxPool", [y], kernel_shape=[2, 2], strides=[2, 2])
    sizes = m.ints(1, 8, 12, 12)
    large = m.node("Resize", [small, "", "", sizes], mode="linear",
                   coordinate_transformation_mode="half_pixel")
    both = m.node("Concat", [y, large], axis=1)
    grid = m.input("grid", m.rng.uniform(-0.95, 0.95, (1, 5, 5, 2)).astype(np.float32))
    sampled = m.node("GridSample", [both, grid], mode="linear", padding_mode="zeros", align_corners=0)
    corners = m.input("boxes", np.array([[1, 1, 7, 8], [2, 0, 11, 5]], np.float32))
    rois = m.node("RoiAlign", [both, corners, m.ints(0, 0)], output_height=3, output_width=3,
                  sampling_ratio=2, coordinate_transformation_mode="half_pixel")
    shares = m.node("Softmax", [both], axis=1)
    mean = m.node("ReduceMean", [m.node("Mul", [shares, shares]), m.ints(2, 3)], keepdims=0)
    return Case(m, [sampled, rois, mean])


def boxes():
    """Selection by data: best scores, boxes that do not overlap (an output of dynamic extent), writes by index."""
    m = Model(42)
    low = m.rng.uniform(0, 4, (1, 12, 2))
    spans = m.rng.uniform(1, 4, (1, 12, 2))
    corners = m.input("boxes", np.concatenate([low, low + spans], -1).astype(np.float32))
    scores = m.random("scores", 1, 2, 12)
    limit, overlap, least = m.ints(3), m.constant(np.float32([0.4])), m.constant(np.float32([-0.5]))
    kept = m.node("NonMaxSuppression", [corners, scores, limit, overlap, least])
    best, places = m.node("TopK", [scores, m.ints(4)], 2, axis=-1)
    running = m.node("CumSum", [best, m.constant(np.int64(2))])
    back = m.node("ScatterElements", [scores, places, running], axis=2)
    return Case(m, [kept, best, back])


def sequence():
    """What language and speech models are made of: an embedding, products, attention, a recurrent layer."""
    m = Model(43)
    length, hidden, heads = 6, 16, 2
    size = hidden // heads
    ids = m.input("ids", np.array([[3, 1, 4, 1, 5, 9]], np.int64))
    x = m.node("Gather", [m.weight(11, hidden, scale=1), ids], axis=0)
    q, k, v = (m.node("Transpose", [m.node("Reshape", [
        m.node("MatMul", [x, m.weight(hidden, hidden)]), m.ints(1, length, heads, size)])],
        perm=[0, 2, 1, 3]) for _ in range(3))
    scores = m.node("MatMul", [q, m.node("Transpose", [k], perm=[0, 1, 3, 2])])
    scores = m.node("Div", [scores, m.constant(np.float32(np.sqrt(size)))])
    seen = np.where(np.tril(np.ones((length, length))), 0, -1e9).astype(np.float32)
    weights = m.node("Softmax", [m.node("Add", [scores, m.constant(seen)])], axis=-1)
    mixed = m.node("Transpose", [m.node("MatMul", [weights, v])], perm=[0, 2, 1, 3])
    x = m.node("Add", [x, m.node("Reshape", [mixed, m.ints(1, length, hidden)])])
    x = m.node("LayerNormalization", [x, m.near_one(hidden), m.weight(hidden)], axis=-1)
    steps = m.node("Transpose", [x], perm=[1, 0, 2])
    y, last, _ = m.node("LSTM", [steps, m.weight(1, 32, hidden), m.weight(1, 32, 8)], 3, hidden_size=8)
    peak = m.node("ReduceMax", [y, m.ints(0)], keepdims=0)
    return Case(m, [x, last, peak])


def stream():
    """What lives across runs and what a run decides: states, a meta, a guarded branch, a loop."""
    m = Model(44)
    x = m.random("x", 1, 8)
    hidden = m.input("h", np.zeros((1, 8), np.float32))
    ring = m.input("ring", np.zeros((4, 8), np.float32))
    position = m.input("position", np.array([[0]], np.int64))
    trips = m.input("trips", np.array(3, np.int64))
    flag = m.input("flag", np.array(True))
    joined = m.node("Concat", [x, hidden], axis=1)
    h_next = m.node("Tanh", [m.node("MatMul", [joined, m.weight(16, 8)])], ["h_next"])
    ring_next = m.node("ScatterND", [ring, position, h_next], ["ring_next"])
    rows = m.node("ReduceSum", [ring_next, m.ints(0)], keepdims=1)
    left, right = m.weight(8, 8), m.weight(8, 8)
    shape = info("branch", TensorProto.FLOAT, [1, 8])
    branches = [helper.make_graph([helper.make_node("MatMul", [rows, w], ["branch"], name=f"branch_{w}")],
                                  "branch", [], [shape]) for w in (left, right)]
    picked = m.node("If", [flag], then_branch=branches[0], else_branch=branches[1])
    body = helper.make_graph(
        [helper.make_node("MatMul", ["s", left], ["product"], name="trip_product"),
         helper.make_node("Tanh", ["product"], ["s_next"], name="trip_tanh"),
         helper.make_node("Identity", ["go"], ["go_next"], name="trip_go")],
        "body",
        [info("i", TensorProto.INT64, []), info("go", TensorProto.BOOL, []),
         info("s", TensorProto.FLOAT, [1, 8])],
        [info("go_next", TensorProto.BOOL, []), info("s_next", TensorProto.FLOAT, [1, 8])])
    going = m.constant(np.array(True))
    y = m.node("Loop", [trips, going, picked], ["y"], body=body)
    states = ("--state=h:h_next", "--state=ring:ring_next", "--meta=position")
    return Case(m, [y, h_next, ring_next], states)


def product():
    """A product of half precision large enough for tensor maps, swizzles and clusters."""
    m = Model(45)
    a = m.random("a", 256, 64, dtype=np.float16)
    y = m.node("MatMul", [a, m.weight(64, 64, dtype=np.float16)])
    pairs = ("--policy=gemm=cuda.gemm.hopper_pairs_128x128", "--policy-strict")
    return Case(m, [y], ("--math=fp16",), pairs)


def long_sums():
    """Few long sums, which a cluster of blocks forms in parts: steps with a workspace, over a repeated view."""
    m = Model(46)
    x = m.random("x", 2, 1, 200)
    total = m.node("ReduceSum", [m.node("Expand", [x, m.ints(2, 200, 200)]), m.ints(1, 2)], keepdims=0)
    return Case(m, [total])


def batches():
    """Two entry points that share weights; inputs of fewer rows are padded to the smallest that holds them."""
    m = Model(47)
    x = m.random("x", 2, 6)
    y = m.node("Relu", [m.node("MatMul", [x, m.weight(6, 5)])])
    more = {"x": m.rng.standard_normal((6, 6)).astype(np.float32)}
    buckets = ("--bucket=pair=x:2x6", "--bucket=six=x:6x6")
    return Case(m, [y], buckets, more_samples=(more,), named_axis=True)


def packed():
    """A product whose f32 weights a kernel wants in a layout of its own, on both targets."""
    m = Model(48)
    x = m.random("x", 48, 40)
    y = m.node("Relu", [m.node("Add", [m.node("MatMul", [x, m.weight(40, 36)]), m.weight(36)])])
    tensor = ("--policy=gemm=cuda.gemm.tensor", "--policy-strict")
    return Case(m, [y], ("--math=fp16",), tensor)


def excited():
    """Squeeze and excitation: on a GPU one step."""
    m = Model(49)
    x = m.random("x", 1, 8, 6, 6)
    mean = m.node("GlobalAveragePool", [x])
    hidden = m.node("Relu", [m.node("Conv", [mean, m.weight(4, 8, 1, 1), m.weight(4)])])
    gate = m.node("Sigmoid", [m.node("Conv", [hidden, m.weight(8, 4, 1, 1), m.weight(8)])])
    return Case(m, [m.node("Mul", [x, gate])])


def gated():
    """A gated activation, whose product has two halves on a GPU."""
    m = Model(50)
    both = m.node("MatMul", [m.random("x", 64, 64), m.weight(64, 128)])
    gate, up = m.node("Split", [both, m.ints(64, 64)], 2, axis=1)
    return Case(m, [m.node("Mul", [m.node("Mul", [gate, m.node("Sigmoid", [gate])]), up])])


def one_row():
    """Products of one row whose weights stream through shared memory on a GPU: of two halves, and with a residual."""
    m = Model(53)
    x = m.random("x", 1, 256, dtype=np.float16)
    both = m.node("Gemm", [x, m.weight(96, 256, dtype=np.float16)], transB=1)
    gate, up = m.node("Split", [both, m.ints(48, 48)], 2, axis=1)
    hidden = m.node("Mul", [m.node("Mul", [gate, m.node("Sigmoid", [gate])]), up])
    y = m.node("Add", [m.node("Gemm", [hidden, m.weight(256, 48, dtype=np.float16)], transB=1), x])
    return Case(m, [y], ("--math=fp16",), ("--policy=gemm=cuda.gemm.stream", "--policy-strict"))


def text_samples():
    """Metas of one prefill and one decode step, for 48 tokens and pages of 8."""
    draw = {"temperature": np.float32([0.9]), "top_k": np.int32([5]), "top_p": np.float32([0.9]),
            "min_p": np.float32([0.05]), "seeds": np.int64([3])}
    prefill = {"tokens": np.int32([[1, 17, 4, 9, 30, 2, 0, 0]]), "slots": np.int32([1]), "origins": np.int32([0]),
               "lengths": np.int32([6]), "pages": np.int32([[2, 0, 3, 1]]),
               "places": np.int32([[[2, row] if row < 6 else [8, 0] for row in range(8)]]), **draw}
    decode = {"tokens": np.int32([[5], [-1]]), "slots": np.int32([1, 0]), "origins": np.int32([9, 0]),
              "lengths": np.int32([10, 1]), "pages": np.int32([[5, 4, 0, 0], [2, 0, 0, 0]]),
              "places": np.int32([[[4, 1]], [[2, 0]]]),
              **{name: np.repeat(value, 2) for name, value in draw.items()}}
    return [prefill, decode]


def texts():
    """A language model: weights in blocks, a paged cache, prefill and decode that share it, tokens drawn."""
    model = gguf.Llama(gguf.Q8_0, 51, hidden=128, heads=2, key_heads=1, feed_forward=64, vocabulary=48)
    flags = ("--context=32", "--page=8", "--cache=64", "--cache-precision=fp16", "--prefill=8", "--decode=2",
             "--logits", "--math=fp32")
    return LanguageCase(model, text_samples(), flags)


def appending():
    """A language model in 16 bits: on a GPU its decode steps append to the cache as attention begins."""
    model = gguf.Llama(gguf.F16, 52, hidden=128, heads=2, key_heads=1, feed_forward=64, vocabulary=48)
    flags = ("--context=32", "--page=8", "--cache=64", "--precision=fp16", "--cache-precision=fp16", "--prefill=8",
             "--decode=2", "--logits")
    return LanguageCase(model, text_samples(), flags)


CASES = [image, boxes, sequence, stream, product, long_sums, batches, packed, excited, gated, one_row, texts, appending]
