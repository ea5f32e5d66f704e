"""The compiler killed at random moments: the output is the old file or the new one, whole, and nothing else stays.

    kills.py --bin build/dev/bin [--count 1000]

Compiles two models in turn over one output, each time with SIGKILL, SIGTERM or SIGINT after a random time. Whenever
the process is gone, the output has to be one of the two artifacts, byte for byte. SIGTERM and SIGINT have to end it
within a second, with their exit codes and without a temporary file; what SIGKILL leaves has to be gone after the
next compilation in that folder. Exit code 1 when one of that does not hold.
"""

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "corpus")]

import numpy as np  # noqa: E402
from onnx import helper  # noqa: E402

from onnx_models import constant, info, whole  # noqa: E402


def large_model(seed):
    """Weights of 4 MB, so that writing takes a while."""
    weights = np.random.default_rng(seed).random((1024, 1024)).astype(np.float32)
    return whole([helper.make_node("MatMul", ["x", "w"], ["y"])], [info("x", (1, 1024))], [info("y", (1, 1024))],
                 [constant("w", weights, np.float32)]).SerializeToString()


def content(path):
    with open(path, "rb") as file:
        return file.read()


class Trial:
    """One folder with two models and one output."""

    def __init__(self, bin_dir, folder):
        self.tool, self.folder = os.path.join(bin_dir, "aicf-compile"), folder
        self.output = os.path.join(folder, "out.aicf")
        self.models = [os.path.join(folder, f"m{k}.onnx") for k in range(2)]
        for k, path in enumerate(self.models):
            with open(path, "wb") as file:
                file.write(large_model(k))
        start = time.monotonic()
        self.whole = [self.compiled(k) for k in range(2)]
        self.seconds = (time.monotonic() - start) / 2
        self.names = set(os.listdir(folder))

    def command(self, k):
        return [self.tool, self.models[k], "-o", self.output, "--force"]

    def compiled(self, k):
        subprocess.run(self.command(k), check=True, stdout=subprocess.DEVNULL)
        return content(self.output)

    def kill(self, k, number, after):
        """(what is wrong, whether the process was still there)."""
        process = subprocess.Popen(self.command(k), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        time.sleep(after)
        alive = process.poll() is None
        process.send_signal(number)
        start = time.monotonic()
        process.communicate()
        took = time.monotonic() - start
        if content(self.output) not in self.whole:
            return "the output is neither the old artifact nor the new one", alive
        left = set(os.listdir(self.folder)) - self.names
        if number == signal.SIGKILL or process.returncode == 0:
            return (f"left {left}" if left and process.returncode == 0 else None), alive
        # A signal that comes before its handler is there ends the process as any other program.
        if process.returncode not in (128 + number, -number) or took > 1 or left:
            return f"signal {number}: code {process.returncode} after {took:.1f} s, left {left}", alive
        return None, alive


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--bin", required=True)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rng, failures, met, leftovers = random.Random(options.seed), 0, 0, 0
    with tempfile.TemporaryDirectory() as folder:
        trial = Trial(options.bin, folder)
        for index in range(options.count):
            number = rng.choice((signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT))
            what, alive = trial.kill(index % 2, number, rng.uniform(0, 1.2 * trial.seconds))
            met += alive
            leftovers += len(set(os.listdir(folder)) - trial.names)
            if not what and index % 10 == 9:
                trial.compiled(index % 2)
                left = set(os.listdir(folder)) - trial.names
                what = f"after the next compilation there is still {left}" if left else None
            if what:
                failures += 1
                print(f"FAIL {index}: {what}", flush=True)
        trial.compiled(0)
        left = set(os.listdir(folder)) - trial.names
        if left or content(trial.output) != trial.whole[0]:
            failures += 1
            print(f"FAIL in the end: {left}")
    print(f"{options.count} signals, {met} of them to a process at work, {leftovers} temporary files seen on the way: "
          f"{failures} failures")
    return 1 if failures or not met else 0


if __name__ == "__main__":
    sys.exit(main())
