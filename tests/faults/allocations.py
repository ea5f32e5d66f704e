"""The compiler under allocations that fail: exit code 7, whichever of them it is.

    allocations.py --bin build/dev/bin --library build/dev/lib/libfail_alloc.so [--every N [--first K]] [--sample N]

Compiles three small models (--only REGEX) once for the number of their allocations, and then again and again with one
of them failing (transient) or with all from one on (sticky): every N-th from the K-th on, or a sample of them. A run
may succeed where a failure is made up for, and otherwise has to end with exit code 7, with one line on stderr and
without a temporary file; an output is whole or absent. Exit code 1 when one does not.
"""

import argparse
import multiprocessing
import os
import random
import re
import resource
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "corpus"), os.path.join(HERE, "..", "artifacts")]

import numpy as np  # noqa: E402
from onnx import TensorProto, helper  # noqa: E402

import gguf  # noqa: E402
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


def loop_model():
    """A loop whose trips a run decides."""
    body = helper.make_graph(
        [helper.make_node("Add", ["h", "h"], ["h2"]), helper.make_node("ReduceMax", ["h2"], ["top"], keepdims=0),
         helper.make_node("Less", ["top", "most"], ["again"])], "body",
        [helper.make_tensor_value_info("trip", TensorProto.INT64, []),
         helper.make_tensor_value_info("go", TensorProto.BOOL, []), info("h", (4, 4))],
        [helper.make_tensor_value_info("again", TensorProto.BOOL, []), info("h2", (4, 4))])
    nodes = [helper.make_node("Loop", ["trips", "", "x"], ["l"], body=body), helper.make_node("Tanh", ["l"], ["y"])]
    constants = [constant("trips", np.array(100, np.int64), np.int64), constant("most", 50, np.float32)]
    return whole(nodes, [info("x", (4, 4))], [info("y", (4, 4))], constants).SerializeToString()


def put_models(folder, only):
    """Files of the models whose names match, and what aicf-compile is told for each."""
    for name, model in (("convolution", small_model()), ("loop", loop_model())):
        with open(os.path.join(folder, name + ".onnx"), "wb") as file:
            file.write(model)
    gguf.save(gguf.Llama(type=gguf.Q8_0, seed=5, vocabulary=24), os.path.join(folder, "language.gguf"))
    flags = {"convolution.onnx": [], "loop.onnx": [], "language.gguf": ["--context=32", "--prefill=8", "--decode=1"]}
    return {name: more for name, more in flags.items() if re.search(only, name)}


def content(path):
    with open(path, "rb") as file:
        return file.read()


def attempt(job):
    """What is wrong with a run whose allocation number `at` fails; None: nothing."""
    options, folder, name, at, sticky = job
    with tempfile.TemporaryDirectory(dir=folder) as own:
        output = os.path.join(own, "out.aicf")
        extra = ["LD_PRELOAD=" + os.path.abspath(options.library), f"AICF_FAIL_AT={at}"]
        extra += ["AICF_FAIL_STICKY=1"] if sticky else []
        run = Run(["env", *extra, *command(options, folder, name, output)], 30)
        left = os.listdir(own)
        whole = left == ["out.aicf"] and content(output) == content(os.path.join(folder, name + ".aicf"))
    lines = run.err.splitlines()
    if run.exit_code == 0 and whole:
        return None
    # What fails after the output has its name, while the summary is made, leaves it as it is.
    if run.exit_code == 7 and len(lines) == 1 and (whole or not left):
        return None
    return f"exit code {run.exit_code}, {len(lines)} lines, left {left}: {run.err[:300]}"


def command(options, folder, name, output):
    return [os.path.join(options.bin, "aicf-compile"), os.path.join(folder, name), "-o", output, *options.models[name],
            f"--target={options.target}", "--no-images"]


def count(options, folder, name):
    path = os.path.join(folder, "count")
    run = Run(["env", "LD_PRELOAD=" + os.path.abspath(options.library), "AICF_COUNT_TO=" + path,
               *command(options, folder, name, os.path.join(folder, name + ".aicf"))], 30)
    if run.exit_code != 0:
        sys.exit(f"FAIL {name} without failures: exit code {run.exit_code}: {run.err}")
    with open(path) as file:
        return int(file.read())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--bin", required=True)
    parser.add_argument("--library", required=True)
    parser.add_argument("--target", default="cpu:avx2")
    parser.add_argument("--only", default="", help="regular expression of the models' names")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--sample", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    options = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    jobs, total, failures = [], 0, 0
    with tempfile.TemporaryDirectory() as folder:
        options.models = put_models(folder, options.only)
        for name in options.models:
            requests = count(options, folder, name)
            total += requests
            jobs += [(options, folder, name, at, sticky) for at in range(options.first, requests + 1, options.every)
                     for sticky in (False, True)]
        if options.sample:
            jobs = random.Random(1).sample(jobs, min(options.sample, len(jobs)))
        with multiprocessing.Pool(options.jobs) as pool:
            for job, what in zip(jobs, pool.imap(attempt, jobs, chunksize=8)):
                if what:
                    failures += 1
                    more = " and all after it" if job[4] else ""
                    print(f"FAIL {job[2]}, allocation {job[3]}{more}: {what}", flush=True)
    print(f"{len(jobs)} runs over {total} allocations of {len(options.models)} models: {failures} failures")
    return 1 if failures or not jobs else 0


if __name__ == "__main__":
    sys.exit(main())
