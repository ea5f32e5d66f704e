#!/usr/bin/env python3
"""Quantised ONNX models, made from float ones with ONNX Runtime's own tool.

  bench/quantized_models.py MODEL.onnx OUT.onnx --way static|channel|dynamic --input NAME:FILE.npy ...

The tool's default settings are used. What precedes it is what its users do until it works: the tool's
preparation (shape inference, folding), that preparation without symbolic shapes, and raising the operator set
to the first one in which scales per channel are allowed, or nothing. The first of these whose model
ONNX Runtime runs on the samples is kept, and the file's doc_string says which it was.

A process of its own makes each model, so that a tool that crashes or never ends spoils one model only.

Needs onnxruntime, onnx, numpy and sympy from PyPI.
"""
import argparse
import json
import logging
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime as ort
from onnxruntime import quantization
from onnxruntime.quantization.shape_inference import quant_pre_process

import quantized_unet

WAYS = {
    "static": "QuantizeLinear and DequantizeLinear, one scale per tensor",
    "channel": "QuantizeLinear and DequantizeLinear, one scale per channel of the weights",
    "dynamic": "quantize_dynamic: the scales of activations are found at run time",
}
RANDOM_SAMPLES = 3
PER_CHANNEL_OPSET = 13
NO_SYMBOLS = {"skip_symbolic_shape": True}
# What to do before quantising, in the order in which to try it: in words, and prepared()'s last parameters.
PREPARATIONS = [
    ("quant_pre_process", False, {}),
    ("quant_pre_process without symbolic shapes", False, NO_SYMBOLS),
    (f"operator set {PER_CHANNEL_OPSET}, quant_pre_process", True, {}),
    (f"operator set {PER_CHANNEL_OPSET}, quant_pre_process without symbolic shapes", True, NO_SYMBOLS),
    (f"operator set {PER_CHANNEL_OPSET}", True, None),
    ("as it is", False, None),
]


class NothingToDo(Exception):
    """A preparation that would be the same as one tried before."""


class Refused(Exception):
    """A model that cannot be measured: the text says who refused it and why."""


# The tool.

class Samples(quantization.CalibrationDataReader):
    """The calibration data: one dictionary of inputs after another."""

    def __init__(self, samples):
        self.left = iter(samples)

    def get_next(self):
        return next(self.left, None)


def random_like(value, random):
    """An array of the same type, extents and range. What holds one number only, as a rate does, stays."""
    if value.size == 0 or value.dtype == bool:
        return value
    low, high = value.min(), value.max()
    if value.dtype.kind in "iu":
        return np.asarray(random.integers(low, high, value.shape, value.dtype, endpoint=True))
    return np.asarray(random.uniform(low, high, value.shape)).astype(value.dtype)


def calibration(feeds):
    """The model's own inputs and a few random ones, the same every time."""
    random = np.random.default_rng(0)
    return [feeds] + [{n: random_like(v, random) for n, v in feeds.items()} for _ in range(RANDOM_SAMPLES)]


def quantize(way, source, out, feeds):
    if way == "dynamic":
        quantization.quantize_dynamic(source, out)
    else:
        quantization.quantize_static(source, out, Samples(calibration(feeds)), per_channel=way == "channel")


def opset_of(model):
    return next((o.version for o in model.opset_import if o.domain in ("", "ai.onnx")), 0)


def raised(source, folder):
    """The model in the operator set that allows scales per channel."""
    model = onnx.load(source)
    if opset_of(model) >= PER_CHANNEL_OPSET:
        raise NothingToDo
    out = folder / "raised.onnx"
    onnx.save(onnx.version_converter.convert_version(model, PER_CHANNEL_OPSET), out)
    return out


def prepared(source, folder, higher, options):
    """The file to quantise: in a higher operator set or not, and prepared with these options unless None."""
    if higher:
        source = raised(source, folder)
    if options is None:
        return source
    out = folder / "prepared.onnx"
    quant_pre_process(str(source), str(out), **options)
    return out


def first_line(error, folder):
    """What the tool raised, in one line and without the folder that is gone when it is read."""
    text = str(error).replace(f"{folder}/", "").strip() or "no message"
    return f"{type(error).__name__}: {text.splitlines()[0]}"


def is_quantised(path):
    """Whether the tool did anything. It leaves the branches of an If alone, and so some whole models."""
    return any("Quantize" in n.op_type or "Integer" in n.op_type for n in onnx.load(path).graph.node)


def require_runs(path, feeds):
    """Raises what ONNX Runtime says where it cannot run the model on these inputs."""
    options = ort.SessionOptions()
    options.log_severity_level = 4
    ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"]).run(None, feeds)


def sign(path, way, how):
    model = onnx.load(path)
    model.doc_string = f"quantised by onnxruntime {ort.__version__}, {way}, prepared: {how}"
    onnx.save(model, path)


