"""Group G: command lines, and what outputs may lie over."""

import os

from case import case, put
from onnx_models import relu

RELU = relu().SerializeToString()


def command(row, name, code, message, *flags, prepare=lambda folder: None, after=None, output="out.aicf"):
    @case(row, name, code, message, after)
    def _(folder):
        path = put(folder, "model.onnx", RELU)
        prepare(folder)
        out = ["-o", os.path.join(folder, output)] if output else []
        return [path] + out + [f.replace("FOLDER", folder) for f in flags]


def unchanged(name, content):
    def check(folder):
        with open(os.path.join(folder, name), "rb") as file:
            return None if file.read() == content else f"{name} was changed"
    return check


command("G1", "an unknown flag", 2, "did you mean --shapes?", "--sahpes=x:1")
command("G1", "a value that is missing", 2, "--target", "--target")
command("G1", "a flag twice", 2, "--math", "--math=fp32", "--math=fp16")
command("G1", "no output", 2, "-o FILE is missing", output=None)
for shape in ("-1", "1e9999", "0x", "9223372036854775808", "1,5", "1x", "18446744073709551617", "1x-3"):
    command("G2", f"a shape of {shape}", 2, "--shapes", f"--shapes=x:{shape}")
for budget in ("nodes", "nodes:", "nodes:0", "nodes:-1", "nodes:1e9", "nodes:9223372036854775808", "colour:3", ""):
    command("G2", f"a budget of '{budget}'", 2, "budget", f"--budget={budget}")
command("G2", "a budget that is too small", 7, "--budget=interface:2", "--budget=interface:1")
command("G4", "the output is the model", 2, "the output is the model itself", output="model.onnx",
        after=unchanged("model.onnx", RELU))
command("G4", "the output is the model by another name", 2, "the output is the model itself", "--force",
        output="link.aicf", prepare=lambda d: os.link(d + "/model.onnx", d + "/link.aicf"),
        after=unchanged("model.onnx", RELU))
command("G5", "the output exists", 8, "exists; --force replaces it",
        prepare=lambda d: put(d, "out.aicf", b"precious"), after=unchanged("out.aicf", b"precious"))
command("G5", "the output exists, with --force", 0, "", "--force",
        prepare=lambda d: put(d, "out.aicf", b"old"))
command("G5", "the output is a directory", 8, "not a regular file", "--force",
        prepare=lambda d: os.mkdir(d + "/out.aicf"))
command("G6", "the output's directory is absent", 8, "output directory", output="absent/out.aicf")
command("G8", "an output of 5,000 characters", 8, "", output="n" * 5000)
command("G8", "an output's name with a newline and a terminal's codes", 0, "\\n", output="a\n\x1b[2J.aicf")
command("G9", "an argument of 100 kB", 2, "unknown flag", "--" + "x" * 100_000)
command("G9", "10,000 arguments", 2, "", *["extra"] * 10_000)


@case("G3", "the model is absent", 8, "No such file")
def _(folder):
    return [os.path.join(folder, "absent.onnx"), "-o", os.path.join(folder, "out.aicf")]


@case("G3", "the model is a pipe", 8, "")
def _(folder):
    os.mkfifo(os.path.join(folder, "pipe.onnx"))
    return [os.path.join(folder, "pipe.onnx"), "-o", os.path.join(folder, "out.aicf")]


@case("G3", "the model is a directory without a model", 8, "")
def _(folder):
    os.mkdir(os.path.join(folder, "empty"))
    return [os.path.join(folder, "empty"), "-o", os.path.join(folder, "out.aicf")]


@case("G8", "a model's name that is not UTF-8", 3, "\\xff")
def _(folder):
    path = os.fsencode(folder) + b"/\xff.onnx"
    with open(path, "wb") as file:
        file.write(b"noise")
    return [path, "-o", os.path.join(folder, "out.aicf")]
