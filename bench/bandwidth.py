#!/usr/bin/env python3
"""How near the steps that only move bytes come to a plain copy: GB/s of every variant on one GPU.

    bench/bandwidth.py --bin build/release/bin --out DIR [--only REGEX] [--seconds 50] [--state warm|cold]

Makes one ONNX model of many unconnected cases (elementwise, normalize, reduce, pool, copy and resize steps as BERT
and channels-last vision models have them, in f32 and f16), lets aicf-compile --tune measure every variant
worth considering, and prints them by case: microseconds, GB/s over the bytes that the case must move, and that
over what a copy of about as many bytes reaches in the same run. Small cases are there for their latency, so there
the microseconds are the number to look at. "warm": ten runs after each other, what the cache keeps stays
there. Needs onnx, numpy and NVRTC. DIR gets the model, timing-cache.txt, decisions.jsonl and table.txt.
Exit code 1 when the model does not compile.
"""

import argparse
import collections
import json
import math
import pathlib
import re
import subprocess
import sys

import numpy as np
from onnx import TensorProto, helper, numpy_helper, save, shape_inference

DTYPES = {"f32": (TensorProto.FLOAT, np.float32), "f16": (TensorProto.FLOAT16, np.float16)}
CASES = {}


class Model:
    """Unconnected cases; names begin with that of the case in hand, and floats have its dtype."""

    def __init__(self):
        self.inputs, self.nodes, self.constants, self.outputs = [], [], [], []
        self.case = self.dtype = None

    def name(self):
        return f"{self.case}/{len(self.inputs) + len(self.nodes) + len(self.constants)}"

    def input(self, *shape):
        self.inputs.append(helper.make_tensor_value_info(self.name(), DTYPES[self.dtype][0], shape))
        return self.inputs[-1].name

    def constant(self, array):
        self.constants.append(numpy_helper.from_array(array, self.name()))
        return self.constants[-1].name

    def vector(self, *shape):
        random = np.random.default_rng(len(self.constants))
        return self.constant((1 + 0.1 * random.standard_normal(shape)).astype(DTYPES[self.dtype][1]))

    def node(self, op, *inputs, **attributes):
        name = self.name()
        self.nodes.append(helper.make_node(op, list(inputs), [name], name=name, **attributes))
        return name

    def add(self, case, dtype, function):
        self.case, self.dtype = case, dtype
        self.outputs.append(helper.make_empty_tensor_value_info(function(self)))

    def build(self):
        graph = helper.make_graph(self.nodes, "cases", self.inputs, self.outputs, self.constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
        return shape_inference.infer_shapes(model)


def bytes_by_case(model):
    """What each case must move: every input, constant and output once."""
    sizes = {t: np.dtype(helper.tensor_dtype_to_np_dtype(t)).itemsize for t in (1, 7, 10)}
    moved = collections.Counter()
    for value in [*model.graph.input, *model.graph.output]:
        kind = value.type.tensor_type
        moved[value.name.split("/")[0]] += sizes[kind.elem_type] * math.prod(d.dim_value for d in kind.shape.dim)
    for tensor in model.graph.initializer:
        moved[tensor.name.split("/")[0]] += sizes[tensor.data_type] * math.prod(tensor.dims)
    return moved


def case(name, dtypes=("f32", "f16")):
    """Registers a function of a Model that returns the result's name."""

    def add(function):
        for dtype in dtypes:
            CASES[f"{name} {dtype}"] = (dtype, function)

    return add


def channels_first(m, x):
    """The NCHW form of a tensor that lies as NHWC: a view."""
    return m.node("Transpose", x, perm=[0, 3, 1, 2])


def channels_last(m, x):
    return m.node("Transpose", x, perm=[0, 2, 3, 1])


def elementwise_cases():
    for label, shape in (("128x768", (128, 768)), ("4096x3072", (4096, 3072)), ("16Mi", (16384, 1024))):
        case(f"add {label}")(lambda m, s=shape: m.node("Add", m.input(*s), m.input(*s)))
        case(f"silu {label}")(
            lambda m, s=shape: m.node("Mul", m.node("Sigmoid", x := m.input(*s)), x))
        case(f"widen {label}", ["f16"])(
            lambda m, s=shape: m.node("Cast", m.input(*s), to=TensorProto.FLOAT))
        case(f"narrow {label}", ["f32"])(
            lambda m, s=shape: m.node("Cast", m.input(*s), to=TensorProto.FLOAT16))
    case("gelu 4096x3072", ["f16"])(lambda m: gelu(m, m.input(4096, 3072)))
    for side, channels in ((112, 32), (28, 240), (7, 1152)):
        case(f"excite {side}x{side}x{channels}")(
            lambda m, s=side, c=channels: m.node("Mul", m.input(1, s, s, c), m.input(1, 1, 1, c)))


def gelu(m, x):
    size = DTYPES[m.dtype][1]
    inner = m.node("Erf", m.node("Mul", x, m.constant(size(math.sqrt(0.5)))))
    half = m.node("Mul", x, m.constant(size(0.5)))
    return m.node("Mul", half, m.node("Add", inner, m.constant(size(1))))


def normalize_cases():
    for rows, size in ((128, 768), (197, 768), (4096, 768), (3072, 1024), (21845, 768), (3136, 96), (4096, 4096), (32, 40960)):
        case(f"layer_norm {rows}x{size}")(lambda m, r=rows, c=size: layer_norm(m, m.input(r, c), c))
    case("add_layer_norm 128x768")(
        lambda m: layer_norm(m, m.node("Add", m.input(128, 768), m.input(128, 768)), 768))
    for rows, size in ((1536, 128), (2364, 197), (49152, 128), (131072, 128), (4096, 4096), (1, 1000)):
        case(f"softmax {rows}x{size}")(lambda m, r=rows, c=size: m.node("Softmax", m.input(r, c), axis=-1))


def layer_norm(m, x, size):
    return m.node("LayerNormalization", x, m.vector(size), m.vector(size), axis=-1)


def reduce_cases():
    for n, side, c in ((1, 7, 2048), (32, 7, 2048), (1, 112, 32), (1, 28, 240), (1, 7, 1152), (32, 56, 256)):
        case(f"mean {n}x{side}x{side}x{c} channels last")(
            lambda m, s=(n, side, side, c): m.node("ReduceMean", m.input(*s), m.constant(np.array([1, 2])), keepdims=1))
    case("mean 4096x4096 rows")(
        lambda m: m.node("ReduceMean", m.input(4096, 4096), m.constant(np.array([1])), keepdims=0))


def pool_cases():
    for n in (1, 32):
        case(f"max_pool {n}x112x112x64 channels last")(lambda m, n=n: channels_last(m, m.node(
            "MaxPool", channels_first(m, m.input(n, 112, 112, 64)), kernel_shape=[3, 3], strides=[2, 2],
            pads=[1, 1, 1, 1])))
    case("average_pool 1x56x56x128 channels last")(lambda m: channels_last(m, m.node(
        "AveragePool", channels_first(m, m.input(1, 56, 56, 128)), kernel_shape=[2, 2], strides=[2, 2])))


def copy_cases():
    for label, rows in (("96Ki", 32), ("1Mi", 342), ("3Mi", 1024), ("16Mi", 5462), ("32Mi", 10922)):
        case(f"copy {label} elements")(
            lambda m, r=rows: m.node("Concat", m.input(r // 2, 3072), m.input(r - r // 2, 3072), axis=0))
    case("transpose 1x3x224x224")(lambda m: m.node("Transpose", m.input(1, 3, 224, 224), perm=[0, 2, 3, 1]))
    case("transpose 4096x4096")(lambda m: m.node("Transpose", m.input(4096, 4096), perm=[1, 0]))
    case("heads 128x12x64")(lambda m: m.node("Transpose", m.input(128, 12, 64), perm=[1, 0, 2]))
    case("join 56x56x64+32")(lambda m: m.node("Concat", m.input(1, 56, 56, 64), m.input(1, 56, 56, 32), axis=3))


def resize_cases():
    for mode in ("nearest", "linear"):
        for n, side, c in ((1, 64, 320), (8, 128, 256)):
            case(f"resize {mode} {n}x{side}x{side}x{c} channels last")(
                lambda m, s=(n, side, side, c), mode=mode: channels_last(m, m.node(
                    "Resize", channels_first(m, m.input(*s)), "", m.constant(np.float32([1, 1, 2, 2])), mode=mode,
                    coordinate_transformation_mode="asymmetric" if mode == "nearest" else "half_pixel",
                    nearest_mode="floor")))


for make in (elementwise_cases, normalize_cases, reduce_cases, pool_cases, copy_cases, resize_cases):
    make()

def measured(decisions):
    """case -> [{variant: median us} of each of its steps], from the lines of exported decisions."""
    steps = collections.defaultdict(dict)
    for line in decisions.splitlines():
        said = json.loads(line)
        if said["kind"] not in ("kernel", "parameters") or not said.get("nodes"):
            continue
        times = steps[said["nodes"][0].split(":")[-1].split("/")[0]].setdefault(said["step"], {})
        if said["kind"] == "kernel":
            kernel = said["choice"].removeprefix("cuda.")
            others = {a["choice"].removeprefix("cuda."): a for a in said["alternatives"]}
            times["kernel"] = kernel
        else:
            kernel = times.pop("kernel", "")
            others = {f"{kernel} {a['choice']}": a for a in [said, *said["alternatives"]]}
        times.update({name: other["measured_us"] for name, other in others.items() if "measured_us" in other})
    for of_case in steps.values():
        for times in of_case.values():
            times.pop("kernel", None)
    return {case: list(of_case.values()) for case, of_case in steps.items()}


def copy_rates(times, moved):
    """(bytes, GB/s) of the plain copies."""
    return [(moved[case], moved[case] / min(steps[0].values()) / 1e3)
            for case, steps in times.items() if case.startswith("copy ") and steps[0]]


def nearest_rate(rates, moved):
    """What a copy of about as many bytes reaches."""
    return min(rates, key=lambda rate: abs(math.log(rate[0] / moved)))[1] if rates else float("nan")


def table(times, moved):
    rates = copy_rates(times, moved)
    yield f"{'case':42} {'us':>8} {'MB':>7} {'GB/s':>6} {'/copy':>6}  variant"
    for case, steps in times.items():
        for index, step in enumerate(steps):
            for variant, us in sorted(step.items(), key=lambda item: item[1]):
                rate = moved[case] / us / 1e3
                part = case if len(steps) == 1 else f"{case}, step {index + 1} of {len(steps)}"
                yield (f"{part:42} {us:8.2f} {moved[case] / 1e6:7.2f} {rate:6.0f} "
                       f"{rate / nearest_rate(rates, moved[case]):6.2f}  {variant}")


def compile_model(args, model):
    """The exported decisions, or the error's text and False."""
    save(model, args.out / "cases.onnx")
    command = [args.bin / "aicf-compile", args.out / "cases.onnx", "-o", args.out / "cases.aicf", "--force", "--strip",
               f"--target={args.target}", f"--export-decisions={args.out / 'decisions.jsonl'}"]
    if not args.compile_only:
        cache = args.out / "timing-cache.txt"
        cache.unlink(missing_ok=True)
        command += [f"--tune={args.seconds:.0f}", f"--tune-state={args.state}", f"--timing-cache={cache}"]
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    return (args.out / "decisions.jsonl").read_text() if done.returncode == 0 else done.stderr, done.returncode == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", type=pathlib.Path, required=True, help="folder with aicf-compile")
    parser.add_argument("--out", type=pathlib.Path, required=True, help="folder for models and times")
    parser.add_argument("--target", default="cuda:sm_90a")
    parser.add_argument("--only", default="", help="regular expression of cases; the copies are always there")
    parser.add_argument("--seconds", type=float, default=50, help="of measuring at most")
    parser.add_argument("--state", choices=["warm", "cold"], default="warm")
    parser.add_argument("--compile-only", action="store_true", help="measure nothing, on a machine without a GPU")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    model = Model()
    for name, (dtype, function) in CASES.items():
        if re.search(args.only, name) or name.startswith("copy "):
            model.add(name, dtype, function)
    built = model.build()
    decisions, good = compile_model(args, built)
    text = "\n".join(table(measured(decisions), bytes_by_case(built))) if good else decisions.strip()[-2000:]
    print(text)
    (args.out / "table.txt").write_text(text + "\n")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