def make(source, way, feeds, out):
    """Writes the quantised model, or raises what each preparation failed with."""
    failures = {}
    with tempfile.TemporaryDirectory() as folder:
        draft = pathlib.Path(folder) / "quantised.onnx"
        for how, higher, options in PREPARATIONS:
            try:
                ready = prepared(source, pathlib.Path(folder), higher, options)
                quantize(way, str(ready), str(draft), feeds)
                if not is_quantised(draft):
                    raise ValueError("the tool quantised nothing")
                require_runs(draft, feeds)
            except NothingToDo:
                continue
            except Exception as error:  # the tool raises whatever it likes
                failures.setdefault(first_line(error, folder), how)
                continue
            sign(draft, way, how)
            out.write_bytes(draft.read_bytes())
            return
    raise RuntimeError("; ".join(f"{how}: {error}" for error, how in failures.items()))


def make_apart(source, way, inputs, out, limit):
    """make() in a process of its own. Returns why there is no model, or an empty string."""
    script = pathlib.Path(__file__).resolve()
    command = [sys.executable, script, source.resolve(), out.resolve(), "--way", way]
    for name, file in inputs.items():
        command += ["--input", f"{name}:{pathlib.Path(file).resolve()}"]
    try:
        # The tool leaves files in the folder in which it runs.
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=limit,
                                  cwd=folder)
    except subprocess.TimeoutExpired:
        return f"quantising takes over {limit:g} s"
    if done.returncode < 0:
        return f"the process that quantises was ended by signal {-done.returncode}"
    lines = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
    return lines[-1] if done.returncode else ""


# The float models, as "cases": the model's file, and each input's file and shape.

def collected_cases(folder):
    cases = json.loads((folder / "manifest.json").read_text())
    return {name: {"model": folder / case["model"],
                   "inputs": {n: {"file": folder / i["file"], "shape": i["shape"]}
                              for n, i in case["inputs"].items()}}
            for name, case in cases.items() if case["model"].endswith(".onnx")}


def random_input(kind, shape):
    """What any export takes, also where an integer is an index or a mask."""
    random = np.random.default_rng(0)
    if kind == np.bool_:
        return np.ones(shape, kind)
    if np.issubdtype(kind, np.integer):
        return random.integers(0, 1, shape, kind, endpoint=True)
    return random.standard_normal(shape).astype(kind)


def export_case(path, folder):
    """A case with its inputs, made where none lie beside the model."""
    graph = onnx.load(path, load_external_data=False).graph
    constants = {i.name for i in graph.initializer}
    inputs = {}
    for number, value in enumerate(v for v in graph.input if v.name not in constants):
        tensor = value.type.tensor_type
        if not all(d.HasField("dim_value") for d in tensor.shape.dim):
            raise Refused(f"input '{value.name}' has open extents: export it with static ones")
        shape = [d.dim_value for d in tensor.shape.dim]
        file = path.with_suffix(f".{value.name}.npy")
        if not file.exists():
            file = folder / f"{path.stem}.{number}.npy"
            np.save(file, random_input(onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type), shape))
        inputs[value.name] = {"file": file, "shape": shape}
    return {"model": path, "inputs": inputs}


def unet_case(size, folder):
    """The synthetic network: quantised already, so it is its own result of the way 'dynamic'."""
    path, picture = folder / f"unet_{size}.onnx", folder / f"unet_{size}.npy"
    onnx.save(quantized_unet.build(size), path)
    np.save(picture, np.random.default_rng(0).random((1, 3, size, size), np.float32))
    inputs = {"image": {"file": picture, "shape": [1, 3, size, size]}}
    return {"model": path, "inputs": inputs, "quantised": "dynamic"}


def all_cases(args, folder, refused):
    """The cases that the command line selects; exports that cannot be one become rows in `refused`."""
    cases = collected_cases(args.models)
    for path in sorted(args.exports.glob("*.onnx")) if args.exports else []:
        try:
            cases[path.stem] = export_case(path, folder)
        except Refused as reason:
            refused.append({"model": path.stem, "way": "all", "reason": str(reason)})
    if args.unet:
        cases[f"unet_{args.unet}"] = unet_case(args.unet, folder)
    unknown = set(args.only) - set(cases) - {r["model"] for r in refused}
    if unknown:
        raise ValueError(f"no model is called {', '.join(sorted(unknown))}; there is {', '.join(cases)}")
    return {name: case for name, case in cases.items() if not args.only or name in args.only}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", type=pathlib.Path, help="the float ONNX model")
    parser.add_argument("out", type=pathlib.Path, help="the quantised model to write")
    parser.add_argument("--way", choices=WAYS, required=True,
                        help="; ".join(f"{way}: {text}" for way, text in WAYS.items()))
    parser.add_argument("--input", action="append", default=[], metavar="NAME:FILE.npy",
                        help="a sample of an input, for calibration; repeats")
    args = parser.parse_args()
    logging.disable(logging.WARNING)
    ort.set_default_logger_severity(3)
    feeds = {name: np.load(file) for name, _, file in (i.rpartition(":") for i in args.input)}
    try:
        make(args.model, args.way, feeds, args.out)
    except RuntimeError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
