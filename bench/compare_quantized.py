#!/usr/bin/env python3
"""aicf beside ONNX Runtime on quantised models: same machine, same run, 1 and 2 threads.

  bench/compare_quantized.py --models build/data/models [--exports DIR] [--unet 1024] [--made DIR]
                             [--only NAME,...] [--ways static,channel,dynamic] [--json F]

Every float model of the collection (compare_onnx.py's) is quantised in three ways with ONNX Runtime's own
tool (quantized_models.py), compiled by aicf, and run by both in alternating rounds. One row per model and
way: the median latencies, and the ratio of each engine's better number of threads (below 1: aicf is faster).
What ONNX Runtime's tool cannot quantise, what either engine refuses, and what takes longer than
--limit-seconds is listed below the table with the reason.

The columns after the ratio say how far results are off what the model says (quantized_results.py): aicf's,
ONNX Runtime's, and what one unit in the last place of the model's floats would change. Rounding makes
quantised results jump by whole steps, so the first is to be read beside the other two. It is marked with *
where it is above 0.001 and more than twice as large as both; the same holds for the root mean square.

--exports takes a folder with further float models, each NAME.onnx with static inputs. An input is read from
NAME.INPUT.npy where that is there; others are random: normal floats, and integers that are 0 or 1.
bench/shaped_models.py makes such a folder, of models with the shapes of well-known networks.
--unet adds the network of quantized_unet.py, which is quantised as it is made.

Needs onnxruntime, onnx, numpy and sympy from PyPI, and a release build of aicf.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np
import onnx
import onnxruntime as ort

import quantized_models
from compare_onnx import (ROOT, ROUNDS, Peer, compile_command, exported_outputs, outputs_command, processor,
                          providers_for, timing_command)
from quantized_models import Refused
from quantized_results import EXACT, USUAL, evaluated, nudged, suspicious, worst_difference


def last_line(text):
    return (text.strip().splitlines() or ["no message"])[-1]


def call(command, limit):
    """A command's stdout, or Refused with the last thing that it said."""
    name = pathlib.Path(command[0]).name
    try:
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=limit)
    except subprocess.TimeoutExpired:
        raise Refused(f"{name}: over {limit:g} s") from None
    except OSError as error:
        raise Refused(f"{name}: {error.strerror}") from None
    if done.returncode < 0:
        raise Refused(f"{name}: ended by signal {-done.returncode}")
    if done.returncode:
        said = last_line(done.stderr).removeprefix(f"{name}: ")
        raise Refused(f"{name}: exit code {done.returncode}: {said}")
    return done.stdout


# The models.

def quantised(args, name, case, way, folder):
    """The quantised model's file, made unless --made has it already."""
    if "quantised" in case:
        return case["model"]
    out = (args.made or folder) / f"{name}.{way}.onnx"
    if not out.exists():
        inputs = {n: i["file"] for n, i in case["inputs"].items()}
        why = quantized_models.make_apart(case["model"], way, inputs, out, args.limit_seconds)
        if why:
            raise Refused(f"ONNX Runtime's tool: {why}")
    return out


# One row.

def compare_results(args, row, model, feeds, inputs, artifact, folder):
    """Fills in the differences; returns the seconds of one run of ONNX Runtime and of aicf."""
    exact, _ = evaluated(model, feeds, EXACT, args.limit_seconds)
    theirs, their_seconds = evaluated(model, feeds, USUAL, args.limit_seconds)
    row["ort_off"], row["ort_rms"] = worst_difference(theirs, exact)
    start = time.perf_counter()
    call(outputs_command(args, artifact, inputs, folder), args.limit_seconds)
    our_seconds = time.perf_counter() - start
    row["aicf_off"], row["aicf_rms"] = worst_difference(exported_outputs(folder), exact)
    row["nudged_off"], row["nudged_rms"] = nudged(model, feeds, exact, args.limit_seconds)
    return their_seconds, our_seconds


