"""The program that compiles and runs graphs, as a process that is asked one question after the other."""

import json
import os
import select
import subprocess
import tempfile
import time

import numpy as np

DTYPES = {"float32": "f32", "int64": "i64", "bool": "bool"}
ARRAYS = {"f32": np.float32, "i64": np.int64, "bool": np.bool_, "f64": np.float64, "i32": np.int32}


class Ended(Exception):
    """The program ended, or gave no answer in time: what is known of it."""


class Server:
    """Starts the program when it is asked first, and again after it ended or had many questions."""

    QUESTIONS, SECONDS = 2000, 120

    def __init__(self, command):
        self.command, self.process, self.asked = command, None, 0

    def start(self):
        self.errors = tempfile.TemporaryFile()
        self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=self.errors, bufsize=0)
        self.asked, self.rest = 0, b""

    def stop(self):
        if self.process is not None:
            self.process.kill()
            self.process.communicate()
            self.errors.close()
            self.process = None

    def ended(self, why):
        """What an answer that never came is reported as."""
        self.process.kill()
        self.process.communicate()
        code = self.process.returncode
        self.errors.seek(0)
        said = self.errors.read().decode(errors="replace").strip()[-500:]
        self.process = None
        return Ended(f"{why}, exit {code}: {said}")

    def read(self, until, complete):
        while not complete(self.rest):
            if not select.select([self.process.stdout], [], [], max(0, until - time.monotonic()))[0]:
                raise self.ended(f"no answer within {self.SECONDS} s")
            more = os.read(self.process.stdout.fileno(), 1 << 20)
            if not more:
                raise self.ended("the program ended")
            self.rest += more

    def answer(self):
        """(what the header says, the bytes behind it)."""
        until = time.monotonic() + self.SECONDS
        self.read(until, lambda have: b"\n" in have)
        line, self.rest = self.rest.split(b"\n", 1)
        header = json.loads(line)
        self.read(until, lambda have: len(have) >= header["bytes"])
        content, self.rest = self.rest[:header["bytes"]], self.rest[header["bytes"]:]
        return header, content

    def ask(self, model, tensors, ways):
        """For every way an error, or a list of runs, each outputs by name. `tensors`: (name, array) pairs."""
        if self.process is None or self.asked >= self.QUESTIONS:
            self.stop()
            self.start()
        self.asked += 1
        listed = [{"name": n, "dtype": DTYPES[str(a.dtype)], "shape": a.shape, "bytes": a.nbytes} for n, a in tensors]
        header = {"model": len(model), "tensors": listed, "ways": ways}
        parts = [json.dumps(header).encode(), b"\n", model] + [a.tobytes() for _, a in tensors]
        try:
            self.process.stdin.write(b"".join(parts))
            for _ in ways:
                header, content = self.answer()
                yield header["error"] if "error" in header else runs_of(header, content)
        except BrokenPipeError:
            raise self.ended("the program ended") from None


def runs_of(header, content):
    runs, at = [], 0
    for outputs in header["runs"]:
        arrays = {}
        for o in outputs:
            part = content[at:at + o["bytes"]]
            at += o["bytes"]
            arrays[o["name"]] = np.frombuffer(part, ARRAYS[o["dtype"]]).reshape(o["shape"])
        runs.append(arrays)
    return runs
