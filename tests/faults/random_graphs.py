"""Random graphs: every way of compiling one gives the same results, those of an evaluation in float64.

    random_graphs.py --bin build/dev/bin [--count 100] [--seed 1]

A graph of 3 to 25 nodes over f32 tensors of up to four axes is evaluated by numpy while it is made. It is compiled
for this CPU, for cpu:baseline and for a CUDA target (planned, run by the reference kernels), with every pass that can
be disabled on, with all of them off, and with two of them off in turn, so that over many graphs each pass is off on
its own. Exit code 1 where a compilation or a run fails or a result is off by more than 1e-4 of the largest
magnitude.
"""

import argparse
import multiprocessing
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "corpus"), os.path.join(HERE, "..", "properties")]

import numpy as np  # noqa: E402
from onnx import helper  # noqa: E402

from onnx_models import constant, info, whole  # noqa: E402
from tools import ONCE, read_outputs  # noqa: E402

TOLERANCE = 1e-4
TARGETS = ("cpu", "cpu:baseline", "cuda:sm_90a")


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


UNARY = {"Relu": lambda x: np.maximum(x, 0), "Sigmoid": sigmoid, "Tanh": np.tanh, "Neg": np.negative,
         "Abs": np.abs, "Sin": np.sin, "Softplus": lambda x: np.log1p(np.exp(-np.abs(x))) + np.maximum(x, 0),
         "Identity": lambda x: x, "Erf": None}
BINARY = {"Add": np.add, "Sub": np.subtract, "Mul": np.multiply, "Max": np.maximum, "Min": np.minimum}


class Graph:
    """The nodes so far, and the float64 value of everything."""

    def __init__(self, seed):
        self.rng = np.random.default_rng([20251125, seed])
        self.nodes, self.constants, self.values, self.feeds = [], [], {}, {}
        for k in range(self.integer(1, 2)):
            shape = [self.integer(1, 6) for _ in range(self.integer(1, 4))]
            self.feeds[f"x{k}"] = self.numbers(shape)
            self.values[f"x{k}"] = self.feeds[f"x{k}"].astype(np.float64)

    def integer(self, low, high):
        return int(self.rng.integers(low, high + 1))

    def choose(self, options):
        return options[self.integer(0, len(options) - 1)]

    def numbers(self, shape):
        return self.rng.uniform(-1, 1, shape).astype(np.float32)

    def constant(self, array):
        name = f"c{len(self.constants)}"
        self.constants.append(constant(name, array, array.dtype))
        return name

    def add(self, op, inputs, value, **attrs):
        name = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [name], name=f"n{len(self.nodes)}", **attrs))
        self.values[name] = value
        return name

    def grow(self):
        names = list(self.values)
        recent = names[-4:] if self.rng.random() < 0.8 else names
        x = self.choose(recent)
        made = self.choose(STEPS)(self, x, self.values[x])
        # Values stay of order 1, so that one tolerance holds everywhere.
        if made and (np.abs(self.values[made]).max(initial=0) > 8):
            self.add("Tanh", [made], np.tanh(self.values[made]))


def unary(g, x, v):
    op = g.choose([u for u in UNARY if u != "Erf"])
    return g.add(op, [x], UNARY[op](v))


def binary(g, x, v):
    op = g.choose(list(BINARY))
    same = [n for n, w in g.values.items() if w.shape == v.shape]
    if g.rng.random() < 0.5:
        other = g.choose(same)
        return g.add(op, [x, other], BINARY[op](v, g.values[other]))
    shape = [1 if g.rng.random() < 0.4 else d for d in v.shape][g.integer(0, v.ndim):]
    array = g.numbers(shape)
    inputs = [x, g.constant(array)]
    swap = g.rng.random() < 0.3
    value = BINARY[op](array.astype(np.float64), v) if swap else BINARY[op](v, array.astype(np.float64))
    return g.add(op, inputs[::-1] if swap else inputs, value)


def matmul(g, x, v):
    if v.ndim < 2:
        return None
    weights = g.numbers((v.shape[-1], g.integer(1, 8)))
    return g.add("MatMul", [x, g.constant(weights)], v @ weights.astype(np.float64))


