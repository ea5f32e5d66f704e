"""Compiles and runs a model with the command-line tools."""

import json
import os
import re
import subprocess

import numpy as np
import onnx

from dtypes import from_npy, to_npy

ONCE = ["--warm-up=0", "--duration=0", "--iterations=1", "--threads=1"]
DTYPES = {"f32": "float", "f64": "double", "f16": "float16", "bf16": "bfloat16", "f4e2m1": "float4e2m1",
          **{f"f8{t}": f"float8{t}" for t in ("e4m3fn", "e4m3fnuz", "e5m2", "e5m2fnuz", "e8m0")},
          **{f"{s}{b}": f"{n}{b}" for s, n in (("i", "int"), ("u", "uint")) for b in (2, 4, 8, 16, 32, 64)},
          "bool": "bool"}


class ToolError(Exception):
    """A tool failed: its exit code and what it said."""


class Tools:
    def __init__(self, bin_dir, target, device=None, images=True):
        self.bin_dir, self.target, self.device, self.images = bin_dir, target, device, images

    def call(self, tool, *args):
        done = subprocess.run([os.path.join(self.bin_dir, tool), *args], capture_output=True, text=True,
                              timeout=600)
        if done.returncode != 0:
            raise ToolError(f"{tool}: exit {done.returncode}: {(done.stdout + done.stderr).strip()[-1500:]}")
        return done.stdout

    def outputs(self, directory, model, feeds):
        """name -> array. The directory keeps the model, the inputs and the artifact."""
        path, artifact = os.path.join(directory, "model.onnx"), os.path.join(directory, "model.aicf")
        onnx.save(model, path)
        flags = [] if self.images else ["--no-images"]
        self.call("aicf-compile", path, "-o", artifact, "--force", f"--target={self.target}", *flags)
        args = []
        for name, array in feeds.items():
            file = os.path.join(directory, name + ".npy")
            np.save(file, to_npy(array))
            args.append(f"--load-inputs={name}:{file}")
        if self.device:
            args.append(f"--device={self.device}")
        out = os.path.join(directory, "out")
        self.call("aicf-run", artifact, *args, *ONCE, f"--export-output={out}")
        return read_outputs(out)


def read_outputs(directory):
    with open(os.path.join(directory, "outputs.json")) as file:
        listed = json.load(file)
    listed = listed["outputs"] if isinstance(listed, dict) and "outputs" in listed else listed
    arrays = {}
    for item in listed:
        array = np.load(os.path.join(directory, item["file"]))
        arrays[item["name"]] = from_npy(array, DTYPES[item["dtype"]])
    return arrays


def supported_ops(bin_dir):
    """Names that the tool lists as supported."""
    text = subprocess.run([os.path.join(bin_dir, "aicf-compile"), "--list-ops"], capture_output=True,
                          text=True, check=True).stdout
    return re.findall(r"`([A-Za-z0-9_.]+)`", text[:text.index("## Left out")].split("\n## ", 1)[1])
