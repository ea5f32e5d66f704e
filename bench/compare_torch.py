#!/usr/bin/env python3
"""aicf beside PyTorch on one GPU: latency and accuracy of models exported by torch.onnx.export(dynamo=True).

    bench/compare_torch.py --bin build/release/bin --out DIR [--aicf "--math=fp16"]... [--dtype fp16]
                           [--only REGEX] [--max-autotune] [--profile] [--jobs 16] [--markdown FILE]

PyTorch runs in --dtype (channels last where there are pictures) as replays of CUDA graphs: eager's, and what
torch.compile generates; its fastest counts. Each --aicf is one set of flags for aicf-compile; the
fastest whose result is right counts. A result is right when its error against PyTorch in float32 is at most
twice that of PyTorch in --dtype, both as largest and as root mean square error.

Models are exported and compiled in parallel, then measured one after the other, alone on the GPU. What an earlier
call with the same arguments left in DIR is kept (--again measures anew), so an interrupted call goes on.
DIR gets results.json and results.md. Exit code 1 when a model has no right result.
Needs torch, torchvision, transformers, timm, onnx, onnxscript and NVRTC; torch_cases.py has the models.
"""

import argparse
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import threading
import time

import numpy as np

import torch_report

HERE = pathlib.Path(__file__).resolve().parent
MODELS = ["bert_base_b1", "bert_base_b32", "bert_large_s384_b8", "resnet50_b1", "resnet50_b32", "vit_b16_b1",
          "vit_b16_b32", "efficientnet_b0_b1", "convnext_tiny_b1", "swin_t_b1", "mobilenet_v3_b1",
          "densenet121_b1", "unet_block_b1"]
TIMES_OF_PEER = 2.0  # an error may be so many times the peer's


class Late(Exception):
    """A model whose time budget is over."""


class Budget:
    """Seconds of one model; what it starts ends with them."""

    def __init__(self, seconds):
        self.end = time.time() + seconds

    def run(self, command, **options):
        left = self.end - time.time()
        try:
            done = subprocess.run([str(c) for c in command], capture_output=True, text=True,
                                  timeout=max(left, 1), **options)
        except subprocess.TimeoutExpired:
            raise Late(f"{pathlib.Path(str(command[0])).name} took longer than the model's time") from None
        return done


def tail(text, size=400):
    return text.strip()[-size:].replace("\n", " | ")


def export_model(name, folder):
    """Exports the model once; gives its inputs' shapes by their names in the graph."""
    listed = folder / "inputs.json"
    if not listed.exists():
        import torch

        import torch_cases

        torch.set_num_threads(1)
        case = torch_cases.make(name)
        names = torch_cases.export.write_model(case, str(folder), 18)
        shapes = {n: list(t.shape) for n, t in zip(names, case.inputs.values())}
        listed.write_text(json.dumps({"shapes": shapes, "files": dict(zip(names, case.inputs))}))
    return json.loads(listed.read_text())


def artifact_of(folder, flags):
    return folder / f"model.{hashlib.sha256(flags.encode()).hexdigest()[:8]}.aicf"


def compile_aicf(name, args, folder):
    """Exports and compiles with every set of flags: flags -> what went wrong, or ""."""
    budget = Budget(args.seconds)
    folder.mkdir(parents=True, exist_ok=True)
    code = "import sys, pathlib, compare_torch as c; c.export_model(sys.argv[1], pathlib.Path(sys.argv[2]))"
    done = budget.run([sys.executable, "-c", code, name, folder], cwd=HERE)
    if done.returncode != 0:
        return {flags: f"export: {tail(done.stderr)}" for flags in args.aicf}
    shapes = [f"--shapes={n}:{'x'.join(map(str, s))}" for n, s in export_model(name, folder)["shapes"].items()]
    problems = {}
    for flags in args.aicf:
        done = budget.run([args.bin / "aicf-compile", folder / "model.onnx", "-o", artifact_of(folder, flags), "--force",
                           f"--target={args.target}", *shapes, *shlex.split(flags)])
        problems[flags] = "" if done.returncode == 0 else f"aicf-compile: {tail(done.stderr)}"
    return problems


