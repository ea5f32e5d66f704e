#!/usr/bin/env python3
"""How near the steps that only move bytes come to a plain copy: GB/s of every variant on one GPU.

    bench/bandwidth.py --bin build/release/bin --out DIR [--only REGEX] [--seconds 50] [--state warm|cold]

Makes one small ONNX model per case (elementwise, normalize, reduce, pool, copy and resize steps as BERT and channels-last
vision models have them, in f32 and f16), lets aicf-compile --tune measure every variant worth considering,
and prints them by case: microseconds, GB/s over the bytes that the step must move, and that over what a copy of
as many bytes reaches in the same run. Small cases are there for their latency, so theirs is the first number
to look at. "warm": ten runs after each other, what the cache keeps stays there. Needs onnx, numpy and NVRTC.
DIR gets the models, DIR/timing-cache.txt and DIR/table.txt. Exit code 1 when a model does not compile.
"""

import argparse
import math
import pathlib
import re
import subprocess
import sys

import numpy as np
from onnx import TensorProto, helper, numpy_helper, save

DTYPES = {"f32": (TensorProto.FLOAT, np.float32), "f16": (TensorProto.FLOAT16, np.float16)}
CASES = {}


class Model:
    """Inputs and nodes of one case, all in one dtype."""

    def __init__(self, dtype):
        self.dtype, self.inputs, self.nodes, self.constants = dtype, [], [], []

    def input(self, *shape):
        name = f"x{len(self.inputs)}"
        self.inputs.append(helper.make_tensor_value_info(name, DTYPES[self.dtype][0], shape))
        return name

    def constant(self, array):
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(array, name))
        return name

    def vector(self, *shape):
        random = np.random.default_rng(len(self.constants))
        return self.constant((1 + 0.1 * random.standard_normal(shape)).astype(DTYPES[self.dtype][1]))

    def node(self, op, *inputs, **attributes):
        name = f"t{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, list(inputs), [name], **attributes))
        return name

    def save(self, path, result):
        output = helper.make_empty_tensor_value_info(result)
        graph = helper.make_graph(self.nodes, "case", self.inputs, [output], self.constants)
        save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9), path)


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
    for label, shape in (("128x768", (128, 768)), ("4096x3072", (4096, 3072)), ("64Mi", (65536, 1024))):
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
    for rows, size in ((128, 768), (197, 768), (4096, 768), (3072, 1024), (43690, 768), (3136, 96), (8192, 4096)):
        case(f"layer_norm {rows}x{size}")(lambda m, r=rows, c=size: layer_norm(m, m.input(r, c), c))
    case("add_layer_norm 128x768")(
        lambda m: layer_norm(m, m.node("Add", m.input(128, 768), m.input(128, 768)), 768))
    for rows, size in ((1536, 128), (2364, 197), (49152, 128), (262144, 128), (8192, 4096), (1, 1000)):
        case(f"softmax {rows}x{size}")(lambda m, r=rows, c=size: m.node("Softmax", m.input(r, c), axis=-1))


def layer_norm(m, x, size):
    return m.node("LayerNormalization", x, m.vector(size), m.vector(size), axis=-1)


def reduce_cases():
    for n, side, c in ((1, 7, 2048), (32, 7, 2048), (1, 112, 32), (1, 28, 240), (1, 7, 1152), (32, 56, 256)):
        case(f"mean {n}x{side}x{side}x{c} channels last")(
            lambda m, s=(n, side, side, c): m.node("ReduceMean", m.input(*s), m.constant(np.array([1, 2])), keepdims=1))
    case("mean 8192x4096 rows")(
        lambda m: m.node("ReduceMean", m.input(8192, 4096), m.constant(np.array([1])), keepdims=0))


def pool_cases():
    for n in (1, 32):
        case(f"max_pool {n}x112x112x64 channels last")(lambda m, n=n: channels_last(m, m.node(
            "MaxPool", channels_first(m, m.input(n, 112, 112, 64)), kernel_shape=[3, 3], strides=[2, 2],
            pads=[1, 1, 1, 1])))
    case("average_pool 1x56x56x128 channels last")(lambda m: channels_last(m, m.node(
        "AveragePool", channels_first(m, m.input(1, 56, 56, 128)), kernel_shape=[2, 2], strides=[2, 2])))


