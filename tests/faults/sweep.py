"""Compiles hostile models and holds every run to the one contract of a tool that reads files from elsewhere.

    sweep.py --bin build/dev/bin [--target cpu] [--only REGEX] [--sample N] [--keep DIR]

Each model (onnx_cases.py) is compiled by a process of its own, which has to end by itself with a documented exit
code, say at most one short line on stderr, and stay within --seconds and --mebibytes. With a compiler of the
preset `asan` a report of a sanitizer is a failure too. --sample N takes N cases of them all, always the same for
a seed. Exit code 1 when a case breaks the contract; --planted shows that a broken contract is seen.
"""

import argparse
import multiprocessing
import os
import random
import re
import resource
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import onnx_cases  # noqa: E402
from process import Run  # noqa: E402

LEGAL = (0, 2, 3, 4, 7)
LONGEST_LINE = 16_100


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--bin", required=True, help="directory with aicf-compile")
    parser.add_argument("--target", default="cpu")
    parser.add_argument("--kind", default="", help="regular expression that a case's name contains")
    parser.add_argument("--only", default="", help="regular expression that an op's whole name matches")
    parser.add_argument("--sample", type=int, default=0, help="this many cases of them all; 0: every case")
    parser.add_argument("--newest", type=int, default=1, help="instances of each op's newest form, 1 to 3")
    parser.add_argument("--seed", type=int, default=20251125)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--mebibytes", type=int, default=2048)
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--keep", help="directory that keeps the models that break the contract")
    parser.add_argument("--planted", action="store_true", help="expect one legal exit code fewer, and failures")
    return parser.parse_args()


def broken(run, options):
    """What of the contract a run broke; empty: nothing."""
    found = []
    legal = LEGAL[:-2] if options.planted else LEGAL
    if run.timed_out:
        found.append(f"took over {options.seconds} s")
    elif run.exit_code not in legal:
        found.append(f"exit code {run.exit_code}")
    if re.search(r"runtime error:|AddressSanitizer|LeakSanitizer", run.err):
        found.append("a sanitizer's report")
    lines = run.err.splitlines()
    if len(lines) > (run.exit_code != 0) and not found:
        found.append(f"{len(lines)} lines on stderr")
    if max(map(len, lines), default=0) > LONGEST_LINE:
        found.append(f"a line of {max(map(len, lines))} characters")
    if run.kibibytes > options.mebibytes * 1024:
        found.append(f"{run.kibibytes // 1024} MiB")
    return found


def sweep_op(job):
    """(cases, exit codes, failure texts) of one op."""
    name, numbers, options = job
    codes, texts, total = {}, [], 0
    newest = onnx_cases.NEWEST[:options.newest]
    with tempfile.TemporaryDirectory() as folder:
        path, output = os.path.join(folder, "model.onnx"), os.path.join(folder, "model.aicf")
        for number, (label, model) in enumerate(onnx_cases.cases_of(name, options.seed, newest)):
            if numbers is not None and number not in numbers or not re.search(options.kind, label):
                continue
            total += 1
            with open(path, "wb") as file:
                file.write(model.SerializeToString())
            command = [os.path.join(options.bin, "aicf-compile"), path, "-o", output, "--force",
                       f"--target={options.target}"]
            run = Run(command + (["--no-images"] if options.target != "cpu" else []), options.seconds)
            codes[run.exit_code] = codes.get(run.exit_code, 0) + 1
            for what in broken(run, options):
                said = next((line for line in run.err.splitlines() if "error" in line), run.err)
                texts.append(f"FAIL {label}: {what}: {said.strip()[:400]}")
                if options.keep:
                    os.makedirs(options.keep, exist_ok=True)
                    shutil.copy(path, os.path.join(options.keep, label + ".onnx"))
    return total, codes, texts


def jobs_of(options):
    names = [n for n in onnx_cases.ops() if re.fullmatch(options.only or ".*", n)]
    if not options.sample:
        return [(name, None, options) for name in names]
    newest = onnx_cases.NEWEST[:options.newest]
    every = [(name, i) for name in names
             for i, _ in enumerate(onnx_cases.cases_of(name, options.seed, newest))]
    chosen = {}
    for name, i in random.Random(options.seed).sample(every, min(options.sample, len(every))):
        chosen.setdefault(name, set()).add(i)
    return [(name, numbers, options) for name, numbers in chosen.items()]


def main():
    options = arguments()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    total, codes, failures = 0, {}, 0
    with multiprocessing.Pool(options.jobs) as pool:
        for count, ended, texts in pool.imap_unordered(sweep_op, jobs_of(options)):
            total += count
            failures += len(texts)
            for code, times in ended.items():
                codes[code] = codes.get(code, 0) + times
            for text in texts:
                print(text, flush=True)
    ends = ", ".join(f"{codes[c]} x {c}" for c in sorted(codes))
    print(f"{total} hostile models, seed {options.seed}, target {options.target}: exit codes {ends}; "
          + (f"{failures} failures" if failures else "all within the contract"))
    return 1 if failures or not total else 0


if __name__ == "__main__":
    sys.exit(main())