class Peer:
    """torch_peer.py on one model: prepared in parallel, measured when asked."""

    def __init__(self, name, args, folder):
        self.budget = Budget(args.seconds)
        command = [sys.executable, HERE / "torch_peer.py", name, "--dtype", args.dtype, "--out", folder]
        self.log = open(folder / "torch.log", "w")
        environment = {**os.environ, "TORCHINDUCTOR_COMPILE_THREADS": "2"}
        self.process = subprocess.Popen(
            [str(c) for c in command] + (["--max-autotune"] if args.max_autotune else []), env=environment,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log, text=True)

    def answer(self, key):
        timer = threading.Timer(max(self.budget.end - time.time(), 1), self.process.kill)
        timer.start()
        try:
            for line in self.process.stdout:
                if line.startswith("{") and key in (said := json.loads(line)):
                    return said[key]
        finally:
            timer.cancel()
        self.log.flush()
        raise Late(f"PyTorch: {tail(pathlib.Path(self.log.name).read_text()) or 'took longer than its time'}")

    def measure(self, seconds):
        self.budget = Budget(seconds)
        self.process.stdin.write("measure\n")
        self.process.stdin.flush()
        return self.answer("measured")

    def close(self):
        self.process.stdin.close()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
        self.log.close()


def errors(folder, outputs):
    """As torch_peer.errors, of the .npy files that aicf-run wrote."""
    listed = json.loads((outputs / "outputs.json").read_text())
    listed = listed["outputs"] if isinstance(listed, dict) else listed
    largest = rms = 0.0
    for entry in listed:
        made = np.load(outputs / entry["file"]).astype(np.float64)
        wanted = np.load(folder / f"reference_{entry['name']}.npy").astype(np.float64)
        difference = made - wanted
        largest = max(largest, float(np.abs(difference).max() / np.abs(wanted).max()))
        rms = max(rms, float(np.sqrt((difference**2).mean() / (wanted**2).mean())))
        if not np.isfinite(made).all():
            largest = rms = float("inf")
    return {"max": largest, "rms": rms}


def run_aicf(args, folder, flags, extra):
    files = export_model("", folder)["files"]
    command = [args.bin / "aicf-run", artifact_of(folder, flags), "--json", f"--device={args.device}", *extra]
    command += [f"--load-inputs={n}:{folder / f'input_{f}.npy'}" for n, f in files.items()]
    done = Budget(args.seconds).run(command)
    if done.returncode != 0:
        raise ValueError(f"aicf-run: exit {done.returncode}: {tail(done.stderr)}")
    return json.loads(done.stdout)


def measure_aicf(args, folder, flags):
    outputs = folder / "outputs"
    said = run_aicf(args, folder, flags, [f"--export-output={outputs}", "--warm-up=200", "--duration=0.3",
                                          "--iterations=200"])
    return {"latency_ms": said["latency_ms"]["median"],
            "gpu_ms": said.get("gpu_compute_ms", said["latency_ms"])["median"],
            "steps": said["steps"], "peak_memory_bytes": said["peak_memory_bytes"], "first_ms": said["first_ms"],
            "error": errors(folder, outputs)}


def add_profile(row, args, folder):
    """Of the fastest set of flags alone: a profile replays every prefix of the steps."""
    timed = {flags: made for flags, made in row["aicf"].items() if "latency_ms" in made}
    fastest = row.get("best_aicf") or min(timed, key=lambda f: timed[f]["latency_ms"], default=None)
    if fastest is not None:
        said = run_aicf(args, folder, fastest, ["--profile", "--warm-up=50", "--duration=0", "--iterations=1"])
        timed[fastest]["profile"] = said["profile"]


def judge(row):
    """Adds the peer's fastest form, aicf's fastest right set of flags and the ratio of their latencies."""
    forms = row["torch"]["forms"]
    row["best_torch"] = min(forms, key=lambda f: forms[f]["latency_ms"], default=None)
    if row["best_torch"] is None:
        return
    limits = {kind: TIMES_OF_PEER * max(f["error"][kind] for f in forms.values()) for kind in ("max", "rms")}
    for made in row["aicf"].values():
        made["right"] = "error" in made and all(made["error"][k] <= limits[k] for k in limits)
    right = {flags: made for flags, made in row["aicf"].items() if made["right"]}
    row["best_aicf"] = min(right, key=lambda f: right[f]["latency_ms"], default=None)
    if row["best_aicf"] is not None:
        for kind in ("latency_ms", "gpu_ms"):
            row[f"ratio_{kind}"] = forms[row["best_torch"]][kind] / right[row["best_aicf"]][kind]


