#!/usr/bin/env python3
"""Makes the committed artifacts again: every model of models.py, for a CPU and for CUDA, two for other GPUs, and four
in later versions of the format ("numbers": the symbols of their device code hash numbers; "records": so they do, and
their steps hold operands, parameters and tensor maps as records).

    make.py --bin build/dev/bin [--only REGEX]

They prove that what an older aicf has made still loads and runs, so they are made again only when the format's
or the kernel contract's version moves, never because another kernel is chosen today. Their samples hold what
ONNX's own evaluator computes, those of language models what the reference kernels do. Needs onnx; the CUDA ones need NVRTC (AICF_NVRTC may name it).
"""

import argparse
import os
import re
import subprocess
import tempfile

import onnx
from onnx.reference import ReferenceEvaluator

import gguf
import models
import toolkit  # tests/exporters, which models.py has put on the path

TARGETS = {"cpu": "cpu:baseline", "cuda": "cuda:sm_90a"}
MORE_TARGETS = {"packed": {"sm_80": "cuda:sm_80"}, "image": {"sm_120": "cuda:sm_120", "numbers.cuda": "cuda:sm_90a"},
                "product": {"records.cuda": "cuda:sm_90a"},
                "sequence": {"numbers.cuda": "cuda:sm_90a", "records.cpu": "cpu:baseline"}}
HERE = os.path.dirname(os.path.abspath(__file__))


def put_model(case, path):
    """Writes the model as a file, and gives it."""
    model = case.model.build(case.outputs)
    if case.named_axis:
        for tensor in model.graph.input:
            tensor.type.tensor_type.shape.dim[0].dim_param = "rows"
    onnx.save(model, path)
    return model


def sample_flag(tensors, directory, number):
    """--golden with these tensors."""
    paths = toolkit.save(directory, f"sample{number}", tensors)
    return "--golden=" + ",".join(f"{n}:{directory}/{p}" for n, p in paths.items())


def golden_flags(case, model, directory):
    """One --golden for each set of inputs, with the outputs that the evaluator computes."""
    evaluator = ReferenceEvaluator(model)
    states = re.findall(r"--state=(\S+?):(\S+)", " ".join(case.flags))
    hidden = {name for pair in states for name in pair}
    hidden.update(re.findall(r"--meta=(\S+)", " ".join(case.flags)))  # samples leave metas and states zero
    flags = []
    for number, feeds in enumerate((case.model.feeds, *case.more_samples)):
        tensors = {**feeds, **dict(zip(case.outputs, evaluator.run(case.outputs, feeds)))}
        tensors = {name: array for name, array in tensors.items() if name not in hidden}
        flags.append(sample_flag(tensors, directory, number))
    return flags


def put_case(case, name, directory):
    """The model's file, and a --golden for each sample. aicf-compile computes what texts give."""
    if isinstance(case, models.LanguageCase):
        path = os.path.join(directory, name + ".gguf")
        gguf.save(case.model, path)
        return path, [sample_flag(sample, directory, i) for i, sample in enumerate(case.samples)]
    path = os.path.join(directory, name + ".onnx")
    return path, golden_flags(case, put_model(case, path), directory)


def make(function, targets, bin_dir):
    case = function()
    with tempfile.TemporaryDirectory() as directory:
        path, golden = put_case(case, function.__name__, directory)
        for suffix, target in targets.items():
            out = os.path.join(HERE, f"{function.__name__}.{suffix}.aicf")
            flags = [*case.flags, *(() if suffix == "cpu" else case.cuda_flags)]
            command = [os.path.join(bin_dir, "aicf-compile"), path, "-o", out, "--force",
                       f"--target={target}", *flags, *golden, "--golden-rel=2e-3"]
            subprocess.run(command, check=True)
            print(f"{os.path.basename(out)}: {os.path.getsize(out)} bytes")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", required=True, help="folder of aicf-compile")
    parser.add_argument("--only", default="", help="artifacts whose names (packed.sm_80) match this pattern")
    arguments = parser.parse_args()
    for function in models.CASES:
        targets = {**TARGETS, **MORE_TARGETS.get(function.__name__, {})}
        wanted = {suffix: target for suffix, target in targets.items()
                  if re.search(arguments.only, f"{function.__name__}.{suffix}")}
        if wanted:
            make(function, wanted, arguments.bin)


if __name__ == "__main__":
    main()
