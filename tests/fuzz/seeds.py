"""Seeds and dictionaries of the fuzz targets, from what the repository has.

    seeds.py --bin build/dev/bin --out build/fuzz-seeds

Writes a folder NAME with inputs and a file NAME.dict for every target of targets.def. Models of one op are those of
tests/properties, hostile files those of tests/faults/corpus, artifacts and texts what the tools of --bin make of small
models, words those that stand in quotation marks in the sources of a reader. Needs the packages of
tests/properties/requirements.txt.
"""

import argparse
import glob
import importlib
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
FAULTS = os.path.join(ROOT, "tests", "faults")
sys.path[:0] = [HERE, FAULTS]

import onnx_cases  # noqa: E402

# The modules of the two folders have names in common; those of tests/properties are loaded by now.
del sys.modules["case"]
sys.path.insert(0, os.path.join(FAULTS, "corpus"))

from case import CASES  # noqa: E402

import seed_models as models  # noqa: E402

for corpus in ("command_lines", "external_data", "gguf_files", "onnx_models", "safetensors_folders"):
    importlib.import_module(corpus)

LARGEST = {"onnx": 6000, "onnx_compile": 2000, "external_data": 4000, "gguf": 24_000, "safetensors": 20_000,
           "config": 20_000, "artifact": 70_000, "execute": 50_000, "recompile": 70_000}
# Where the words of a reader stand.
WORDS = {
    "onnx": "compiler/import/onnx*", "onnx_compile": "compiler/import/onnx*",
    "external_data": "compiler/import/external_data.cc",
    "gguf": "compiler/import/gguf/*.* compiler/import/language/gguf_model.cc compiler/import/tokenizer/gguf_*",
    "safetensors": "compiler/import/safetensors/*.*",
    "config": "compiler/import/language/hf_* compiler/import/tokenizer/*.*",
    "tokenizer": "compiler/import/tokenizer/*.* runtime/text/*.*",
    "artifact": "schema/decision*", "execute": "schema/decision.cc",
    "recompile": "compiler/source/*.cc compiler/ir/*text*.cc kernels/abi/*.cc kernels/abi/*.def schema/decision*",
    "text_ir": "compiler/ir/*.cc compiler/ir/ops.def kernels/abi/*.cc kernels/abi/*.def kernels/abi/*.h schema/program_*.cc",
    "decisions": "schema/decision* compiler/edit/*.cc",
    "policy": "compiler/edit/* kernels/abi/problem.* kernels/abi/*.def",
    "timing_cache": "compiler/costs/timing_cache*.cc kernels/abi/problem*.cc",
    "npy": "tools/common/npy.cc", "profile": "tools/aicf-inspect/profile_reader.cc tools/aicf-run/profile.cc",
    "command_line": "tools/aicf-*/*options.cc tools/aicf-compile/golden.cc compiler/ir/budgets.def",
}


class Seeds:
    def __init__(self, out):
        self.out = out
        self.count = 0

    def add(self, target, content, largest=None):
        if len(content) > (largest or LARGEST.get(target, 16_000)):
            return
        folder = os.path.join(self.out, target)
        os.makedirs(folder, exist_ok=True)
        self.count += 1
        with open(os.path.join(folder, f"seed{self.count:05}"), "wb") as file:
            file.write(content)


def read(path):
    with open(path, "rb") as file:
        return file.read()


def joined(parts):
    """Files by letter as one input (parts.h)."""
    return b"".join(b"\n--file %s--\n%s" % (letter.encode(), content) for letter, content in parts)


def pieces(text, largest):
    """The lines of a text, in runs of at most so many bytes."""
    piece = b""
    for line in text.splitlines(keepends=True):
        if piece and len(piece) + len(line) > largest:
            yield piece
            piece = b""
        piece += line
    yield piece


def write_words(out):
    for target, patterns in WORDS.items():
        words = set()
        for pattern in patterns.split():
            for path in glob.glob(os.path.join(ROOT, pattern)):
                if not path.endswith("_test.cc"):
                    words.update(re.findall(r'"([-A-Za-z_0-9.:=,]{2,40})"', read(path).decode()))
                    words.update(re.findall(r"\b[A-Z_]+\((?:k\w+, *)*\"?([a-z][-\w.]{2,30})\b", read(path).decode()))
        words = {w for w in words if not w.endswith(".h")} | set(MORE_WORDS.get(target, ())) | ({"\\x0a--file a--\\x0a"} if target in PARTED else set())
        with open(os.path.join(out, target + ".dict"), "w", encoding="utf-8") as file:
            file.writelines(f'"{w}"\n' for w in sorted(words))


# Words that stand there in no quotation marks of their own.
MORE_WORDS = {"npy": ["<i2", "<i4", "<i8", "<u2", "<u4", "<u8", "<f2", "<f4", "<f8", "|b1", "|i1", "|u1", ", 1", "True"],
              "external_data": ["w.bin", "sub/w.bin", "../outside.bin", "up/outside.bin", "link", "hard", "pipe", "16", "4096"],
              "command_line": ["\\x0a--"], "policy": ["node:", "step.", "=fp32", "\\x0a"], "decisions": ["set step.", "set node:"]}

PARTED = {"external_data", "safetensors", "config", "tokenizer"}
FOLDER = {"config.json": "a", "model.safetensors": "b", "model.safetensors.index.json": "c", "1.safetensors": "d",
          "2.safetensors": "e", "tokenizer.json": "t", "tokenizer_config.json": "u", "generation_config.json": "g",
          "chat_template.jinja": "j", "modules.json": "m", "1_Pooling/config.json": "p"}


