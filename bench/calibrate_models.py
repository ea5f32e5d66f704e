#!/usr/bin/env python3
"""What quantising float models costs in accuracy, beside ONNX Runtime's quantiser on the same samples.

  bench/calibrate_models.py --models build/data/models [--bin build/dev/bin]
                            [--only NAME,...] [--columns "aicf minmax,..."] [--count 32] [--fit] [--json F]

Every float model of the collection is quantised to 8 bits by aicf-compile --precision=int8, with the ranges of
each --calibrate-method and no budget of error, then with the default method and budget; and by ONNX Runtime's
quantize_static with the method of the same name, scales by channel, after the preparation of
quantized_models.py. Both get the same samples (--count). A figure is the relative error of the outputs on
eight other samples: the root mean square of the difference from the float model's outputs (ONNX Runtime without
graph optimisation), over the root mean square of the latter; of several outputs the largest.

Samples of the PP-OCR models are rendered lines and pages (ppocr_samples.py); there the table has the float
model's own metric, too: how many of the lines read as the float model reads them and the share of right
characters, or how many of the detector's text regions are the float model's (F-measure, boxes that overlap by half). Samples of other models are
their test inputs, scaled, shifted and with noise: what they are made for they are not shown, so that the figures
compare methods, not models.

Needs onnxruntime, onnx, numpy, sympy and Pillow from PyPI.
"""
import argparse
import contextlib
import functools
import io
import json
import logging
import multiprocessing
import pathlib
import resource
import subprocess
import sys
import tempfile
import types

import numpy as np
import onnx
import onnxruntime as ort
from onnxruntime import quantization

import ppocr_samples
import quantized_models
from compare_onnx import ROOT, compile_command, exported_outputs, outputs_command

METHODS = {"minmax": quantization.CalibrationMethod.MinMax,
           "percentile": quantization.CalibrationMethod.Percentile,
           "entropy": quantization.CalibrationMethod.Entropy}
HELD_OUT = 8
LINES = 32
TEXT_THRESHOLD = 0.3  # of the detector's map


# Samples.

def varied(value, random):
    """Another input of the same kind: shifted along its longest axis, scaled, with noise."""
    if value.size < 2 or value.dtype == bool:
        return value
    out = np.roll(value, int(random.integers(value.shape[int(np.argmax(value.shape))])),
                  int(np.argmax(value.shape)))
    if value.dtype.kind in "iu":
        return out
    deviation = float(value.astype(np.float32).std())  # that of f16 would overflow
    noise = random.normal(0, 0.1 * deviation + 1e-6, value.shape)
    return (out * random.uniform(0.5, 1.2) + noise).astype(value.dtype)


def varied_samples(case, count, seed):
    random = np.random.default_rng(seed)
    base = {name: np.load(i["file"]) for name, i in case["inputs"].items()}
    return [{name: varied(value, random) for name, value in base.items()} for _ in range(count)]


def rendered_samples(make, shape, count, seed, fit=False):
    """Lines or pages, in batches of the model's size, and their texts."""
    random, faces = np.random.default_rng(seed), ppocr_samples.fonts()
    size = types.SimpleNamespace(height=shape[2], width=shape[3], page=shape[2], fit=fit)
    samples, texts = [], []
    for _ in range(count):
        made = [make(random, faces, size) for _ in range(shape[0])]
        samples.append({"x": np.concatenate([x for x, _ in made])})
        texts += [text for _, text in made]
    return samples, texts


def samples_of(case, count, seed):
    kind = case.get("kind")
    if kind is None:
        return varied_samples(case, count, seed), []
    make = ppocr_samples.line if kind == "rec" else ppocr_samples.page
    return rendered_samples(make, case["inputs"]["x"]["shape"], count, seed, case["fit"])


def save_samples(samples, folder):
    """As aicf-compile --calibrate reads them."""
    for i, sample in enumerate(samples):
        one = folder / f"{i:03}"
        one.mkdir(parents=True)
        for name, value in sample.items():
            np.save(one / f"{name.replace('/', '_')}.npy", value)


# Engines.

def run_ort(path, samples, optimise=True):
    options = ort.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    if not optimise:
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    names = [o.name for o in session.get_outputs()]
    return [dict(zip(names, session.run(None, sample))) for sample in samples]


def run_aicf(args, artifact, samples, folder):
    outputs = []
    for sample in samples:
        inputs = {}
        for i, (name, value) in enumerate(sample.items()):
            inputs[name] = folder / f"input{i}.npy"
            np.save(inputs[name], value)
        subprocess.run(list(map(str, outputs_command(args, artifact, inputs, folder / "out"))), check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        outputs.append(exported_outputs(folder / "out"))
    return outputs


def compile_int8(args, case, samples, out, flags):
    command = [*compile_command(args, case, case["model"], out), "--precision=int8", f"--calibrate={samples}",
               "--force", *flags]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=args.limit_seconds)
    if done.returncode:
        raise RuntimeError(done.stderr.strip().splitlines()[-1])


