"""What system_calls.py runs: tools with small inputs and several outputs."""

import dataclasses
import json
import os
import subprocess
import sys
from typing import Callable

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "corpus"), os.path.join(HERE, "..", "artifacts")]

import numpy as np  # noqa: E402
from onnx import TensorProto, helper  # noqa: E402

import gguf  # noqa: E402
from allocations import small_model  # noqa: E402
from onnx_models import info, whole  # noqa: E402

ARTIFACTS = os.path.join(HERE, "..", "artifacts")


@dataclasses.dataclass
class Scenario:
    name: str
    prepare: Callable  # (bin, folder of inputs) -> whether this machine can run it
    command: Callable  # (bin, folder of inputs, folder of outputs) -> arguments
    outputs: tuple  # names in the folder of outputs
    varying: dict = dataclasses.field(default_factory=dict)  # outputs with times in them: bytes -> whether whole
    cache: str = ""  # "filled" or "empty": a folder for compiled device code beside the outputs
    makes_folders: bool = False


SCENARIOS = {}


def add(scenario):
    SCENARIOS[scenario.name] = scenario


def put(path, content):
    with open(path, "wb") as file:
        file.write(content)


def compile_command(model, *flags, outputs=("out.aicf", "decisions.jsonl")):
    def command(bin_dir, inputs, folder):
        return [os.path.join(bin_dir, "aicf-compile"), os.path.join(inputs, model),
                "-o", os.path.join(folder, outputs[0]), "--force",
                "--export-decisions=" + os.path.join(folder, outputs[1]),
                *(flag.replace("{inputs}", inputs).replace("{folder}", folder) for flag in flags)]

    return command


def convolution(bin_dir, folder):
    put(os.path.join(folder, "m.onnx"), small_model())
    np.save(os.path.join(folder, "x.npy"), np.ones((1, 3, 8, 8), np.float32))
    return True


def external(bin_dir, folder):
    """A product whose weights are in a file beside the model."""
    weights = np.random.default_rng(3).random((64, 64)).astype(np.float32)
    put(os.path.join(folder, "weights.bin"), weights.tobytes())
    tensor = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=weights.shape,
                         data_location=TensorProto.EXTERNAL)
    for key, value in {"location": "weights.bin", "offset": 0, "length": weights.nbytes}.items():
        tensor.external_data.add(key=key, value=str(value))
    model = whole([helper.make_node("MatMul", ["x", "w"], ["y"])], [info("x", (4, 64))], [info("y", (4, 64))], [tensor])
    put(os.path.join(folder, "m.onnx"), model.SerializeToString())
    return True


def calibration(bin_dir, folder):
    """Samples of a model's input in a folder."""
    os.makedirs(os.path.join(folder, "samples"))
    for number in range(2):
        values = np.random.default_rng(number).random((1, 3, 8, 8)).astype(np.float32)
        np.save(os.path.join(folder, "samples", f"{number}.npy"), values)
    return convolution(bin_dir, folder)


def language(bin_dir, folder):
    gguf.save(gguf.Llama(type=gguf.Q8_0, seed=5), os.path.join(folder, "m.gguf"))
    return True


def device_code(bin_dir, folder):
    """A CUDA artifact with its code, where a compiler for it is."""
    put(os.path.join(folder, "m.onnx"), small_model())
    done = subprocess.run(device_code_command(bin_dir, folder, folder), capture_output=True)
    return done.returncode == 0


device_code_command = compile_command("m.onnx", "--target=cuda:sm_90a", "--kernel-cache={folder}/cache")

add(Scenario("compile a convolution", convolution,
             compile_command("m.onnx", "--target=cpu:avx2", "--golden=x:{inputs}/x.npy"),
             ("out.aicf", "decisions.jsonl")))
add(Scenario("compile with samples", calibration,
             compile_command("m.onnx", "--target=cpu:avx2", "--precision=int8", "--calibrate={inputs}/samples"),
             ("out.aicf", "decisions.jsonl")))
add(Scenario("compile external weights", external,
             compile_command("m.onnx", "--target=cuda:sm_90a", "--no-images"), ("out.aicf", "decisions.jsonl")))
add(Scenario("compile a language model", language,
             compile_command("m.gguf", "--target=cpu:avx2", "--context=64", "--prefill=16", "--decode=1"),
             ("out.aicf", "decisions.jsonl")))
add(Scenario("compile with kept device code", device_code, device_code_command, ("out.aicf", "decisions.jsonl"),
             cache="filled"))


def is_json(content):
    try:
        return bool(json.loads(content))
    except ValueError:
        return False


def run_command(bin_dir, inputs, folder):
    return [os.path.join(bin_dir, "aicf-run"), os.path.join(ARTIFACTS, "stream.cpu.aicf"), "--device=cpu",
            "--threads=1", "--export-output=" + os.path.join(folder, "results"),
            "--export-times=" + os.path.join(folder, "times.json"),
            "--export-profile=" + os.path.join(folder, "trace.json"),
            "--warm-up=0", "--duration=0", "--iterations=1"]


def nothing(bin_dir, folder):
    return True


def inspect_command(bin_dir, inputs, folder):
    return [os.path.join(bin_dir, "aicf-inspect"), os.path.join(ARTIFACTS, "image.cpu.aicf"),
            "--html=" + os.path.join(folder, "page.html"), "--force"]


add(Scenario("inspect", nothing, inspect_command, ("page.html",)))
add(Scenario("run", nothing, run_command, ("results/y.npy", "results/outputs.json", "times.json", "trace.json"),
             varying={"times.json": is_json, "trace.json": is_json}, makes_folders=True))
