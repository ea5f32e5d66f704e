#!/usr/bin/env python3
"""aicf beside ONNX Runtime on the real models: same machine, same run, 1 and 2 threads.

Prints one row per model: median latency of both and the ratio (below 1: aicf is faster), with the
largest error against ONNX Runtime's outputs scaled by the tensor's largest value. The two are measured
in alternating rounds, so that a busy machine disturbs both alike.

  bench/compare_onnx.py --models build/data/models [--device cpu|cuda:0] [--only NAME,...] [--json F]

Needs onnxruntime and numpy (PyPI) and a release build of aicf.
"""
import argparse
import json
import pathlib
import platform
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np
import onnxruntime as ort

ROOT = pathlib.Path(__file__).resolve().parent.parent
ROUNDS = 3


def shape_flag(name, shape):
    return f"--shapes={name}:{'x'.join(str(d) for d in shape)}"


def compile_model(args, case, onnx, out):
    command = [args.bin / "aicf-compile", onnx, "-o", out, "--force", f"--target={args.target}",
               f"--math={args.math}"]
    command += [shape_flag(n, i["shape"]) for n, i in case["inputs"].items()]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def run_aicf(args, artifact, inputs, threads, seconds):
    command = [args.bin / "aicf-run", artifact, "--json", f"--device={args.device}",
               f"--threads={threads}", f"--duration={seconds}", "--warm-up=100"]
    command += [f"--load-inputs={n}:{f}" for n, f in inputs.items()]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def outputs_of(args, artifact, inputs, folder):
    command = [args.bin / "aicf-run", artifact, f"--device={args.device}", f"--export-output={folder}",
               "--duration=0", "--warm-up=0", "--iterations=1"]
    command += [f"--load-inputs={n}:{f}" for n, f in inputs.items()]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    listed = json.loads((folder / "outputs.json").read_text())
    listed = listed["outputs"] if isinstance(listed, dict) else listed
    return {o["name"]: np.load(folder / o["file"]) for o in listed}


class Peer:
    """One ONNX Runtime session with a fixed number of threads."""

    def __init__(self, onnx, feeds, threads):
        options = ort.SessionOptions()
        options.intra_op_num_threads = threads
        options.log_severity_level = 3
        start = time.perf_counter()
        self.session = ort.InferenceSession(onnx, options, providers=["CPUExecutionProvider"])
        self.load_ms = (time.perf_counter() - start) * 1e3
        self.feeds = feeds

    def median_ms(self, seconds):
        times, stop = [], time.perf_counter() + seconds
        self.session.run(None, self.feeds)
        while time.perf_counter() < stop or len(times) < 5:
            start = time.perf_counter()
            self.session.run(None, self.feeds)
            times.append((time.perf_counter() - start) * 1e3)
        return statistics.median(times)

    def outputs(self):
        names = [o.name for o in self.session.get_outputs()]
        return dict(zip(names, self.session.run(None, self.feeds)))


def worst_error(ours, theirs):
    worst = 0.0
    for name, want in theirs.items():
        want = np.asarray(want, np.float64)
        scale = max(np.abs(want).max(), 1e-30) if want.size else 1.0
        worst = max(worst, np.abs(ours[name].astype(np.float64) - want).max() / scale)
    return worst


def measure(args, name, case, folder):
    onnx = str(args.models / case["model"])
    inputs = {n: str(args.models / i["file"]) for n, i in case["inputs"].items()}
    feeds = {n: np.load(f) for n, f in inputs.items()}
    artifact = folder / f"{name}.aicf"
    compile_model(args, case, onnx, artifact)
    row = {"model": name}
    for threads in (1, 2):
        peer = Peer(onnx, feeds, threads)
        ours, theirs = [], []
        for _ in range(ROUNDS):
            theirs.append(peer.median_ms(args.seconds))
            run = run_aicf(args, artifact, inputs, threads, args.seconds)
            ours.append(run["latency_ms"]["median"])
        row[f"aicf_{threads}"] = statistics.median(ours)
        row[f"ort_{threads}"] = statistics.median(theirs)
        row.update(load_ms=run["load_ms"], first_ms=run["first_ms"],
                   peak_memory_bytes=run["peak_memory_bytes"], ort_load_ms=peer.load_ms,
                   aicf_device=run["device"])
    row["error"] = worst_error(outputs_of(args, artifact, inputs, folder / name), peer.outputs())
    row["ratio"] = min(row["aicf_1"], row["aicf_2"]) / min(row["ort_1"], row["ort_2"])
    return row


def show(rows):
    print(f"{'model':28} {'aicf 1t':>9} {'ORT 1t':>9} {'ratio':>6} {'aicf 2t':>9} {'ORT 2t':>9} {'ratio':>6}"
          f" {'best':>6} {'load':>7} {'error':>9}   (ms)")
    for r in rows:
        print(f"{r['model']:28} {r['aicf_1']:9.3f} {r['ort_1']:9.3f} {r['aicf_1'] / r['ort_1']:6.2f}"
              f" {r['aicf_2']:9.3f} {r['ort_2']:9.3f} {r['aicf_2'] / r['ort_2']:6.2f} {r['ratio']:6.2f}"
              f" {r['load_ms']:7.1f} {r['error']:9.1e}")
    ratios = [r["ratio"] for r in rows]
    if ratios:
        print(f"geometric mean of the best-of-threads ratio: {statistics.geometric_mean(ratios):.3f},"
              f" worst {max(ratios):.3f}")


def processor():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", type=pathlib.Path, default=ROOT / "build/data/models")
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build/release/bin")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--math", default="fp32")
    parser.add_argument("--only", default="", help="comma-separated case names")
    parser.add_argument("--seconds", type=float, default=1.0, help="per measurement")
    parser.add_argument("--json", type=pathlib.Path)
    args = parser.parse_args()
    args.target = "cuda" if args.device.startswith("cuda") else "cpu"
    cases = json.loads((args.models / "manifest.json").read_text())
    wanted = [n for n in args.only.split(",") if n]
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name, case in cases.items():
            if not case["model"].endswith(".onnx") or (wanted and name not in wanted):
                continue
            try:
                rows.append(measure(args, name, case, pathlib.Path(folder)))
            except subprocess.CalledProcessError as error:
                print(f"{name}: {' '.join(map(str, error.cmd))} -> {error.returncode}", file=sys.stderr)
    print(f"{processor()}, onnxruntime {ort.__version__}")
    show(rows)
    if args.json:
        args.json.write_text(json.dumps({"processor": processor(), "onnxruntime": ort.__version__,
                                         "device": args.device, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
