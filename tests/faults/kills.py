"""The compiler killed at random moments: the output is the old file or the new one, whole, and nothing else stays.

    kills.py --bin build/dev/bin [--count 1000]

Compiles two models in turn over one output, each time with SIGKILL, SIGTERM or SIGINT after a random time. Whenever
the process is gone, the output has to be one of the two artifacts, byte for byte. SIGTERM and SIGINT have to end it
within a second, with their exit codes and without a temporary file of its own; what SIGKILL leaves has to be gone
after the next whole compilation in that folder. Before that, files that are put there show what is found and what is
not. Exit code 1 when one of that does not hold.
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
        before = set(os.listdir(self.folder))
        process = subprocess.Popen(self.command(k), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        time.sleep(after)
        alive = process.poll() is None
        process.send_signal(number)
        start = time.monotonic()
        process.communicate()
        return self.judge(number, process.returncode, time.monotonic() - start, before), alive

    def judge(self, number, code, took, before):
        """What is wrong with how a process ended that met those files when it started; None: nothing."""
        if content(self.output) not in self.whole:
            return "the output is neither the old artifact nor the new one"
        now = set(os.listdir(self.folder))
        if code == 0:
            return f"left {now - self.names}" if now - self.names else None
        if number == signal.SIGKILL:
            return None
        # What an earlier SIGKILL left stays where this process ends before it has come to remove it.
        left = now - self.names - before
        # A signal that comes before its handler is there ends the process as any other program.
        if code not in (128 + number, -number) or took > 1 or left:
            return f"signal {number}: code {code} after {took:.1f} s, left {left}"
        return None

    def misjudged(self):
        """What this script gets wrong about files that it puts there itself; None: nothing."""
        before = set(os.listdir(self.folder))
        temporary = os.path.join(self.folder, ".out.aicf.1-0.aicf-tmp")
        with open(temporary, "wb"):
            pass
        if not self.judge(signal.SIGTERM, 143, 0, before):
            return "a temporary file that a signal left is not found"
        if not self.judge(signal.SIGTERM, 0, 0, before | {os.path.basename(temporary)}):
            return "an old temporary file that a whole compilation left is not found"
        what, alive = self.kill(1, signal.SIGTERM, 0)
        if what or not alive:
            return f"a process that ends before it removes an old temporary file: {what}"
        self.compiled(0)
        return "the next compilation leaves it" if os.path.exists(temporary) else None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--bin", required=True)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rng, failures, met, leftovers = random.Random(options.seed), 0, 0, 0
    with tempfile.TemporaryDirectory() as folder:
        trial = Trial(options.bin, folder)
        misjudged = trial.misjudged()
        if misjudged:
            failures += 1
            print(f"FAIL of this script: {misjudged}", flush=True)
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
