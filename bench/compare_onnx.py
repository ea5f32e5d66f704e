#!/usr/bin/env python3
"""aicf beside ONNX Runtime on the real models: same machine, same run, 1 and 2 threads.

Prints one row per model: median latency of both and the ratio (below 1: aicf is faster), with the
largest error against ONNX Runtime's outputs scaled by the tensor's largest value, the median time to
load, and the memory it takes to load and run: for aicf the whole process's peak, for ONNX Runtime the
growth of a process that has imported it already. The two are measured in alternating rounds, so that a
busy machine disturbs both alike. Like is compared with like: on --device=cuda:N the peer runs with its CUDA
execution provider on that GPU, host inputs and outputs copied by both; without that provider there is no table.

  bench/compare_onnx.py --models build/data/models [--device cpu|cuda:0] [--only NAME,...] [--json F]

Needs onnxruntime (for a GPU: onnxruntime-gpu) and numpy from PyPI, and a release build of aicf.
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


def compile_command(args, case, onnx, out):
    command = [args.bin / "aicf-compile", onnx, "-o", out, "--force", f"--target={args.target}",
               f"--math={args.math}", "--impossible-branches=nan"]
    return command + [shape_flag(n, i["shape"]) for n, i in case["inputs"].items()]


def load_flags(inputs):
    return [f"--load-inputs={n}:{f}" for n, f in inputs.items()]


def timing_command(args, artifact, inputs, threads, seconds):
    return [args.bin / "aicf-run", artifact, "--json", f"--device={args.device}", f"--threads={threads}",
            f"--duration={seconds}", "--warm-up=100", *load_flags(inputs)]


def outputs_command(args, artifact, inputs, folder):
    return [args.bin / "aicf-run", artifact, f"--device={args.device}", f"--export-output={folder}",
            "--duration=0", "--warm-up=0", "--iterations=1", *load_flags(inputs)]


def compile_model(args, case, onnx, out):
    subprocess.run(compile_command(args, case, onnx, out), check=True, stdout=subprocess.DEVNULL)


def run_aicf(args, artifact, inputs, threads, seconds):
    command = timing_command(args, artifact, inputs, threads, seconds)
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def exported_outputs(folder):
    """What outputs_command's run has left in its folder, by name."""
    listed = json.loads((folder / "outputs.json").read_text())
    listed = listed["outputs"] if isinstance(listed, dict) else listed
    return {o["name"]: np.load(folder / o["file"]) for o in listed}


def outputs_of(args, artifact, inputs, folder):
    command = outputs_command(args, artifact, inputs, folder)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return exported_outputs(folder)


def providers_for(device):
    """The peer's execution providers on the device that aicf uses."""
    if device == "cpu":
        return ["CPUExecutionProvider"]
    if "CUDAExecutionProvider" not in ort.get_available_providers():
        sys.exit(f"compare_onnx.py: {device} is compared with a peer on the same GPU, and onnxruntime "
                 f"{ort.__version__} here has no CUDAExecutionProvider (onnxruntime-gpu has)")
    return [("CUDAExecutionProvider", {"device_id": int(device.partition(":")[2] or 0)}),
            "CPUExecutionProvider"]


class Peer:
    """One ONNX Runtime session with a fixed number of threads."""

    def __init__(self, onnx, feeds, threads, providers):
        options = ort.SessionOptions()
        options.intra_op_num_threads = threads
        options.log_severity_level = 3
        start = time.perf_counter()
        self.session = ort.InferenceSession(onnx, options, providers=providers)
        self.load_ms = (time.perf_counter() - start) * 1e3
        self.feeds = feeds

    def median_ms(self, seconds, least=5):
        """Of at least so many runs, and of as many as fit into the seconds."""
        times, stop = [], time.perf_counter() + seconds
        self.session.run(None, self.feeds)
        while time.perf_counter() < stop or len(times) < least:
            start = time.perf_counter()
            self.session.run(None, self.feeds)
            times.append((time.perf_counter() - start) * 1e3)
        return statistics.median(times)

    def outputs(self):
        names = [o.name for o in self.session.get_outputs()]
        return dict(zip(names, self.session.run(None, self.feeds)))