def self_product(g, x, v):
    if v.ndim < 2:
        return None
    perm = list(range(v.ndim - 2)) + [v.ndim - 1, v.ndim - 2]
    turned = g.add("Transpose", [x], v.transpose(perm), perm=perm)
    return g.add("MatMul", [x, turned], v @ v.transpose(perm))


def conv(g, x, v):
    if v.ndim != 4:
        return None
    kernel = [g.choose((1, 3)), g.choose((1, 3))]
    weights = g.numbers((g.integer(1, 5), v.shape[1], *kernel))
    pads = [(k - 1) // 2 for k in kernel]
    padded = np.pad(v, ((0, 0), (0, 0), (pads[0],) * 2, (pads[1],) * 2))
    windows = np.lib.stride_tricks.sliding_window_view(padded, kernel, axis=(2, 3))
    value = np.einsum("nchwij,ocij->nohw", windows, weights.astype(np.float64))
    return g.add("Conv", [x, g.constant(weights)], value, pads=pads * 2)


def transpose(g, x, v):
    perm = [int(p) for p in g.rng.permutation(v.ndim)]
    return g.add("Transpose", [x], v.transpose(perm), perm=perm)


def reshape(g, x, v):
    shape = list(v.shape)
    if len(shape) > 1 and g.rng.random() < 0.6:
        at = g.integer(0, len(shape) - 2)
        shape[at:at + 2] = [shape[at] * shape[at + 1]]
    elif len(shape) < 4:
        shape.insert(g.integer(0, len(shape)), 1)
    return g.add("Reshape", [x, g.constant(np.array(shape, np.int64))], v.reshape(shape))


def concat(g, x, v):
    axis = g.integer(0, v.ndim - 1)
    fits = [n for n, w in g.values.items() if w.ndim == v.ndim
            and all(a == b for d, (a, b) in enumerate(zip(w.shape, v.shape)) if d != axis)]
    others = [g.choose(fits) for _ in range(g.integer(1, 2))]
    return g.add("Concat", [x, *others], np.concatenate([v] + [g.values[o] for o in others], axis), axis=axis)


def cut(g, x, v):
    axis = g.integer(0, v.ndim - 1)
    if v.shape[axis] < 2:
        return None
    start, step = g.integer(0, v.shape[axis] - 1), g.choose((1, 1, 2))
    lists = [g.constant(np.array([n], np.int64)) for n in (start, v.shape[axis], axis, step)]
    return g.add("Slice", [x, *lists], v[(slice(None),) * axis + (slice(start, None, step),)])


def reduce(g, x, v):
    axis, keep = g.integer(0, v.ndim - 1), g.integer(0, 1)
    if v.ndim == 1 and not keep:
        return None
    op, function = g.choose((("ReduceMean", np.mean), ("ReduceMax", np.max), ("ReduceSum", np.sum)))
    return g.add(op, [x, g.constant(np.array([axis], np.int64))], function(v, axis, keepdims=bool(keep)), keepdims=keep)


def softmax(g, x, v):
    axis = g.integer(0, v.ndim - 1)
    e = np.exp(v - v.max(axis, keepdims=True))
    return g.add("Softmax", [x], e / e.sum(axis, keepdims=True), axis=axis)


def normalised(g, x, v):
    centred = v - v.mean(-1, keepdims=True)
    value = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 0.25)
    scale = g.numbers((v.shape[-1],))
    return g.add("LayerNormalization", [x, g.constant(scale)], value * scale.astype(np.float64), epsilon=0.25)


def gather(g, x, v):
    axis = g.integer(0, v.ndim - 1)
    index = g.rng.integers(-v.shape[axis], v.shape[axis], g.integer(1, 4))
    return g.add("Gather", [x, g.constant(index)], np.take(v, index, axis), axis=axis)


def pad(g, x, v):
    pads = [g.integer(0, 2) for _ in range(2 * v.ndim)]
    value = np.pad(v, list(zip(pads[:v.ndim], pads[v.ndim:])), constant_values=0.5)
    if value.size > 4000:
        return None
    return g.add("Pad", [x, g.constant(np.array(pads, np.int64)), g.constant(np.array(0.5, np.float32))], value)


