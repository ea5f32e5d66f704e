"""The compiler under allocations that fail: exit code 7, whichever of them it is.

    allocations.py --bin build/dev/bin --library build/dev/lib/libfail_alloc.so [--every N] [--sample N]

Compiles a small model once for the number of its allocations, and then again and again with one of them failing
(transient) or with all from one on (sticky): every N-th, or a sample of them. A run may succeed where a failure is
made up for, and otherwise has to end with exit code 7, with one line on stderr and without a temporary file; an output
is whole or absent. Exit code 1 when one does not.
"""

import argparse
import multiprocessing
import os
import random
import resource
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "corpus")]

import numpy as np  # noqa: E402
from onnx import helper  # noqa: E402

from onnx_models import constant, info, whole  # noqa: E402
from process import Run  # noqa: E402


def small_model():
    """A convolution, a loop that a run ends, a folded constant and a product."""
    rng = np.random.default_rng(7)
    nodes = [helper.make_node("Conv", ["x", "w"], ["c"], pads=[1, 1, 1, 1]),
             helper.make_node("Relu", ["c"], ["r"]),
             helper.make_node("Add", ["k", "k"], ["k2"]),
             helper.make_node("Mul", ["r", "k2"], ["m"]),
             helper.make_node("Flatten", ["m"], ["f"]),
             helper.make_node("MatMul", ["f", "v"], ["y"])]
    return whole(nodes, [info("x", (1, 3, 8, 8))], [info("y", (1, 5))],
                 [constant("w", rng.random((4, 3, 3, 3)), np.float32), constant("k", [2], np.float32),
                  constant("v", rng.random((256, 5)), np.float32)]).SerializeToString()


def content(path):
    with open(path, "rb") as file:
        return file.read()


def attempt(job):
    """What is wrong with a run whose allocation number `at` fails; None: nothing."""
    options, folder, at, sticky = job
    with tempfile.TemporaryDirectory(dir=folder) as own:
        output = os.path.join(own, "out.aicf")
        extra = ["LD_PRELOAD=" + os.path.abspath(options.library), f"AICF_FAIL_AT={at}"]
        extra += ["AICF_FAIL_STICKY=1"] if sticky else []
        run = Run(["env", *extra, os.path.join(options.bin, "aicf-compile"), os.path.join(folder, "m.onnx"),
                   "-o", output, f"--target={options.target}", "--no-images"], 30)
        left = os.listdir(own)
        whole = left == ["out.aicf"] and content(output) == content(os.path.join(folder, "out.aicf"))
    lines = run.err.splitlines()
    if run.exit_code == 0 and whole:
        return None
    # What fails after the output has its name, while the summary is made, leaves it as it is.
    if run.exit_code == 7 and len(lines) == 1 and (whole or not left):
        return None
    return f"exit code {run.exit_code}, {len(lines)} lines, left {left}: {run.err[:300]}"


def count(options, folder):
    path = os.path.join(folder, "count")
    run = Run(["env", "LD_PRELOAD=" + os.path.abspath(options.library), "AICF_COUNT_TO=" + path,
               os.path.join(options.bin, "aicf-compile"), os.path.join(folder, "m.onnx"), "-o",
               os.path.join(folder, "out.aicf"), f"--target={options.target}", "--no-images"], 30)
    if run.exit_code != 0:
        sys.exit(f"FAIL without failures: exit code {run.exit_code}: {run.err}")
    with open(path) as file:
        return int(file.read())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--bin", required=True)
    parser.add_argument("--library", required=True)
    parser.add_argument("--target", default="cpu:avx2")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--sample", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    options = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "m.onnx"), "wb") as file:
            file.write(small_model())
        total = count(options, folder)
        numbers = list(range(1, total + 1, options.every))
        if options.sample:
            numbers = sorted(random.Random(1).sample(numbers, min(options.sample, len(numbers))))
        jobs = [(options, folder, at, sticky) for at in numbers for sticky in (False, True)]
        failures = 0
        with multiprocessing.Pool(options.jobs) as pool:
            for job, what in zip(jobs, pool.imap(attempt, jobs, chunksize=8)):
                if what:
                    failures += 1
                    print(f"FAIL allocation {job[2]}{' and all after it' if job[3] else ''}: {what}", flush=True)
    print(f"{len(jobs)} runs over {len(numbers)} of {total} allocations: {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