def folder_parts(folder):
    return [(letter, read(os.path.join(folder, name))) for name, letter in FOLDER.items()
            if os.path.isfile(os.path.join(folder, name))]


def add_corpus(seeds):
    """The files of the cases in tests/faults/corpus, by the target that reads such files."""
    for case in CASES:
        with tempfile.TemporaryDirectory() as folder:
            try:
                arguments = case.make(folder)
            except OSError:
                continue
            if case.row[0] == "A" and os.path.isfile(os.path.join(folder, "model.onnx")):
                model = read(os.path.join(folder, "model.onnx"))
                seeds.add("onnx", model)
                seeds.add("onnx_compile", model)
            elif case.row[0] == "B" and os.path.isfile(os.path.join(folder, "model", "m.onnx")):
                data = os.path.join(folder, "model", "w.bin")
                parts = [("a", read(os.path.join(folder, "model", "m.onnx")))]
                seeds.add("external_data", joined(parts + ([("b", read(data))] if os.path.isfile(data) else [])))
            elif case.row[0] == "C":
                seeds.add("gguf", read(arguments[0]))
            elif case.row[0] == "D":
                parts = folder_parts(os.path.join(folder, "model"))
                seeds.add("safetensors", joined(parts))
                seeds.add("config", joined(parts))
            elif case.row[0] == "G":
                lines = [os.path.basename(os.fsdecode(a)) if os.sep in os.fsdecode(a) else a for a in arguments]
                seeds.add("command_line", ("c" + "\n".join(lines)).encode("utf-8", "surrogateescape"), 2000)


def add_ops(seeds):
    """One valid model of every op; to be compiled, only small ones."""
    for name in onnx_cases.ops():
        for schema, opset, _ in onnx_cases.groups(name, 1)[:2]:
            for index in (4, 9):
                model = onnx_cases.build([onnx_cases.make(name, schema, opset, index, 7)], opset).SerializeToString()
                seeds.add("onnx", model)
                seeds.add("onnx_compile", model)


class Tools:
    def __init__(self, folder, bin_folder):
        self.folder, self.bin = folder, bin_folder

    def run(self, tool, *arguments):
        done = subprocess.run([os.path.join(self.bin, tool), *arguments], cwd=self.folder, capture_output=True,
                              check=False, timeout=60)
        if done.returncode:
            raise SystemExit(f"{tool} {' '.join(arguments)}: {done.stderr.decode()}")
        return done.stdout

    def path(self, name):
        return os.path.join(self.folder, name)


def add_compiled(seeds, tools):
    """What the compiler makes of small models: artifacts, programs as text, decisions, a trace."""
    for name, model in models.small_models():
        with open(tools.path("m.onnx"), "wb") as file:
            file.write(model)
        seeds.add("onnx_compile", model)
        for target in ("cpu:avx2", "cpu:baseline", "cuda:sm_90a"):
            flags = ["m.onnx", f"--target={target}", "--no-images", "--kernel-cache=none", "--force"]
            tools.run("aicf-compile", *flags, "-o", "m.aicf", "--export-decisions=m.jsonl")
            for of in ("artifact", "execute", "recompile"):
                seeds.add(of, read(tools.path("m.aicf")))
            for piece in pieces(read(tools.path("m.jsonl")), 2000):
                seeds.add("decisions", piece)
            seeds.add("text_ir", tools.run("aicf-compile", *flags, "--stop-after=plan"))
        for stage in ("graph", "lowered"):
            seeds.add("text_ir", tools.run("aicf-compile", *flags, f"--stop-after={stage}"))
        if name == "sample":
            tools.run("aicf-compile", "m.onnx", "--target=cpu:avx2", "-o", "s.aicf")
            tools.run("aicf-run", "s.aicf", "--warm-up=0", "--duration=0", "--export-profile=t.json", "--threads=1")
            seeds.add("profile", read(tools.path("t.json")))


def add_artifacts(seeds):
    for path in glob.glob(os.path.join(ROOT, "tests", "artifacts", "*.aicf")) + glob.glob(
            os.path.join(FAULTS, "corpus", "artifacts", "*.aicf")):
        for target in ("artifact", "execute", "recompile"):
            seeds.add(target, read(path))


def add_texts(seeds):
    for policy in models.POLICIES:
        seeds.add("policy", policy)
    for lines in models.EDITS:
        seeds.add("decisions", lines)
    for command in models.COMMANDS:
        seeds.add("command_line", command)
    for array in models.arrays():
        seeds.add("npy", array)
    for cache in models.timing_caches(read(os.path.join(ROOT, "bench", "timing-cache", "h200_products.txt"))):
        seeds.add("timing_cache", cache)
    for files in models.tokenizers():
        seeds.add("tokenizer", joined(files))
    for folder in models.folders():
        parts = [(FOLDER[name], content) for name, content in folder.items()]
        seeds.add("config", joined(parts))
        seeds.add("safetensors", joined(parts))
    for sharded in models.sharded_folders():
        seeds.add("safetensors", joined([(FOLDER[name], content) for name, content in sharded.items()]))
    for file in models.gguf_files():
        seeds.add("gguf", file)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--bin", required=True)
    parser.add_argument("--out", required=True)
    options = parser.parse_args()
    shutil.rmtree(options.out, ignore_errors=True)
    os.makedirs(options.out)
    seeds = Seeds(options.out)
    add_corpus(seeds)
    add_ops(seeds)
    add_artifacts(seeds)
    add_texts(seeds)
    with tempfile.TemporaryDirectory() as folder:
        add_compiled(seeds, Tools(folder, os.path.abspath(options.bin)))
    write_words(options.out)
    print(f"{seeds.count} seeds in {options.out}")


if __name__ == "__main__":
    main()
