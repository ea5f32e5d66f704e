#!/usr/bin/env python3
"""Replay latency and accuracy of artifacts on one device: one row per artifact.

  bench/replay_table.py --artifacts DIR --models DIR [--device cuda:0] [--out bench/results/F.md]

DIR of artifacts holds CASE.MATH.aicf files, CASE a case of the models' manifest.json; compile them with
bench/compile_models.sh. Needs numpy-free Python 3 only.
"""
import argparse
import json
import pathlib
import subprocess
import sys

TOLERANCE = {"fp32": 1e-4, "tf32": 2e-2, "fp16": 2e-2}


def run(command):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def measure(args, artifact, case, math):
    inputs = [f"--load-inputs={n}:{args.models / i['file']}" for n, i in case["inputs"].items()]
    refs = [f"--load-ref-outputs={n}:{args.models / f}" for n, f in case["outputs"].items()]
    limit = 2e-2 if "fp16" in artifact.name.split(".")[0] else TOLERANCE[math]
    base = [args.bin / "aicf-run", artifact, f"--device={args.device}"] + inputs
    code, out, err = run(base + refs + [f"--rel={limit}", "--duration=0", "--warm-up=0", "--iterations=1"])
    check = "pass" if code == 0 else f"exit {code}: {err.strip()[:200]}"
    code, out, err = run(base + ["--json", f"--duration={args.seconds}", "--warm-up=200"])
    if code != 0:
        return {"check": check, "error": err.strip()[:300]}
    info = json.loads(out)
    return {"check": check, "median_us": info["latency_ms"]["median"] * 1e3,
            "p99_us": info["latency_ms"]["p99"] * 1e3, "min_us": info["latency_ms"]["min"] * 1e3,
            "load_ms": info["load_ms"], "first_ms": info["first_ms"],
            "peak_mb": info["peak_memory_bytes"] / 1e6, "steps": info.get("steps"),
            "device": info["device"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--artifacts", type=pathlib.Path, required=True)
    parser.add_argument("--models", type=pathlib.Path, required=True)
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--seconds", type=float, default=1)
    parser.add_argument("--out", type=pathlib.Path)
    args = parser.parse_args()
    cases = json.loads((args.models / "manifest.json").read_text())
    lines = ["| model | math | check | median us | min us | p99 us | load ms | first ms | peak MB |",
             "|---|---|---|---|---|---|---|---|---|"]
    failed, device = 0, ""
    for artifact in sorted(args.artifacts.glob("*.aicf")):
        name, math = artifact.name.split(".")[:2]
        row = measure(args, artifact, cases[name], math)
        failed += row["check"] != "pass" or "error" in row
        if "error" in row:
            lines.append(f"| {name} | {math} | {row['check']} | {row['error']} |||||")
            continue
        device = row["device"]
        lines.append(f"| {name} | {math} | {row['check']} | {row['median_us']:.1f} | {row['min_us']:.1f} |"
                     f" {row['p99_us']:.1f} | {row['load_ms']:.1f} | {row['first_ms']:.2f} |"
                     f" {row['peak_mb']:.1f} |")
    text = f"Device: {device}\n\n" + "\n".join(lines) + "\n"
    print(text)
    if args.out:
        args.out.write_text(text)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