def copy_cases():
    for label, rows in (("192Ki", 64), ("12Mi", 4096), ("32Mi", 10922), ("128Mi", 43690)):
        case(f"copy {label} elements")(
            lambda m, r=rows: m.node("Concat", m.input(r // 2, 3072), m.input(r - r // 2, 3072), axis=0))
    case("transpose 1x3x224x224")(lambda m: m.node("Transpose", m.input(1, 3, 224, 224), perm=[0, 2, 3, 1]))
    case("transpose 8192x8192")(lambda m: m.node("Transpose", m.input(8192, 8192), perm=[1, 0]))
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

VIEW = re.compile(r"(\w+) ([\dx]+) \[([-\d, ]*)\]\+\d+")
BYTES = {"f32": 4, "f16": 2, "bf16": 2, "f64": 8, "i64": 8, "i32": 4, "u8": 1, "i8": 1, "bool": 1}


def bytes_of(problem):
    """Bytes that a problem's text says it must move: each element of its views once."""
    total = 0
    for dtype, shape, strides in VIEW.findall(problem):
        steps = [int(s) for s in strides.split(",")]
        total += BYTES[dtype] * math.prod(e for e, s in zip(map(int, shape.split("x")), steps) if s != 0)
    return total


def read_cache(path):
    """problem's hash -> (family, bytes, {variant: median us})."""
    problems = {}
    for line in path.read_text().splitlines():
        words = line.split()
        if words[:1] == ["problem"]:
            problems[words[1]] = (words[2], bytes_of(line), {})
        elif words[:1] == ["time"] and words[1] in problems:
            problems[words[1]][2][words[2]] = float(words[3])
    return problems


def compile_case(args, name, seconds):
    """Tunes one case into its own cache, so that the cache's problems are the case's steps."""
    dtype, function = CASES[name]
    stem = args.out / re.sub(r"\W+", "_", name)
    model = Model(dtype)
    model.save(f"{stem}.onnx", function(model))
    command = [args.bin / "aicf-compile", f"{stem}.onnx", "-o", f"{stem}.aicf", "--force", "--strip",
               f"--target={args.target}"]
    if not args.compile_only:
        command += [f"--tune={seconds:.0f}", f"--tune-state={args.state}", f"--timing-cache={stem}.txt"]
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    if done.returncode != 0:
        return done.stderr.strip()[-300:]
    return "" if args.compile_only else read_cache(pathlib.Path(f"{stem}.txt"))


def copy_rates(results):
    """(bytes, GB/s) of the plain copies, by falling bytes."""
    rates = []
    for name, steps in results.items():
        if name.startswith("copy "):
            for _, moved, times in steps.values():
                rates.append((moved, moved / min(times.values()) / 1e3))
    return sorted(rates, reverse=True)


def nearest_rate(rates, moved):
    """What a copy of about as many bytes reaches."""
    return min(rates, key=lambda rate: abs(math.log(rate[0] / max(1, moved))))[1] if rates else float("nan")


def table(results):
    rates = copy_rates(results)
    yield f"{'case':44} {'variant':78} {'us':>8} {'MB':>7} {'GB/s':>6} {'/copy':>6}"
    for name, steps in results.items():
        for _, moved, times in steps.values():
            for variant, us in sorted(times.items(), key=lambda item: item[1]):
                rate = moved / us / 1e3
                yield (f"{name:44} {variant.removeprefix('cuda.'):78} {us:8.2f} {moved / 1e6:7.2f} {rate:6.0f} "
                       f"{rate / nearest_rate(rates, moved):6.2f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", type=pathlib.Path, required=True, help="folder with aicf-compile")
    parser.add_argument("--out", type=pathlib.Path, required=True, help="folder for models and times")
    parser.add_argument("--target", default="cuda:sm_90a")
    parser.add_argument("--only", default="", help="regular expression of cases")
    parser.add_argument("--seconds", type=float, default=5, help="of measuring, for each case at most")
    parser.add_argument("--state", choices=["warm", "cold"], default="warm")
    parser.add_argument("--compile-only", action="store_true", help="measure nothing, on a machine without a GPU")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    results, failed = {}, []
    for name in CASES:
        if not re.search(args.only, name):
            continue
        made = compile_case(args, name, args.seconds)
        if isinstance(made, str) and made:
            failed.append(f"{name}: {made}")
        elif made:
            results[name] = made
    text = "\n".join(table(results)) if results else "nothing measured"
    print("\n".join([text, *failed]))
    (args.out / "table.txt").write_text(text + "\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