def compare_times(args, row, model, feeds, inputs, artifact, seconds):
    """Fills in both engines' medians, measured in turn. A slow model gets fewer runs in each round."""
    least = [5 if s < args.seconds else 1 for s in seconds]
    for threads in (1, 2):
        ours, theirs = [], []
        for _ in range(ROUNDS):
            peer = Peer(str(model), feeds, threads, args.providers)
            theirs.append(peer.median_ms(args.seconds, least[0]))
            del peer  # its threads wait actively for a while
            command = timing_command(args, artifact, inputs, threads, args.seconds)
            run = json.loads(call([*command, f"--iterations={least[1]}"], args.limit_seconds))
            ours.append(run["latency_ms"]["median"])
        row[f"aicf_{threads}"], row[f"ort_{threads}"] = statistics.median(ours), statistics.median(theirs)
    row["ratio"] = min(row["aicf_1"], row["aicf_2"]) / min(row["ort_1"], row["ort_2"])


def peer_times(args, row, model, feeds):
    """ONNX Runtime's times alone, for a model that aicf does not run."""
    for threads in (1, 2):
        row[f"ort_{threads}"] = Peer(str(model), feeds, threads, args.providers).median_ms(args.seconds, 1)


def measure(args, name, case, way, folder):
    """The row of a model quantised in one way; it has a "reason" where a part of it could not be measured."""
    row = {"model": name, "way": way}
    inputs = {n: i["file"] for n, i in case["inputs"].items()}
    feeds = {n: np.load(f) for n, f in inputs.items()}
    artifact = folder / f"{name}.{way}.aicf"
    model = None
    try:
        model = quantised(args, name, case, way, folder)
        row["made"] = onnx.load(model).doc_string
        call(compile_command(args, case, model, artifact), args.limit_seconds)
        results = folder / f"{name}.{way}"
        seconds = compare_results(args, row, model, feeds, inputs, artifact, results)
        if not args.results_only:
            compare_times(args, row, model, feeds, inputs, artifact, seconds)
    except Refused as reason:
        row["reason"] = str(reason)
        if model and not args.results_only and "ONNX Runtime" not in row["reason"]:
            peer_times(args, row, model, feeds)
    return row


# What is printed.

COLUMNS = [("aicf_1", "aicf 1t", 10, ".3f"), ("ort_1", "ORT 1t", 10, ".3f"), ("aicf_2", "aicf 2t", 10, ".3f"),
           ("ort_2", "ORT 2t", 10, ".3f"), ("ratio", "ratio", 7, ".2f"), ("aicf_off", "aicf off", 9, ".1e"),
           ("ort_off", "ORT off", 9, ".1e"), ("nudged_off", "nudged", 9, ".1e")]
LEGEND = """times in ms; ratio: the better thread count of each, below 1: aicf is faster
off: largest difference from ONNX Runtime with no graph optimisation, in units of the output's range
nudged: what one unit in the last place of the model's floats changes; *: aicf's is not explained by both"""


def line(model, way, texts):
    padded = [f"{text:>{width}}" for text, (_, _, width, _) in zip(texts, COLUMNS)]
    return " ".join([f"{model:26} {way:8}", *padded])


def show_header(args):
    print(f"{processor()}; aicf --math={args.math}, onnxruntime {ort.__version__}\n{LEGEND}")
    print(line("model", "way", [title for _, title, _, _ in COLUMNS]), flush=True)


def show_row(row):
    texts = [format(row[key], form) if key in row else "-" for key, _, _, form in COLUMNS]
    print(line(row["model"], row["way"], texts) + (" *" if suspicious(row) else ""), flush=True)


def show_ratios(title, ratios):
    if ratios:
        print(f"{title}: geometric mean {statistics.geometric_mean(ratios):.3f}, worst {max(ratios):.3f}, "
              f"aicf faster in {sum(r < 1 for r in ratios)} of {len(ratios)}")


