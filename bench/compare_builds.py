#!/usr/bin/env python3
"""Two builds of aicf on the same models: is anything slower than before? One row per model and math mode.

  bench/compare_builds.py --before BIN --after BIN --models DIR [--models DIR] [--target cuda:sm_90a]
                          [--device cuda:0] [--math fp32,tf32] [--rounds 5] [--out F.md]

BIN is a folder with aicf-compile and aicf-run; DIR has a manifest.json as tests/models and
tests/exporters/export.py write it. Each model is compiled by both builds, then both artifacts are replayed in
turn, --rounds times each, so that what else the machine does meets both. A time is the median over the rounds
of the medians of the replays; "fastest" compares each build's fastest round, which other work on the machine disturbs
least; "spread" is the largest over the smallest of the rounds of one build, the larger of the two. Exit code 1 when a model fails in one build alone.
"""
import argparse
import concurrent.futures
import json
import math
import pathlib
import statistics
import subprocess
import sys


def call(command):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr.strip()[-300:]


class Build:
    def __init__(self, name, folder, flags):
        self.name, self.folder, self.flags = name, folder, flags

    def compile(self, args, model, case, mode, artifact):
        shapes = [f"--shapes={n}:{'x'.join(map(str, i['shape']))}" for n, i in case["inputs"].items()]
        return call([self.folder / "aicf-compile", model, "-o", artifact, "--force", f"--target={args.target}",
                     f"--math={mode}", *self.flags, *shapes])

    def replay(self, args, artifact, inputs):
        code, out, err = call([self.folder / "aicf-run", artifact, f"--device={args.device}", "--json",
                               f"--duration={args.seconds}", "--warm-up=100", *inputs])
        return (json.loads(out), "") if code == 0 else (None, err)


def row(args, builds, artifacts, inputs):
    """Times in us by build, spread, or what went wrong by build."""
    times, wrong, device = {b.name: [] for b in builds}, {}, ""
    for _ in range(args.rounds):
        for build in builds:
            if build.name in wrong:
                continue
            info, err = build.replay(args, artifacts[build.name], inputs)
            if info is None:
                wrong[build.name] = err
            else:
                times[build.name].append(info["latency_ms"]["median"] * 1e3)
                device = info["device"]
    return times, wrong, device


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--before", type=pathlib.Path, required=True)
    parser.add_argument("--after", type=pathlib.Path, required=True)
    parser.add_argument("--before-flags", default="", help="more flags for its aicf-compile, by spaces")
    parser.add_argument("--after-flags", default="")
    parser.add_argument("--models", type=pathlib.Path, action="append", required=True)
    parser.add_argument("--target", default="cuda:sm_90a")
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--math", default="fp32")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.2)
    parser.add_argument("--jobs", type=int, default=8, help="compilations at a time")
    parser.add_argument("--work", type=pathlib.Path, default=pathlib.Path("/tmp/aicf-compare"))
    parser.add_argument("--out", type=pathlib.Path)
    args = parser.parse_args()
    args.work.mkdir(parents=True, exist_ok=True)
    builds = [Build("before", args.before, args.before_flags.split()),
              Build("after", args.after, args.after_flags.split())]
    jobs = []
    for folder in args.models:
        for name, case in json.loads((folder / "manifest.json").read_text()).items():
            if not (folder / case["model"]).exists():
                continue
            if case["model"].endswith(".onnx"):
                jobs += [(folder, name, case, mode) for mode in args.math.split(",")]

    def compile_both(job):
        folder, name, case, mode = job
        artifacts = {b.name: args.work / f"{name}.{mode}.{b.name}.aicf" for b in builds}
        failed = {}
        for build in builds:
            code, _, err = build.compile(args, folder / case["model"], case, mode, artifacts[build.name])
            if code != 0:
                failed[build.name] = err
        return artifacts, failed

    lines = ["| model | math | before us | after us | after / before | fastest | spread |",
             "|---|---|--:|--:|--:|--:|--:|"]
    ratios, fastest, one_sided, device = [], [], 0, ""
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        compiled = list(pool.map(compile_both, jobs))
    for (folder, name, case, mode), (artifacts, wrong) in zip(jobs, compiled):
        inputs = [f"--load-inputs={n}:{folder / i['file']}" for n, i in case["inputs"].items()]
        times = {}
        if not wrong:
            times, wrong, device = row(args, builds, artifacts, inputs)
        if wrong:
            one_sided += len(wrong) == 1
            lines.append(f"| {name} | {mode} | {wrong.get('before', 'runs')} | {wrong.get('after', 'runs')} | | | |")
        else:
            before, after = (statistics.median(times[b.name]) for b in builds)
            spread = max(max(t) / min(t) for t in times.values())
            ratios.append(after / before)
            fastest.append(min(times["after"]) / min(times["before"]))
            lines.append(f"| {name} | {mode} | {before:.1f} | {after:.1f} | {after / before:.2f} | {fastest[-1]:.2f} | "
                         f"{spread:.2f} |")
        print(lines[-1], flush=True)
    mean = lambda of: math.exp(sum(map(math.log, of)) / len(of)) if of else float("nan")
    lines.append(f"\nGeometric mean of after / before over {len(ratios)} rows: {mean(ratios):.3f}, of the fastest rounds "
                 f"{mean(fastest):.3f}. Device: {device}.")
    print(lines[-1])
    if args.out:
        args.out.write_text("\n".join(lines) + "\n")
    return 1 if one_sided else 0


if __name__ == "__main__":
    sys.exit(main())
