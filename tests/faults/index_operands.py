"""Indices, lengths and other integers that requests bring, far out of range: nothing outside a value is touched.

    index_operands.py --bin build/dev/bin [--target cpu:avx2,cuda:sm_90a] [--keep DIR]

Compiles a model for every op whose operands say where to read or write (--keep leaves the artifacts in a folder, with
device code), and runs each with guard_bands --hostile: every value between bands, two fillings of random bytes, results
bit for bit the same, which they are only when no index leads anywhere it must not. Exit code 1 when one is not.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "exporters"))

import numpy as np  # noqa: E402
import onnx  # noqa: E402
from builder import Model  # noqa: E402

MODELS = {}


def model(opset=20):
    """Declares a model: its function takes a Model and gives the outputs."""

    def add(make):
        def build():
            m = Model(7, opset)
            outputs = make(m)
            outputs = [outputs] if isinstance(outputs, str) else list(outputs)
            return m.build(outputs)

        MODELS[make.__name__] = build
        return make

    return add


def index(m, *shape, dtype=np.int64, name="index"):
    return m.input(name, np.zeros(shape, dtype))


def both_widths(op, **attributes):
    """The op with indices of 64 and of 32 bits along both axes."""

    def make(m):
        x = m.random("x", 6, 8)
        return [m.node(op, [x, index(m, 5, 4, name=f"i{bits}{axis}", dtype=dtype)], axis=axis, **attributes)
                for bits, dtype in ((64, np.int64), (32, np.int32)) for axis in (0, 1)]

    return make


@model()
def gather(m):
    return both_widths("Gather")(m)


@model()
def gather_elements(m):
    return both_widths("GatherElements")(m)


@model()
def embedding(m):
    """Rows of a table, and what is computed with them."""
    rows = m.node("Gather", [m.weight(50, 64), index(m, 2, 9)])
    return m.node("MatMul", [m.node("Relu", [rows]), m.weight(64, 16)])


@model()
def gather_points(m):
    x = m.random("x", 3, 4, 5)
    return [m.node("GatherND", [x, index(m, 6, 2, name="a")]), m.node("GatherND", [x, index(m, 6, 3, name="b")]),
            m.node("GatherND", [x, index(m, 3, 2, 1, name="c")], batch_dims=1)]


@model()
def scatter_elements(m):
    x = m.random("x", 6, 8)
    return [m.node("ScatterElements", [x, index(m, 5, 4, name=f"i{axis}{how}"), m.random(f"u{axis}{how}", 5, 4)],
                   axis=axis, reduction=how) for axis in (0, 1) for how in ("none", "add", "max")]


@model()
def scatter_points(m):
    x = m.random("x", 6, 40)
    return [m.node("ScatterND", [x, index(m, 5, depth, name=f"i{depth}{how}"),
                                 m.random(f"u{depth}{how}", 5, *((40,) if depth == 1 else ()))], reduction=how)
            for depth in (1, 2) for how in ("none", "add")]


@model(24)
def tensor_scatter(m):
    cache = m.random("cache", 2, 16, 8)
    return [m.node("TensorScatter", [cache, m.random("update" + how, 2, 3, 8), index(m, 2, name="i" + how)],
                   axis=1, mode=how) for how in ("linear", "circular")]


@model()
def one_hot(m):
    return m.node("OneHot", [index(m, 4, 5), m.ints(7), m.constant(np.array([0, 1], np.float32))])


@model()
def roi_align(m):
    boxes = m.random("boxes", 5, 4, scale=8)
    return m.node("RoiAlign", [m.random("x", 2, 3, 9, 9), boxes, index(m, 5)], output_height=2, output_width=3)


@model()
def non_max_suppression(m):
    return m.node("NonMaxSuppression", [m.random("boxes", 1, 20, 4), m.random("scores", 1, 2, 20), index(m, 1),
                                        m.constant(np.array([0.5], np.float32))])


@model()
def selected_boxes(m):
    """What a detector does with the selection: rows by its indices, of which most are never written."""
    selected = m.node("NonMaxSuppression", [m.random("boxes", 1, 20, 4), m.random("scores", 1, 1, 20), m.ints(6),
                                            m.constant(np.array([0.5], np.float32))])
    return m.node("Gather", [m.random("rows", 20, 4), m.node("Gather", [selected, m.ints(2)], axis=1)])


@model()
def reverse_sequence(m):
    return m.node("ReverseSequence", [m.random("x", 6, 3, 4), index(m, 3)], time_axis=0, batch_axis=1)


@model()
def recurrent(m):
    x, outputs = m.random("x", 5, 2, 8), []
    for op, gates in (("LSTM", 4), ("GRU", 3), ("RNN", 1)):
        lengths = index(m, 2, dtype=np.int32, name="lengths" + op)
        y = m.node(op, [x, m.weight(1, gates * 16, 8), m.weight(1, gates * 16, 16), "", lengths], 2, hidden_size=16)
        outputs += y
    return outputs


@model(24)
def attention_lengths(m):
    q, k, v = (m.random(name, 2, 4, 6, 16) for name in "qkv")
    return m.node("Attention", [q, k, v, "", "", "", index(m, 2)], 1)


@model(23)
def rotary(m):
    return m.node("RotaryEmbedding", [m.random("x", 2, 2, 6, 8), m.weight(32, 4), m.weight(32, 4), index(m, 2, 6)])


@model()
def rotary_contrib(m):
    return m.contrib("RotaryEmbedding", [m.random("x", 2, 6, 16), index(m, 2, 6), m.weight(32, 4), m.weight(32, 4)])


@model()
def grouped_query_attention(m):
    q, k, v = m.random("q", 2, 1, 64), m.random("k", 2, 1, 32), m.random("v", 2, 1, 32)
    past = [m.random(name, 2, 2, 24, 16) for name in ("past_keys", "past_values")]
    lengths = index(m, 2, dtype=np.int32, name="lengths")
    total = m.constant(np.array(24, np.int32))
    return m.contrib("GroupQueryAttention", [q, k, v, *past, lengths, total], 3, num_heads=4, kv_num_heads=2)


@model()
def embed_layer_norm(m):
    ids, segments = (index(m, 2, 6, dtype=np.int32, name=name) for name in ("ids", "segments"))
    return m.contrib("EmbedLayerNormalization", [ids, segments, m.weight(30, 16), m.weight(8, 16), m.weight(2, 16),
                                                 m.near_one(16), m.weight(16)], ["out", "mask"])[:1]


@model()
def max_unpool(m):
    return m.node("MaxUnpool", [m.random("x", 1, 2, 3, 3), index(m, 1, 2, 3, 3)], kernel_shape=[2, 2], strides=[2, 2])


@model()
def losses(m):
    scores = m.random("scores", 3, 5, 2)
    return [m.node("NegativeLogLikelihoodLoss", [scores, index(m, 3, 2, name="a")], reduction="none"),
            m.node("SoftmaxCrossEntropyLoss", [scores, index(m, 3, 2, name="b")], reduction="none")]


@model()
def trilu(m):
    return m.node("Trilu", [m.random("x", 2, 5, 6), index(m)], upper=0)


@model()
def arithmetic(m):
    """No index, but what ends a processor's patience: divisions by zero, shifts by more bits than there are."""
    a, b = index(m, 64, name="a"), index(m, 64, name="b")
    narrow = [m.node("Cast", [x], to=onnx.TensorProto.INT32) for x in (a, b)]
    bits = [m.node("Cast", [x], to=onnx.TensorProto.UINT32) for x in (a, b)]
    return [m.node("Div", [a, b]), m.node("Mod", [a, b]), m.node("Div", narrow), m.node("Mod", narrow),
            m.node("BitShift", bits, direction="LEFT"), m.node("Abs", [a]), m.node("Neg", [a])]


