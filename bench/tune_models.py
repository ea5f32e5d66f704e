#!/usr/bin/env python3
"""Tunes models on one device and compares predicted, tuned and cuBLASLt's choices: one row per model.

  bench/tune_models.py --bin BIN --models DIR [--models DIR] --out OUT [--target cuda] [--device cuda:0]
                       [--seconds 560] [--math fp32,tf32,fp16] [--state cold|warm] [--only REGEX] [--again]

Each DIR holds a manifest.json of cases: model, inputs, outputs (tests/exporters/export.py writes one too), or is
what bench/compare_torch.py left (a folder with model.onnx and inputs.json for each model). A case without outputs
is compared with the same model compiled for the CPU in fp32. A math mode is that of products alone; "fp16-stored"
and "bf16-stored" are --precision=fp16 and bf16, which store values in 16 bits too. For every case it
  1. compiles with predictions only,
  2. tunes (aicf-compile --tune) into OUT/timing-cache.txt, which all cases share, and compiles from it,
  3. compiles from it with --policy=gemm=cublaslt, where that changes a step,
then runs all of these in turn, several processes each, and takes the median of their median latencies.
OUT gets timing-cache.txt (copy it to bench/timing-cache/), table.md (to bench/results/), fitted_costs.def
(to compiler/costs/), log.txt and results/, from which an interrupted call goes on. First all cases in the first math
mode, then the slower ones in the others while time is left. Exit code 1 when a result is outside its
tolerance. Plain Python 3; needs aicf-compile, aicf-run and aicf-inspect in BIN, and NVRTC for CUDA.
"""
import argparse
import json
import math
import os
import pathlib
import re
import shlex
import statistics
import subprocess
import sys
import time

TOLERANCE = {"fp32": 1e-4, "tf32": 2e-2, "fp16": 2e-2, "bf16": 1e-1, "fp16-stored": 5e-2, "bf16-stored": 2e-1}
VARIANTS = ("predicted", "tuned", "cublaslt")


class Failure(Exception):
    """A command that failed: its last line."""


class Case:
    def __init__(self, folder, name, entry):
        self.folder, self.name = folder, name
        self.model = folder / entry["model"]
        self.inputs, self.outputs = entry["inputs"], entry.get("outputs", {})

    def shapes(self):
        return [f"--shapes={n}:{'x'.join(map(str, i['shape']))}" for n, i in self.inputs.items()]

    def input_flags(self):
        return [f"--load-inputs={n}:{self.folder / i['file']}" for n, i in self.inputs.items() if "file" in i]

    def output_flags(self):
        return [f"--load-ref-outputs={n}:{self.folder / f}" for n, f in self.outputs.items()]


def exported_entry(folder):
    """A model of bench/compare_torch.py as a manifest has it; inputs and references are there once it measured."""
    listed = json.loads((folder / "inputs.json").read_text())
    inputs = {n: {"shape": shape} for n, shape in listed["shapes"].items()}
    for name, file in listed["files"].items():
        if (folder / f"input_{file}.npy").is_file():
            inputs[name]["file"] = f"input_{file}.npy"
    outputs = {f.stem.removeprefix("reference_"): f.name for f in sorted(folder.glob("reference_*.npy"))}
    return {"model": "model.onnx", "inputs": inputs, "outputs": outputs}


def load_cases(folders, only):
    cases = {}
    for folder in folders:
        if (folder / "manifest.json").is_file():
            entries = json.loads((folder / "manifest.json").read_text())
            found = [Case(folder, name, entry) for name, entry in entries.items()]
        else:
            exports = sorted(path.parent for path in folder.glob("*/inputs.json"))
            found = [Case(export, export.name, exported_entry(export)) for export in exports]
        cases |= {c.name: c for c in found if c.model.suffix == ".onnx" and re.search(only, c.name)}
    return list(cases.values())


def mode_flag(mode):
    """What aicf-compile is told: "fp16" is the mode of products, "fp16-stored" the type of values too."""
    return f"--precision={mode.removesuffix('-stored')}" if mode.endswith("-stored") else f"--math={mode}"