def swish(g, x, v):
    gate = g.add("Sigmoid", [x], sigmoid(v))
    return g.add("Mul", [x, gate], v * sigmoid(v))


STEPS = (unary, unary, binary, binary, binary, matmul, matmul, self_product, conv, conv, transpose, reshape, reshape,
         concat, cut, reduce, softmax, normalised, gather, pad, swish)


def made(seed):
    g = Graph(seed)
    for _ in range(g.integer(3, 25)):
        g.grow()
    if not g.nodes:
        g.add("Relu", ["x0"], np.maximum(g.values["x0"], 0))
    read = {name for node in g.nodes for name in node.input}
    ends = [n for n in g.values if n not in read and n not in g.feeds][:4] or [g.nodes[-1].output[0]]
    ends += [n for n in list(g.values)[-3:] if n not in ends and n not in g.feeds][:1]
    model = whole(g.nodes, [info(n, a.shape) for n, a in g.feeds.items()],
                  [info(n, g.values[n].shape) for n in ends], g.constants)
    return model.SerializeToString(), g.feeds, {n: g.values[n] for n in ends}


def passes_of(bin_dir):
    text = subprocess.run([os.path.join(bin_dir, "aicf-compile"), "--help"], capture_output=True, text=True,
                          check=True).stdout
    listed = text[text.index("Passes in order"):].split("\n\n")[0].split(":", 1)[1]
    return [p for p in re.findall(r"[a-z][a-z0-9-]*\*?", listed) if not p.endswith("*")]


def variants(seed, passes):
    """(target, passes that are off)."""
    yield from ((target, ()) for target in TARGETS)
    yield from ((target, passes) for target in ("cpu", "cuda:sm_90a"))
    for k in range(2):
        yield TARGETS[(seed + k) % 3], (passes[(2 * seed + k) % len(passes)],)


def check(job):
    """What is wrong with the graph of a seed."""
    options, passes, seed = job
    content, feeds, expected = made(seed)
    found = []
    with tempfile.TemporaryDirectory() as folder:
        path, artifact = os.path.join(folder, "m.onnx"), os.path.join(folder, "m.aicf")
        with open(path, "wb") as file:
            file.write(content)
        inputs = []
        for name, array in feeds.items():
            np.save(os.path.join(folder, name + ".npy"), array)
            inputs.append(f"--load-inputs={name}:{folder}/{name}.npy")
        for target, off in variants(seed, passes):
            what = f"seed {seed}, {target}, without {', '.join(off) if len(off) < 3 else 'any pass'}"
            flags = [f"--disable-pass={p}" for p in off] + ([] if target.startswith("cpu") else ["--no-images"])
            runs = [["aicf-compile", path, "-o", artifact, "--force", f"--target={target}", *flags],
                    ["aicf-run", artifact, "--device=cpu", *inputs, *ONCE, f"--export-output={folder}/out"]]
            for run in runs:
                done = subprocess.run([os.path.join(options.bin, run[0]), *run[1:]], capture_output=True, text=True,
                                      timeout=120)
                if done.returncode != 0:
                    found.append(f"{what}: {run[0]} ended with {done.returncode}: {done.stderr.strip()[:300]}")
                    break
            else:
                results = read_outputs(os.path.join(folder, "out"))
                for name, want in expected.items():
                    off_by = np.abs(results[name].astype(np.float64) - want).max(initial=0)
                    if not off_by <= TOLERANCE * max(1, np.abs(want).max(initial=0)):
                        found.append(f"{what}: {name} is off by {off_by:.3g}")
        if found and options.keep:
            os.makedirs(options.keep, exist_ok=True)
            shutil.copy(path, os.path.join(options.keep, f"{seed}.onnx"))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--bin", required=True)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--keep", help="directory that keeps the models of graphs that fail")
    options = parser.parse_args()
    passes = passes_of(options.bin)
    failures = 0
    jobs = ((options, passes, seed) for seed in range(options.seed, options.seed + options.count))
    with multiprocessing.Pool(options.jobs) as pool:
        for found in pool.imap_unordered(check, jobs):
            failures += len(found)
            for text in found:
                print(f"FAIL {text}", flush=True)
    print(f"{options.count} graphs from seed {options.seed}, 7 ways each of {len(passes)} passes: {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
