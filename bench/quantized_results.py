"""How far results of a quantised model are off what the model says, for compare_quantized.py.

What the model says is what ONNX Runtime computes with every graph optimisation disabled: node by node as it
is written, the convolutions between QuantizeLinear and DequantizeLinear in floats. A difference is given
in units of the output's own range.

No fixed tolerance tells a fault from a sum in another order: where a value lies half way between two steps of
a scale, the last bit of a float decides, and the step that it takes decides others after it. So two things
stand beside what aicf differs by: what ONNX Runtime's own optimiser changes, and what changes when
each float of the inputs and constants, scales and biases included, moves by one unit in its last place.
"""
import pathlib
import tempfile
import threading
import time

import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto, numpy_helper

from quantized_models import Refused, first_line

EXACT = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
USUAL = ort.GraphOptimizationLevel.ORT_ENABLE_ALL
NOTABLE = 1e-3  # of an output's range: what is smaller is no quantisation step
NUDGES = 2  # how many different ones are tried; the largest difference counts

# Whose constants are nudged. Those of other operators may be sizes, which have to stay whole.
NUDGED_OPS = {"QuantizeLinear", "DequantizeLinear", "Conv", "Gemm", "MatMul", "Mul", "Add"}


def evaluated(model, feeds, level, limit):
    """ONNX Runtime's outputs by name at this level of optimisation, and how long one run took in seconds."""
    options = ort.SessionOptions()
    options.graph_optimization_level, options.log_severity_level = level, 4
    run = ort.RunOptions()
    run.log_severity_level = 4
    stop = threading.Timer(limit, lambda: setattr(run, "terminate", True))
    try:
        session = ort.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
        stop.start()
        start = time.perf_counter()
        results = session.run(None, feeds, run)
        seconds = time.perf_counter() - start
    except Exception as error:  # its exceptions have no common base
        if run.terminate:
            raise Refused(f"ONNX Runtime: over {limit:g} s") from None
        raise Refused(f"ONNX Runtime: {first_line(error, model.parent)}") from None
    finally:
        stop.cancel()
    return dict(zip((o.name for o in session.get_outputs()), results)), seconds


def difference(got, want):
    """The largest difference and the root mean square, or infinity where no number says it."""
    if got.shape != want.shape or not np.array_equal(np.isfinite(got), np.isfinite(want)):
        return np.array([np.inf, np.inf])
    finite = np.isfinite(want)
    got, want = got[finite].astype(np.float64), want[finite].astype(np.float64)
    if not want.size:
        return np.zeros(2)
    off = np.abs(got - want)
    extent = np.ptp(want) or np.abs(want).max() or 1.0
    return np.array([off.max(), np.sqrt(np.mean(off**2))]) / extent


def worst_difference(got, want):
    """The larger of each over all outputs of a floating type."""
    each = [difference(got[n], v) for n, v in want.items() if v.dtype.kind == "f"]
    return np.max(each, axis=0).tolist() if each else [0.0, 0.0]


def moved(value, random):
    """Each float one unit in its last place up or down; zeros and whole types stay."""
    if value.dtype.kind != "f":
        return value
    away = np.spacing(value) * random.choice(np.array([-1, 1], value.dtype), value.shape)
    return np.where(value == 0, value, value + away).astype(value.dtype)


def nudged_model(path, out, random):
    model = onnx.load(path)
    used = {i for n in model.graph.node if n.op_type in NUDGED_OPS for i in n.input}
    for tensor in model.graph.initializer:
        if tensor.name in used and tensor.data_type == TensorProto.FLOAT:
            value = moved(numpy_helper.to_array(tensor), random)
            tensor.CopyFrom(numpy_helper.from_array(value, tensor.name))
    onnx.save(model, out)
    return out


def nudged(model, feeds, exact, limit):
    """What a change of all floats by one unit in the last place does to the results."""
    worst = [0.0, 0.0]
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(NUDGES):
            random = np.random.default_rng(seed)
            near = nudged_model(model, pathlib.Path(folder) / "nudged.onnx", random)
            got, _ = evaluated(near, {n: moved(v, random) for n, v in feeds.items()}, EXACT, limit)
            worst = np.maximum(worst, worst_difference(got, exact)).tolist()
    return worst


def suspicious(row):
    """Whether aicf is further off than rounding and ONNX Runtime's own optimiser explain."""
    def unexplained(kind):
        return row[f"aicf_{kind}"] > max(NOTABLE, 2 * row[f"ort_{kind}"], 2 * row[f"nudged_{kind}"])
    return "nudged_off" in row and (unexplained("off") or unexplained("rms"))