def measure(name, args, folder, peer, ready, problems):
    row = {"model": name, "ready": ready, "torch": peer.measure(args.seconds), "aicf": {}}
    for flags, problem in problems.items():
        try:
            row["aicf"][flags] = {"problem": problem} if problem else measure_aicf(args, folder, flags)
        except (Late, OSError, ValueError, KeyError) as error:
            row["aicf"][flags] = {"problem": f"{type(error).__name__}: {error}"}
    judge(row)
    if args.profile:
        add_profile(row, args, folder)
    return row


def prepared(name, args):
    """(peer, what it said, aicf's problems); the two are prepared at the same time."""
    folder = args.out / name
    folder.mkdir(parents=True, exist_ok=True)
    peer = Peer(name, args, folder)
    try:
        with concurrent.futures.ThreadPoolExecutor(1) as beside:
            compiling = beside.submit(compile_aicf, name, args, folder)
            ready = peer.answer("ready")
            return peer, ready, compiling.result()
    except Exception:
        peer.process.kill()
        peer.close()
        raise


def kept_rows(args, key):
    path = args.out / "results.json"
    if args.again or not path.exists():
        return {}
    old = json.loads(path.read_text())
    return {row["model"]: row for row in old["rows"]} if old["key"] == key else {}


def provenance(args):
    first = lambda command: subprocess.run(command, capture_output=True, text=True).stdout.strip()
    query = "--query-gpu=name,driver_version"
    return {"device": first(["nvidia-smi", query, "--format=csv,noheader"]),
            "aicf": first([str(args.bin / "aicf-run"), "--version"]), "command": shlex.join(sys.argv)}


def write(args, key, facts, rows):
    rows = [rows[name] for name in MODELS if name in rows]
    (args.out / "results.json").write_text(json.dumps({"key": key, **facts, "rows": rows}, indent=1) + "\n")
    text = torch_report.markdown(facts, args, rows)
    for path in (args.out / "results.md", args.markdown):
        if path:
            path.write_text(text)
    return rows


def progress(start, text):
    print(f"{time.time() - start:6.0f} s  {text}", file=sys.stderr, flush=True)


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", type=pathlib.Path, required=True, help="folder with the tools")
    parser.add_argument("--out", type=pathlib.Path, required=True, help="folder for models, artifacts and results")
    parser.add_argument("--aicf", action="append", help="flags for aicf-compile; repeats; default --math=fp16")
    parser.add_argument("--dtype", choices=["fp16", "bf16", "tf32"], default="fp16", help="PyTorch's")
    parser.add_argument("--only", default="", help="regular expression of models: " + ", ".join(MODELS))
    parser.add_argument("--target", default="cuda:sm_90a")
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="models prepared at a time")
    parser.add_argument("--seconds", type=float, default=240, help="to prepare a model, and to measure it")
    parser.add_argument("--max-autotune", action="store_true", help="also that mode of torch.compile: minutes more")
    parser.add_argument("--profile", action="store_true", help="aicf's time by kernel and its slowest steps")
    parser.add_argument("--again", action="store_true", help="measure what DIR has results of once more")
    parser.add_argument("--markdown", type=pathlib.Path, help="a second place for the table")
    args = parser.parse_args()
    args.aicf = args.aicf or ["--math=fp16"]
    args.bin, args.out = args.bin.resolve(), args.out.resolve()
    return args


def main():
    args = parse()
    args.out.mkdir(parents=True, exist_ok=True)
    key = [args.aicf, args.dtype, args.target, args.max_autotune, args.profile]
    rows, failed = kept_rows(args, key), {}
    wanted = [name for name in MODELS if re.search(args.only, name)]
    facts, start = provenance(args), time.time()
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        waiting = {name: pool.submit(prepared, name, args) for name in wanted if name not in rows}
        for name, future in waiting.items():
            future.add_done_callback(lambda _, name=name: progress(start, f"{name}: prepared"))
    for name, future in waiting.items():
        peer = None
        try:
            peer, ready, problems = future.result()
            facts.update(torch=ready["torch"], cudnn=ready["cudnn"])
            rows[name] = measure(name, args, args.out / name, peer, ready, problems)
        except (Late, OSError, ValueError) as error:
            failed[name] = str(error)
        finally:
            if peer:
                peer.close()
        write(args, key, facts, rows)
        progress(start, f"{name}: {failed.get(name, 'measured')}")
    shown = write(args, key, facts, {name: rows[name] for name in wanted if name in rows} if args.only else rows)
    print(torch_report.text(facts, args, shown))
    for name, why in failed.items():
        print(f"{name}: {why}")
    return 1 if failed or any(not row.get("best_aicf") for row in shown) else 0


if __name__ == "__main__":
    sys.exit(main())