def quantize_ort(args, model, samples, method, out):
    """In a process of its own: the tool keeps every value of every sample for its histograms."""
    resource.setrlimit(resource.RLIMIT_AS, (args.limit_gib << 30,) * 2)
    logging.disable(logging.WARNING)
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        failures = []
        for how, higher, options in quantized_models.PREPARATIONS:
            try:
                ready = quantized_models.prepared(model, pathlib.Path(folder), higher, options)
                quantization.quantize_static(str(ready), str(out), quantized_models.Samples(samples),
                                             per_channel=True, calibrate_method=METHODS[method])
                if not quantized_models.is_quantised(out):
                    raise ValueError("the tool quantised nothing")
                quantized_models.require_runs(out, samples[0])
                return
            except quantized_models.NothingToDo:
                continue
            except MemoryError:
                failures.append(f"needs more than {args.limit_gib} GiB for {len(samples)} samples")
                break
            except Exception as error:  # the tool raises whatever it likes
                failures.append(f"{how}: {quantized_models.first_line(error, folder)}")
    out.with_suffix(".why").write_text(failures[0])
    raise SystemExit(1)


def quantize_apart(args, model, samples, method, out):
    process = multiprocessing.get_context("fork").Process(target=quantize_ort, args=(args, model, samples, method, out))
    process.start()
    process.join(args.limit_seconds)
    if process.is_alive():
        process.kill()
        raise RuntimeError(f"over {args.limit_seconds} s")
    if process.exitcode:
        why = out.with_suffix(".why")
        raise RuntimeError(why.read_text() if why.exists() else f"its process ended with {process.exitcode}")


# Figures.

def relative_error(found, expected):
    worst = 0.0
    for name in expected[0]:
        if expected[0][name].dtype.kind != "f":
            continue
        squares = sum(float((e[name].astype(np.float64) ** 2).sum()) for e in expected)
        errors = sum(float(((f[name].astype(np.float64) - e[name]) ** 2).sum()) for f, e in zip(found, expected))
        worst = max(worst, (errors / squares) ** 0.5 if squares else 0.0)
    return worst


@functools.cache
def classes_of(model):
    texts = [p.value for p in onnx.load(model).metadata_props if p.key == "character"]
    if not texts:  # then the collection has them beside its models
        texts = [(model.parent.parent / "ppocr_keys_v1.txt").read_text().rstrip("\n")]
    return ["", *texts[0].split("\n"), " "]


def read_lines(model, outputs):
    """Greedy CTC, as models/ppocr/recognizer.h."""
    classes, lines = classes_of(model), []
    for output in outputs:
        for steps in next(iter(output.values())):
            best = steps.argmax(-1)
            lines.append("".join(classes[b] for i, b in enumerate(best)
                                 if b and b < len(classes) and (i == 0 or b != best[i - 1])))
    return lines


def distance(a, b):
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        previous, row = row, [i]
        for j, y in enumerate(b, 1):
            row.append(min(previous[j - 1] + (x != y), previous[j] + 1, row[-1] + 1))
    return row[-1]


def regions(mask):
    """The boxes around connected regions of at least nine pixels: top, left, bottom, right."""
    boxes, previous = [], []  # of a row: first column, one behind the last, the region's number
    parent = []

    def root(i):
        while parent[i] != i:
            i = parent[i]
        return i

    for y, row in enumerate(mask):
        edges = np.flatnonzero(np.diff(np.concatenate(([0], row.astype(np.int8), [0]))))
        current = []
        for left, right in zip(edges[::2], edges[1::2]):
            number = len(parent)
            parent.append(number)
            boxes.append([y, left, y + 1, right, right - left])
            for l, r, other in previous:
                if l < right and left < r:
                    parent[root(other)] = root(number)
            current.append((left, right, number))
        previous = current
    joined = {}
    for i, (top, left, bottom, right, size) in enumerate(boxes):
        box = joined.setdefault(root(i), [top, left, bottom, right, 0])
        joined[root(i)] = [min(box[0], top), min(box[1], left), max(box[2], bottom), max(box[3], right),
                           box[4] + size]
    return [b[:4] for b in joined.values() if b[4] >= 9]


def overlap(a, b):
    both = max(0, min(a[2], b[2]) - max(a[0], b[0])) * max(0, min(a[3], b[3]) - max(a[1], b[1]))
    area = [(x[2] - x[0]) * (x[3] - x[1]) for x in (a, b)]
    return both / (sum(area) - both)


def region_score(found, expected):
    """The F-measure of the regions found: those that overlap one of the float model's by half count."""
    hits = sides = 0
    for f, e in zip(found, expected):
        ours, theirs = regions(f), regions(e)
        left = list(theirs)
        for box in ours:
            best = max(left, key=lambda other: overlap(box, other), default=None)
            if best is not None and overlap(box, best) >= 0.5:
                left.remove(best)
                hits += 1
        sides += len(ours) + len(theirs)
    return 2 * hits / sides if sides else 1.0


