"""Compiles and runs one model with the tools and compares with references: what the scripts here share.

Needs numpy. A case is a directory: model.onnx, one .npy per input and per reference output.
"""

import json
import os
import re
import subprocess
import tempfile

import numpy as np

# What one measured run needs: the scripts ask for results, not for times.
ONCE = ["--warm-up=0", "--duration=0", "--iterations=1"]


def file_name(name):
    return re.sub(r"[^A-Za-z0-9_.-]", "_", name) + ".npy"


def bits(array):
    """The array as the tools read it: bfloat16 as its bits."""
    array = np.asarray(array)
    if array.dtype.name == "bfloat16":
        return array.view(np.uint16)
    return np.ascontiguousarray(array).reshape(array.shape)  # NumPy makes a vector of a scalar


def save(directory, prefix, arrays):
    """Writes name -> array; gives name -> path relative to the directory."""
    paths = {}
    for index, (name, array) in enumerate(arrays.items()):
        path = f"{prefix}_{index}_{file_name(name)}"
        np.save(os.path.join(directory, path), bits(array))
        paths[name] = path
    return paths


class Tools:
    """The tools of one build for one target."""

    def __init__(self, bin_dir, target="cpu", device=None):
        self.bin_dir, self.target, self.device = bin_dir, target, device

    def call(self, tool, *args):
        command = [os.path.join(self.bin_dir, tool), *args]
        done = subprocess.run(command, capture_output=True, text=True, timeout=900)
        return done.returncode, done.stdout + done.stderr

    def compile(self, model, artifact, shapes=None, flags=()):
        shape_flags = [
            f"--shapes={name}:{'x'.join(map(str, dims))}" for name, dims in (shapes or {}).items()
        ]
        return self.call(
            "aicf-compile", model, "-o", artifact, f"--target={self.target}", *shape_flags, *flags
        )

    def run(self, directory, artifact, inputs, references, tolerance):
        args = [f"--load-inputs={n}:{os.path.join(directory, p)}" for n, p in inputs.items()]
        args += [f"--load-ref-outputs={n}:{os.path.join(directory, p)}" for n, p in references.items()]
        if self.device:
            args.append(f"--device={self.device}")
        return self.call("aicf-run", artifact, *args, *tolerance, *ONCE)

    def check(self, directory, model, feeds, references, tolerance, flags=()):
        """True and "" when the model compiles and its outputs match; False and why otherwise."""
        inputs = save(directory, "input", feeds)
        outputs = save(directory, "output", references)
        artifact = os.path.join(directory, "model.aicf")
        code, text = self.compile(model, artifact, {n: a.shape for n, a in feeds.items()}, flags)
        if code != 0:
            return False, f"aicf-compile: exit {code}: {text.strip()[-600:]}"
        code, text = self.run(directory, artifact, inputs, outputs, tolerance)
        return code == 0, "" if code == 0 else f"aicf-run: exit {code}: {text.strip()[-900:]}"

    def steps(self, artifact):
        """The plan's steps as the inspector lists them."""
        if not os.path.exists(os.path.join(self.bin_dir, "aicf-inspect")):
            return []
        code, text = self.call("aicf-inspect", artifact, "--json")
        return json.loads(text)["steps"] if code == 0 else []


def run_cases(cases, tools, only=None):
    """cases: name -> function giving (onnx model, feeds, references, tolerance). Exit code for main."""
    failed = []
    for name, make in cases.items():
        if only and not re.search(only, name):
            continue
        with tempfile.TemporaryDirectory() as directory:
            import onnx

            model, feeds, references, tolerance = make()
            path = os.path.join(directory, "model.onnx")
            onnx.save(model, path)
            ok, why = tools.check(directory, path, feeds, references, tolerance)
            count = len(tools.steps(os.path.join(directory, "model.aicf"))) if ok else 0
        print(f"{'PASS' if ok else 'FAIL'} {name}" + (f" ({count} steps)" if count else ""))
        if not ok:
            failed.append(name)
            print("  " + why.replace("\n", "\n  "))
    print(f"{len(failed)} failed" if failed else "all passed")
    return 1 if failed else 0