def reference_errors(path):
    """How far references themselves are off, by case (tests/models/reference_errors.inc)."""
    worst = {}
    if path.is_file():
        for name, error in re.findall(r'AICF_REFERENCE\("([^"]+)",\s*"[^"]*",\s*([-0-9.e]+)\)', path.read_text()):
            worst[name] = max(worst.get(name, 0), float(error))
    return worst


class Bench:
    def __init__(self, args):
        self.args, self.out = args, args.out
        self.started = time.monotonic()
        self.cache = args.out / "timing-cache.txt"
        self.errors = reference_errors(args.reference_errors)
        for name in ("results", "artifacts", "references"):
            (args.out / name).mkdir(parents=True, exist_ok=True)

    def left(self):
        return self.args.seconds - (time.monotonic() - self.started)

    def tool(self, name, *flags):
        command = [str(self.args.bin / name), *map(str, flags)]
        done = subprocess.run(command, capture_output=True, text=True)
        with open(self.out / "log.txt", "a") as log:  # what a remote machine says is all there is of it
            log.write(f"{self.args.seconds - self.left():7.1f} s  {shlex.join(command)}\n{done.stderr}")
            if name == "aicf-compile":
                log.write(done.stdout)
        if done.returncode != 0:
            last = (done.stderr.strip() or done.stdout.strip() or "no output").splitlines()[-1]
            raise Failure(f"exit {done.returncode}: {last[:300]}")
        return done.stdout

    def compile(self, case, mode, variant, *flags):
        artifact = self.out / "artifacts" / f"{case.name}.{mode}.{variant}.aicf"
        self.tool("aicf-compile", case.model, "-o", artifact, "--force", f"--target={self.args.target}",
                  mode_flag(mode), "--impossible-branches=nan", f"--kernel-cache={self.out / 'kernels'}",
                  *case.shapes(), *flags)
        return artifact

    def kernels(self, artifact):
        return [s["kernel"] for s in json.loads(self.tool("aicf-inspect", artifact, "--json"))["steps"]]

    def build(self, case, mode):
        """The variants' artifacts, and their steps' kernels."""
        cached = f"--timing-cache={self.cache}"
        artifacts = {"predicted": self.compile(case, mode, "predicted")}
        begin = time.monotonic()
        budget = max(2, min(self.args.tune_seconds, self.left() / 3))
        self.compile(case, mode, "tuned", f"--tune={budget:.1f}", f"--tune-state={self.args.state}", cached)
        tune_s = time.monotonic() - begin
        # Once more without the device's help: what any machine makes of the cache.
        artifacts["tuned"] = self.compile(case, mode, "tuned", cached)
        if self.args.target.startswith("cuda"):
            artifact = self.compile(case, mode, "cublaslt", cached, "--policy=gemm=cublaslt")
            if any(k.startswith("cublaslt.") for k in self.kernels(artifact)):
                artifacts["cublaslt"] = artifact
        return artifacts, tune_s

    def reference_flags(self, case):
        if case.outputs:
            return case.output_flags()
        folder = self.out / "references" / case.name
        listing = folder / "outputs.json"
        if not listing.is_file():
            artifact = self.out / "artifacts" / f"{case.name}.reference.aicf"
            self.tool("aicf-compile", case.model, "-o", artifact, "--force", "--target=cpu",
                      "--impossible-branches=nan", *case.shapes())
            self.tool("aicf-run", artifact, *case.input_flags(), f"--export-output={folder}", "--duration=0",
                      "--warm-up=0", "--iterations=1")
        outputs = json.loads(listing.read_text())
        outputs = outputs.get("outputs", outputs) if isinstance(outputs, dict) else outputs
        return [f"--load-ref-outputs={o['name']}:{folder / o['file']}" for o in outputs]

    def check(self, case, mode, artifact):
        narrow = "fp16" if mode == "fp32" and "fp16" in case.name else mode
        limit = TOLERANCE[narrow] + self.errors.get(case.name, 0)
        try:
            self.tool("aicf-run", artifact, f"--device={self.args.device}", *case.input_flags(),
                      *self.reference_flags(case), f"--rel={limit:g}", "--duration=0", "--warm-up=0",
                      "--iterations=1")
        except Failure as failure:
            return str(failure)
        return "pass"

    def latency_us(self, case, artifact):
        text = self.tool("aicf-run", artifact, f"--device={self.args.device}", "--json", *case.input_flags(),
                         f"--duration={self.args.duration}", "--warm-up=100")
        info = json.loads(text)
        return info["latency_ms"]["median"] * 1e3, info["device"]

    def measure(self, case, mode):
        artifacts, tune_s = self.build(case, mode)
        row = {"case": case.name, "math": mode, "tune_s": tune_s, "us": {}, "check": {}}
        kernels = {v: self.kernels(a) for v, a in artifacts.items()}
        row["steps"] = len(kernels["tuned"])
        row["changed"] = sum(a != b for a, b in zip(kernels["predicted"], kernels["tuned"]))
        row["products"] = sum(k.startswith("cublaslt.") for k in kernels.get("cublaslt", []))
        for variant, artifact in artifacts.items():
            row["check"][variant] = self.check(case, mode, artifact)
        samples = {v: [] for v in artifacts}
        for turn in range(self.args.rounds):
            order = list(artifacts)
            for variant in order[turn % len(order):] + order[:turn % len(order)]:
                us, row["device"] = self.latency_us(case, artifacts[variant])
                samples[variant].append(us)
        for variant, values in samples.items():
            row["us"][variant] = statistics.median(values)
        row["samples"] = samples
        for artifact in artifacts.values():
            artifact.unlink()
        return row

    def result_path(self, case, mode):
        return self.out / "results" / f"{case.name}.{mode}.json"

    def load(self, case, mode):
        path = self.result_path(case, mode)
        return json.loads(path.read_text()) if path.is_file() and not self.args.again else None

    def run(self, case, mode, number, total):
        begin = time.monotonic()
        try:
            row = self.measure(case, mode)
        except Failure as failure:
            row = {"case": case.name, "math": mode, "failed": str(failure)}
        path = self.result_path(case, mode)
        partial = path.with_suffix(".partial")
        partial.write_text(json.dumps(row, indent=1))
        os.replace(partial, path)
        words = row.get("failed") or "  ".join(f"{v} {row['us'][v]:.1f} us" for v in row["us"])
        print(f"[{number}/{total}] {case.name} {mode}: {words}  ({time.monotonic() - begin:.0f} s, "
              f"{max(0, self.left()):.0f} s left)", flush=True)
        return row


