#!/usr/bin/env python3
"""aicf's results on quantised models beside an exact evaluation of the same graphs.

  bench/quantized_exact.py --models build/data/models [--exports DIR] [--unet 1024] [--made DIR]
                           [--only NAME,...] [--ways static,channel,dynamic] [--json F]

The models are those of compare_quantized.py, and the exact evaluation is that of exact_ops.py: products of codes
without rounding, everything else in float64, rounded half to even where the model quantises. Two comparisons:

By segment. Every result of QuantizeLinear and DynamicQuantizeLinear becomes an output of the model, which is
compiled again, and each is judged on aicf's own values of those before it: what lies between two roundings is a
segment, and a code that differs is wrong by that segment alone. A code that is not the exact one is right where the
real number lies next to the middle between two: the column "beyond" says how far on the other side of the middle
it lay at most, in steps of the codes. A wrong result is a code that is off by more than a step, or one that is
off by one far from the middle.

End to end. The model as it is, from its inputs to its outputs, in units of the last quantisation step: the scale
of the DequantizeLinear that an output comes from, else (outputs that are sums of floats) its range / 255.
Here one rounding near a middle decides others after it, so ONNX Runtime's outputs with every optimisation
disabled stand beside aicf's.

Needs what compare_quantized.py needs.
"""
import argparse
import json
import pathlib
import sys
import tempfile

import numpy as np
import onnx
from onnx import helper, numpy_helper

import quantized_models
from compare_onnx import ROOT, compile_command, exported_outputs, outputs_command, processor
from compare_quantized import call, check_folders, model_arguments, names, quantised
from exact_ops import Quantised, evaluate, quantise, wide
from quantized_models import Refused, first_line
from quantized_results import EXACT, evaluated

QUANTISERS = ("QuantizeLinear", "DynamicQuantizeLinear")
# What hands a value on as it is: the step of its result is that of its operand.
MOVERS = ("Reshape", "Transpose", "Flatten", "Squeeze", "Unsqueeze", "Identity", "Slice", "Cast")


class Graph:
    """A model's nodes in order, and who needs what how long."""

    def __init__(self, path):
        self.model = onnx.load(path)
        graph = self.model.graph
        self.constants = {t.name: wide(numpy_helper.to_array(t)) for t in graph.initializer}
        self.opsets = {o.domain: o.version for o in self.model.opset_import}
        self.nodes = list(graph.node)
        self.outputs = [o.name for o in graph.output]
        self.producer = {name: node for node in self.nodes for name in node.output if name}
        self.last = {name: i for i, node in enumerate(self.nodes) for name in node.input if name}

    def codes(self):
        """Results of the ops that quantise, in order; a dynamic one's scale and zero point too."""
        return [name for node in self.nodes if node.op_type in QUANTISERS for name in node.output if name]

    def step(self, name, value):
        """The unit in which an output is compared."""
        node = self.producer.get(name)
        while node is not None and node.op_type in MOVERS:
            node = self.producer.get(node.input[0])
        scale = self.constants.get(node.input[1]) if node is not None and \
            node.op_type == "DequantizeLinear" else None
        if scale is not None and np.size(scale) == 1:
            return float(np.ravel(scale)[0])
        return float(np.ptp(value)) / 255 or 1.0


def run(graph, feeds, given=None):
    """The graph's outputs. given: aicf's values by name; they take the place of exact ones after `judged` has
    both. Returns (outputs, judged): judged maps a name to (exact value, aicf's value)."""
    values = {**graph.constants, **{n: wide(v) for n, v in feeds.items()}}
    judged = {}
    for i, node in enumerate(graph.nodes):
        for name, found in zip(node.output, evaluate(node, [values.get(n) for n in node.input], graph.opsets)):
            exact = found.codes if isinstance(found, Quantised) else found
            if given and name in given:
                judged[name] = (found, given[name])
                exact = wide(given[name])
            values[name] = exact
        if node.op_type == "DynamicQuantizeLinear" and given:
            rejudge(node, values, judged, given)
        for name in node.input:
            if graph.last.get(name) == i and name not in graph.outputs:
                values.pop(name, None)
    return {name: values[name] for name in graph.outputs}, judged