def metric(case, found, expected, texts):
    if case.get("kind") == "rec":
        lines, theirs = read_lines(case["model"], found), read_lines(case["model"], expected)
        right = 1 - sum(map(distance, lines, texts)) / sum(map(len, texts))
        return f"{sum(a == b for a, b in zip(lines, theirs))}/{len(lines)} lines, {100 * right:.2f} %"
    if case.get("kind") == "det":
        masks = [[next(iter(o.values()))[0, 0] > TEXT_THRESHOLD for o in side] for side in (found, expected)]
        return f"{100 * region_score(*masks):.2f} % of regions"
    return ""


def cells_of(args, case, folder):
    """By column: the error and the metric, or why there are none."""
    samples, _ = samples_of(case, args.count, 0)
    held_out, texts = samples_of(case, LINES if case.get("kind") == "rec" else HELD_OUT, 1)
    save_samples(samples, folder / "samples")
    expected = run_ort(case["model"], held_out, optimise=False)
    ways = {f"aicf {m}": functools.partial(aicf_cell, args, case, folder, held_out,
                                           [f"--calibrate-method={m}", "--max-error=1e9"]) for m in METHODS}
    ways["aicf default"] = functools.partial(aicf_cell, args, case, folder, held_out, [])
    ways |= {f"ORT {m}": functools.partial(ort_cell, args, case, folder, samples, held_out, m) for m in METHODS}
    cells = {"float": {"error": 0.0, "metric": metric(case, expected, expected, texts)}}
    for name, way in ways.items():
        if args.columns and name not in args.columns:
            continue
        try:
            found = way()
            cells[name] = {"error": relative_error(found, expected),
                           "metric": metric(case, found, expected, texts)}
        except (RuntimeError, subprocess.SubprocessError, OSError) as why:
            cells[name] = {"reason": str(why)}
        except Exception as why:  # ONNX Runtime's own, which refuses models that its tool made
            cells[name] = {"reason": f"{type(why).__name__}: {str(why).splitlines()[0][:160]}"}
        print(name, cells[name], file=sys.stderr, flush=True)
    return cells


def aicf_cell(args, case, folder, held_out, flags):
    artifact = folder / "model.aicf"
    compile_int8(args, case, folder / "samples", artifact, flags)
    return run_aicf(args, artifact, held_out, folder)


def ort_cell(args, case, folder, samples, held_out, method):
    out = folder / f"{method}.onnx"
    quantize_apart(args, case["model"], samples, method, out)
    return run_ort(out, held_out)


# What is measured and printed.

def cases_of(args):
    cases = quantized_models.collected_cases(args.models)
    for name, case in cases.items():
        for kind in ("rec", "det"):
            if f"ppocrv4_{kind}" in name:
                case |= {"kind": kind, "fit": args.fit}
    return {n: c for n, c in cases.items() if not args.only or n in args.only}


def text_of(cell):
    if "reason" in cell:
        return "-"
    return f"{cell['error']:.2g}" + (f" ({cell['metric']})" if cell["metric"] else "")


def print_table(rows):
    columns = list(next(iter(rows.values())))
    print(f"| model | {' | '.join(columns)} |\n|---|{'---|' * len(columns)}")
    for name, cells in rows.items():
        print(f"| {name} | {' | '.join(text_of(cells[c]) for c in columns)} |")
    print()
    for name, cells in rows.items():
        for column, cell in cells.items():
            if "reason" in cell:
                print(f"- {name}, {column}: {cell['reason']}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", type=pathlib.Path, required=True)
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build/release/bin")
    parser.add_argument("--only", type=lambda text: text.split(","), default=[])
    parser.add_argument("--count", type=int, default=32)
    parser.add_argument("--limit-seconds", type=float, default=1800)
    parser.add_argument("--limit-gib", type=int, default=8, help="memory of ONNX Runtime's tool")
    parser.add_argument("--columns", type=lambda text: text.split(","), default=[], help="these alone")
    parser.add_argument("--fit", action="store_true", help="lines of text that fit without being squeezed")
    parser.add_argument("--json", type=pathlib.Path)
    args = parser.parse_args()
    args.device = args.target = "cpu"
    args.math = "fp32"
    ort.set_default_logger_severity(3)
    rows = {}
    for name, case in cases_of(args).items():
        print(f"{name}:", file=sys.stderr, flush=True)
        with tempfile.TemporaryDirectory() as folder:
            rows[name] = cells_of(args, case, pathlib.Path(folder))
        if args.json:
            args.json.write_text(json.dumps(rows, indent=1))
    print_table(rows)


if __name__ == "__main__":
    main()