PEER_MEMORY = """
import json, sys
import numpy as np, onnxruntime as ort
def resident(key):
    return next(int(l.split()[1]) for l in open("/proc/self/status") if l.startswith(key)) * 1024
onnx, inputs, providers = sys.argv[1], *map(json.loads, sys.argv[2:])
feeds = {n: np.load(f) for n, f in inputs.items()}
options = ort.SessionOptions()
options.intra_op_num_threads, options.log_severity_level = 1, 3
before = resident("VmRSS")
session = ort.InferenceSession(onnx, options,
                               providers=[tuple(p) if isinstance(p, list) else p for p in providers])
for _ in range(3):
    session.run(None, feeds)
print(resident("VmHWM") - before)
"""


def peer_memory(onnx, inputs, providers):
    command = [sys.executable, "-c", PEER_MEMORY, onnx, json.dumps(inputs), json.dumps(providers)]
    return int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


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
    load, peer_load = [], []
    for threads in (1, 2):
        ours, theirs = [], []
        for _ in range(ROUNDS):
            peer = Peer(onnx, feeds, threads, args.providers)
            theirs.append(peer.median_ms(args.seconds))
            peer_load.append(peer.load_ms)
            run = run_aicf(args, artifact, inputs, threads, args.seconds)
            ours.append(run["latency_ms"]["median"])
            load.append(run["load_ms"])
        row[f"aicf_{threads}"] = statistics.median(ours)
        row[f"ort_{threads}"] = statistics.median(theirs)
        row.setdefault("peak_rss_bytes", run["memory_bytes"]["peak_rss"])
    row.update(load_ms=statistics.median(load), ort_load_ms=statistics.median(peer_load),
               first_ms=run["first_ms"], peak_memory_bytes=run["peak_memory_bytes"],
               ort_peak_bytes=peer_memory(onnx, inputs, args.providers),
               aicf_device=run["device"])
    row["error"] = worst_error(outputs_of(args, artifact, inputs, folder / name), peer.outputs())
    row["ratio"] = min(row["aicf_1"], row["aicf_2"]) / min(row["ort_1"], row["ort_2"])
    return row


COLUMNS = [
    ("aicf 1t", 9, lambda r: f"{r['aicf_1']:.3f}"),
    ("ORT 1t", 9, lambda r: f"{r['ort_1']:.3f}"),
    ("aicf 2t", 9, lambda r: f"{r['aicf_2']:.3f}"),
    ("ORT 2t", 9, lambda r: f"{r['ort_2']:.3f}"),
    ("ratio", 6, lambda r: f"{r['ratio']:.2f}"),
    ("load", 7, lambda r: f"{r['load_ms']:.1f}"),
    ("ORT", 7, lambda r: f"{r['ort_load_ms']:.1f}"),
    ("MiB", 6, lambda r: f"{r['peak_rss_bytes'] / 2**20:.0f}"),
    ("ORT", 6, lambda r: f"{r['ort_peak_bytes'] / 2**20:.0f}"),
    ("error", 8, lambda r: f"{r['error']:.1e}"),
]


def show(rows):
    print("times in ms; ratio: the better thread count of each; MiB: peak memory")
    print(" ".join([f"{'model':26}"] + [f"{title:>{width}}" for title, width, _ in COLUMNS]))
    for r in rows:
        print(" ".join([f"{r['model']:26}"] + [f"{text(r):>{width}}" for _, width, text in COLUMNS]))
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
    args.providers = providers_for(args.device)
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
    used = [p if isinstance(p, str) else p[0] for p in args.providers]
    where = rows[0]["aicf_device"] if rows else args.device
    print(f"{processor()}; aicf on {where}, onnxruntime {ort.__version__} with {used[0]}")
    show(rows)
    if args.json:
        args.json.write_text(json.dumps({"processor": processor(), "onnxruntime": ort.__version__,
                                         "device": args.device, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