def plan(cases, modes, rows):
    """(case, mode) in order: everything in the first mode, then the slowest first in the others."""
    work = [(case, modes[0]) for case in cases]
    slow = sorted(cases, key=lambda c: -rows.get((c.name, modes[0]), {}).get("us", {}).get("predicted", 0))
    return work + [(case, mode) for mode in modes[1:] for case in slow]


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values)) if values else float("nan")


def ratios(rows, top, bottom):
    return [r["us"][top] / r["us"][bottom] for r in rows if top in r.get("us", {}) and bottom in r.get("us", {})]


def number(value, digits=1):
    return "" if value is None else f"{value:.{digits}f}"


def row_text(r):
    if "failed" in r:
        return f"| {r['case']} | {r['math']} | {r['failed']} | | | | | | | |"
    us = r["us"]
    bad = [f"{v}: {c}" for v, c in r["check"].items() if c != "pass"]
    against = us["cublaslt"] / us["tuned"] if "cublaslt" in us else None
    return (f"| {r['case']} | {r['math']} | {'; '.join(bad) or 'pass'} | {r['steps']} | {r['changed']} | "
            f"{number(us['predicted'])} | {number(us['tuned'])} | {number(us['predicted'] / us['tuned'], 3)} | "
            f"{number(us.get('cublaslt'))} | {number(against, 3)} |")


def versions(args, cache):
    found = []
    try:
        text = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"],
                              capture_output=True, text=True).stdout
        found += [f"driver {text.splitlines()[0].split(', ')[1]}"] if text.strip() else []
    except (OSError, IndexError):
        pass
    text = cache.read_text() if cache.is_file() else ""
    found += sorted(set(re.findall(r"(?:nvrtc|cublaslt)-[0-9.]+", text)))
    done = subprocess.run([str(args.bin / "aicf-compile"), "--version"], capture_output=True, text=True)
    return ", ".join([done.stdout.strip(), *found])