def show_summary(rows):
    for way in quantized_models.WAYS:
        show_ratios(f"{way:8}", [r["ratio"] for r in rows if r["way"] == way and "ratio" in r])
    show_ratios("all     ", [r["ratio"] for r in rows if "ratio" in r])
    compared = [r for r in rows if "nudged_off" in r]
    print(f"results: {len(compared)} compared, {sum(map(suspicious, compared))} marked *")
    refused = [r for r in rows if "reason" in r]
    if refused:
        print(f"{len(refused)} not measured, or in part:")
    for row in refused:
        print(f"  {row['model']} {row['way']}: {row['reason']}")


# The command.

def names(known):
    """A parser of comma-separated names; of these, if there are any to choose from."""
    def parse(text):
        listed = [n for n in text.split(",") if n]
        unknown = [n for n in listed if known and n not in known]
        if unknown:
            raise argparse.ArgumentTypeError(f"{', '.join(unknown)}: choose from {', '.join(known)}")
        return listed
    return parse


def model_arguments(parser):
    """Which models, where their quantised forms are kept, and the programs that take them."""
    parser.add_argument("--models", type=pathlib.Path, default=ROOT / "build/data/models",
                        help="folder of float models with a manifest.json")
    parser.add_argument("--exports", type=pathlib.Path, help="folder of further float models, each NAME.onnx")
    parser.add_argument("--unet", type=int, metavar="SIZE",
                        help="also the network of quantized_unet.py, for a picture of this height and width")
    parser.add_argument("--made", type=pathlib.Path,
                        help="keep the quantised models here, as NAME.WAY.onnx, and use those that are here")
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build/release/bin",
                        help="folder of aicf-compile and aicf-run")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    model_arguments(parser)
    parser.add_argument("--math", default="fp32", help="aicf-compile's --math; default fp32")
    parser.add_argument("--only", type=names(None), default=[], help="comma-separated names of models")
    parser.add_argument("--ways", type=names(quantized_models.WAYS), default=list(quantized_models.WAYS),
                        help="comma-separated, of: " + ", ".join(quantized_models.WAYS))
    parser.add_argument("--seconds", type=float, default=1.0, help="per measurement; default 1")
    parser.add_argument("--limit-seconds", type=float, default=120.0,
                        help="what takes longer, of one compilation or run, is reported as such; default 120")
    parser.add_argument("--results-only", action="store_true", help="compare results, measure no times")
    parser.add_argument("--json", type=pathlib.Path, help="write the rows to this file")
    args = parser.parse_args()
    args.device, args.target, args.providers = "cpu", "cpu", providers_for("cpu")
    check_folders(parser, args)
    return args


def check_folders(parser, args):
    if not (args.models / "manifest.json").is_file():
        parser.error(f"--models {args.models}: there is no manifest.json")
    if args.exports and not args.exports.is_dir():
        parser.error(f"--exports {args.exports}: no such folder")
    if not (args.bin / "aicf-compile").is_file():
        parser.error(f"--bin {args.bin}: there is no aicf-compile")
    if args.made:
        args.made.mkdir(parents=True, exist_ok=True)


def all_rows(args, folder):
    rows = []
    try:
        cases = quantized_models.all_cases(args, folder, rows)
    except ValueError as error:
        sys.exit(f"compare_quantized.py: {error}")
    show_header(args)
    for name, case in cases.items():
        for way in [case["quantised"]] if "quantised" in case else args.ways:
            rows.append(measure(args, name, case, way, folder))
            show_row(rows[-1])
    return rows


def main():
    args = arguments()
    with tempfile.TemporaryDirectory() as folder:
        rows = all_rows(args, pathlib.Path(folder))
    show_summary(rows)
    if args.json:
        args.json.write_text(json.dumps({"processor": processor(), "onnxruntime": ort.__version__,
                                         "math": args.math, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