def rejudge(node, values, judged, given):
    """The codes of a dynamic quantisation follow from the scale and zero point that aicf found."""
    y, scale, zero = node.output
    judged[y] = (quantise(values[node.input[0]], np.float64(given[scale]), given[zero], 0), given[y])


# aicf's side.

def exposed(path, out):
    """The model with every quantised value among its outputs."""
    graph = Graph(path)
    model = graph.model
    present = set(graph.outputs)
    types = {t.name: t.data_type for t in model.graph.initializer}
    for node in model.graph.node:
        if node.op_type not in QUANTISERS:
            continue
        kinds = [onnx.TensorProto.UINT8, onnx.TensorProto.FLOAT, onnx.TensorProto.UINT8]
        if node.op_type == "QuantizeLinear" and len(node.input) > 2:
            kinds = [types.get(node.input[2], onnx.TensorProto.UINT8)]
        for name, kind in zip(node.output, kinds):
            if name not in present:
                model.graph.output.append(helper.make_tensor_value_info(name, kind, None))
    onnx.save(model, out)
    return out


def aicf_outputs(args, case, model, folder):
    inputs = {n: i["file"] for n, i in case["inputs"].items()}
    artifact = folder / "model.aicf"
    call(compile_command(args, case, model, artifact), args.limit_seconds)
    call(outputs_command(args, artifact, inputs, folder / "outputs"), args.limit_seconds)
    found = exported_outputs(folder / "outputs")
    artifact.unlink()
    return found


# Comparisons.

def judge_segments(row, judged):
    """Counts over all codes; a dynamic scale is compared relatively, and adds to no count."""
    row.update(codes=0, differ=0, steps=0, beyond=-0.5, scale=0.0)
    for found, ours in judged.values():
        if not isinstance(found, Quantised):
            row["scale"] = max(row["scale"], abs(float(ours) / float(found) - 1))
            continue
        off = np.abs(found.codes.astype(np.int64) - ours)
        row["codes"] += off.size
        row["differ"] += int(np.count_nonzero(off))
        row["steps"] = max(row["steps"], int(off.max(initial=0)))
        beyond = np.abs(found.real - ours)[off > 0] - 0.5
        row["beyond"] = max(row["beyond"], float(beyond.max(initial=-0.5)))


def in_steps(graph, got, want):
    """(elements, elements off by half a step or more, the largest difference in steps) over float outputs."""
    count, differ, largest = 0, 0, 0.0
    for name, exact in want.items():
        if exact.dtype.kind != "f":
            continue
        finite = np.isfinite(exact)
        off = np.abs(got[name].astype(np.float64) - exact)[finite] / graph.step(name, exact[finite])
        count += exact.size
        differ += int(np.count_nonzero(off >= 0.5)) + int(np.count_nonzero(np.isfinite(got[name]) != finite))
        largest = max(largest, float(off.max(initial=0.0)))
    return count, differ, largest


def measure(args, name, case, way, folder):
    row = {"model": name, "way": way}
    feeds = {n: np.load(i["file"]) for n, i in case["inputs"].items()}
    try:
        model = quantised(args, name, case, way, folder)
        graph = Graph(model)
        row["segments"] = len(graph.codes())
        ours = aicf_outputs(args, case, exposed(model, folder / "exposed.onnx"), folder)
        outputs, judged = run(graph, feeds, {n: ours[n] for n in graph.codes()})
        judge_segments(row, judged)
        row["outputs"], row["off"], row["last"] = in_steps(graph, ours, outputs)
        exact, _ = run(graph, feeds)
        _, row["ours_off"], row["ours_steps"] = in_steps(graph, aicf_outputs(args, case, model, folder), exact)
        theirs, _ = evaluated(model, feeds, EXACT, args.limit_seconds)
        _, row["ort_off"], row["ort_steps"] = in_steps(graph, theirs, exact)
    except Refused as reason:
        row["reason"] = str(reason)
    except NotImplementedError as reason:
        row["reason"] = f"no exact form of {reason}"
    except Exception as error:  # the standard's evaluator raises whatever it likes
        row["reason"] = f"the exact evaluation: {first_line(error, folder)}"
    return row