def table(bench, rows, missing):
    args = bench.args
    device = next((r["device"] for r in rows if "device" in r), "unknown device")
    tuned = ratios(rows, "predicted", "tuned")
    lines = [f"# Predicted, tuned and cuBLASLt's choices on {device}", "",
             f"{device}; {versions(args, bench.cache)}; {time.strftime('%Y-%m-%d')}. Replay latency of one "
             f"inference, median of {args.rounds} processes' medians, the variants in turn; tuned with "
             f"operands {args.state}. \"changed\": steps whose kernel tuning changed. cuBLASLt: its first "
             "deterministic heuristic for every matrix product that it takes, other steps tuned.", "",
             "    " + shlex.join(["bench/tune_models.py", *sys.argv[1:]]), "",
             "| model | math | check | steps | changed | predicted us | tuned us | predicted / tuned | "
             "cuBLASLt us | cuBLASLt / tuned |", "|---|---|---|--:|--:|--:|--:|--:|--:|--:|",
             *map(row_text, rows), ""]
    if tuned:
        lines += [f"Predicted over tuned: geometric mean {geometric_mean(tuned):.3f}, "
                  f"least {min(tuned):.3f}, most {max(tuned):.3f}, {len(tuned)} rows."]
    library = ratios(rows, "cublaslt", "tuned")
    if library:
        lines += [f"cuBLASLt's first heuristic over tuned: geometric mean {geometric_mean(library):.3f}, "
                  f"{len(library)} rows."]
    if missing:
        lines += ["", "No time for: " + ", ".join(f"{c.name} {m}" for c, m in missing) + "."]
    return "\n".join(lines) + "\n"


def fit(bench):
    """fitted_costs.def from the cache; its comments on how well it fits, for the table."""
    try:
        text = bench.tool("aicf-compile", "--fit-costs", f"--timing-cache={bench.cache}",
                          f"--target={bench.args.target}")
    except Failure as failure:
        return f"\nFitted costs: {failure}\n"
    (bench.out / "fitted_costs.def").write_text(text)
    quality = [line[3:] for line in text.splitlines() if "error of" in line]
    return "\nPredictions against the cache:\n" + "".join(f"- {line}\n" for line in quality)


def parse_args():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    parser.add_argument("--models", type=pathlib.Path, action="append", required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--target", default="cuda")
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--math", default="fp32,tf32,fp16")
    parser.add_argument("--state", default="cold", choices=["cold", "warm"])
    parser.add_argument("--only", default="", help="cases whose name matches this")
    parser.add_argument("--seconds", type=float, default=560, help="start nothing new after this")
    parser.add_argument("--tune-seconds", type=float, default=60, help="most for one case")
    parser.add_argument("--duration", type=float, default=0.15, help="of one measured process")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--again", action="store_true", help="forget earlier results, keep the cache")
    here = pathlib.Path(__file__).resolve().parent
    parser.add_argument("--reference-errors", type=pathlib.Path,
                        default=here.parent / "tests" / "models" / "reference_errors.inc")
    return parser.parse_args()


def main():
    args = parse_args()
    bench = Bench(args)
    cases, modes = load_cases(args.models, args.only), args.math.split(",")
    rows, missing, costs = {}, [], []
    work = [(case, modes[0]) for case in cases]
    total = len(cases) * len(modes)
    for position in range(total):
        if position == len(cases):
            work = plan(cases, modes, rows)
        case, mode = work[position]
        row, begin = bench.load(case, mode), time.monotonic()
        if row is None:
            if bench.left() < (statistics.mean(costs) if costs else 0):
                missing.append((case, mode))
                continue
            row = bench.run(case, mode, position + 1, total)
            costs.append(time.monotonic() - begin)
        rows[case.name, mode] = row
        (args.out / "table.md").write_text(table(bench, list(rows.values()), missing))
    text = table(bench, list(rows.values()), missing) + fit(bench)
    (args.out / "table.md").write_text(text)
    print(text)
    bad = [r for r in rows.values() if "failed" in r or any(c != "pass" for c in r["check"].values())]
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