def targets_here():
    flags = open("/proc/cpuinfo").read() if os.path.exists("/proc/cpuinfo") else ""
    wide = ["cpu:avx512"] if "avx512bw" in flags else []
    return ",".join(["cpu:baseline", "cpu:avx2", *wide, "cuda:sm_90a"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--bin", required=True)
    parser.add_argument("--target", default=targets_here(), help="with commas between them")
    parser.add_argument("--only", default="", help="regular expression of the models' names")
    parser.add_argument("--keep", help="folder that keeps the artifacts, those for CUDA with device code")
    options = parser.parse_args()
    failures, ran = 0, 0
    with tempfile.TemporaryDirectory() as folder:
        out = options.keep or folder
        os.makedirs(out, exist_ok=True)
        artifacts = []
        for name, build in MODELS.items():
            if not re.search(options.only, name):
                continue
            path = os.path.join(folder, name + ".onnx")
            with open(path, "wb") as file:
                file.write(build().SerializeToString())
            for target in options.target.split(","):
                artifact = os.path.join(out, f"{name}.{target.replace(':', '_')}.aicf")
                images = ["--no-images"] if target.startswith("cuda") and not options.keep else []
                done = subprocess.run([os.path.join(options.bin, "aicf-compile"), path, "-o", artifact, "--force",
                                       f"--target={target}", *images], capture_output=True, text=True)
                if done.returncode != 0:
                    failures += 1
                    print(f"FAIL {name} for {target}: {done.stderr[:300]}", flush=True)
                    continue
                artifacts.append(artifact)
        for artifact in artifacts:
            ran += 1
            done = subprocess.run([os.path.join(options.bin, "guard_bands"), artifact, "--hostile"],
                                  capture_output=True, text=True, timeout=120)
            if done.returncode != 0:
                failures += 1
                print(f"FAIL code {done.returncode} {done.stdout[-300:]} {done.stderr[-200:]}", flush=True)
    print(f"{ran} artifacts of {len(MODELS)} models: {failures} failures")
    return 1 if failures or not ran else 0


if __name__ == "__main__":
    sys.exit(main())