# What is printed.

COLUMNS = [("codes", "codes", 10, "d"), ("differ", "differ", 7, "d"), ("steps", "steps", 6, "d"),
           ("beyond", "beyond", 8, ".0e"), ("outputs", "outputs", 8, "d"), ("last", "last", 8, ".0e"),
           ("ours_off", "aicf off", 9, "d"), ("ours_steps", "steps", 7, ".1f"), ("ort_off", "ORT off", 9, "d"),
           ("ort_steps", "steps", 7, ".1f")]
LEGEND = """by segment, on aicf's own codes - codes: quantised elements; differ: not the exact code; steps: by how much
at most; beyond: how far past the middle between two codes at most; last: the outputs' largest error in steps
end to end - off: outputs half a step or more from the exact ones; steps: by how much at most"""


def text_of(row, key, form):
    if key not in row:
        return "-"
    return "-" if key == "beyond" and row["differ"] == 0 else format(row[key], form)


def line(model, way, texts):
    return " ".join([f"{model:26} {way:8}", *[f"{t:>{w}}" for t, (_, _, w, _) in zip(texts, COLUMNS)]])


def show_row(row):
    print(line(row["model"], row["way"], [text_of(row, key, form) for key, _, _, form in COLUMNS]), flush=True)


def show_summary(rows):
    done = [r for r in rows if "codes" in r]
    print(f"{len(done)} models, {sum(r['codes'] for r in done)} codes, {sum(r['differ'] for r in done)} differ, "
          f"by {max((r['steps'] for r in done), default=0)} at most, beyond the middle by "
          f"{max((r['beyond'] for r in done), default=0):.1e} at most; scales by "
          f"{max((r['scale'] for r in done), default=0):.1e} relatively")
    for row in rows:
        if "reason" in row:
            print(f"  {row['model']} {row['way']}: {row['reason']}")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    model_arguments(parser)
    parser.add_argument("--target", default="cpu", help="aicf-compile's --target; a CUDA plan is executed by the "
                        "reference kernels")
    parser.add_argument("--math", default="fp32", help="aicf-compile's --math; default fp32")
    parser.add_argument("--only", type=names(None), default=[], help="comma-separated names of models")
    parser.add_argument("--ways", type=names(quantized_models.WAYS), default=list(quantized_models.WAYS),
                        help="comma-separated, of: " + ", ".join(quantized_models.WAYS))
    parser.add_argument("--limit-seconds", type=float, default=300.0,
                        help="what takes longer, of one compilation or run, is reported as such; default 300")
    parser.add_argument("--json", type=pathlib.Path, help="write the rows to this file")
    args = parser.parse_args()
    args.device = "cpu"
    check_folders(parser, args)
    return args


def main():
    args = arguments()
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        try:
            cases = quantized_models.all_cases(args, folder, rows)
        except ValueError as error:
            sys.exit(f"quantized_exact.py: {error}")
        print(f"{processor()}; aicf --math={args.math} --target={args.target}\n{LEGEND}")
        print(line("model", "way", [title for _, title, _, _ in COLUMNS]), flush=True)
        for name, case in cases.items():
            for way in [case["quantised"]] if "quantised" in case else args.ways:
                rows.append(measure(args, name, case, way, folder))
                show_row(rows[-1])
    show_summary(rows)
    if args.json:
        args.json.write_text(json.dumps({"processor": processor(), "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
