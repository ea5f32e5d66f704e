"""Compiles tiny language models with one number of their configuration at an extreme, and holds every run to the
contract that sweep.py holds models in ONNX to (contract.py).

    language_sweep.py --bin build/dev/bin [--target cpu] [--kind REGEX] [--keep DIR]

The models are the fuzzer's seeds: folders of safetensors and GGUF files of one layer each. In a folder every key
that its config.json has, or that the importer asks for, gets every extreme; in a GGUF file every number of its
metadata. Exit code 1 when a run breaks the contract; --planted shows that a broken contract is seen.
"""

import glob
import json
import os
import re
import shutil
import struct
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")
for folder in (HERE, os.path.join(HERE, "corpus"), os.path.join(HERE, "..", "fuzz")):
    sys.path.insert(0, folder)

import seed_models  # noqa: E402
from contract import compiled, parser_of, sweep  # noqa: E402
from onnx_cases import INTS, REALS  # noqa: E402

VALUES = (*INTS, 1, 3, 2**20, *REALS, None, True, "x", [], [0, -1], {}, {"rope_type": "linear", "factor": 1e-45})


def asked_for():
    """Keys of config.json that the importer looks up by name."""
    found = set()
    for path in glob.glob(os.path.join(ROOT, "compiler", "import", "language", "hf_*.cc")):
        with open(path, encoding="utf-8") as source:
            found.update(re.findall(r'\b(?:Int|Real|Bool|Text|Has|Find)\([^")]*"(\w+)"', source.read()))
    return found


def folder_cases():
    keys = asked_for()
    assert len(keys) > 20, "the importer's look-ups are written otherwise"
    for number, files in enumerate(seed_models.folders()):
        config = json.loads(files["config.json"])
        for key in sorted(keys | set(config)):
            for n, extreme in enumerate(VALUES):
                changed = json.dumps({**config, key: extreme}).encode()
                yield f"{config['model_type']}{number}-{key}-{n}", {**files, "config.json": changed}


def numbers_of(data):
    """(key, place, letter of struct) of every number among the metadata of a GGUF file of version 3."""
    at = 24

    def take(letter):
        nonlocal at
        at += struct.calcsize("<" + letter)
        return struct.unpack_from("<" + letter, data, at - struct.calcsize("<" + letter))[0]

    def text():
        nonlocal at
        length = take("Q")
        at += length
        return data[at - length:at].decode()

    for _ in range(struct.unpack_from("<Q", data, 16)[0]):
        key, kind = text(), take("I")
        if kind == seed_models.STRING:
            text()
        elif kind == seed_models.ARRAY:
            inner, count = take("I"), take("Q")
            for _ in range(count):
                text() if inner == seed_models.STRING else take("I")
        else:
            letter = "f" if kind == seed_models.F32 else "I"
            yield key, at, letter
            take(letter)


def gguf_cases():
    for number, data in enumerate(seed_models.gguf_files()):
        for key, at, letter in numbers_of(data):
            for n, extreme in enumerate(REALS if letter == "f" else (*INTS, 1, 3, 2**20)):
                packed = struct.pack("<f", extreme) if letter == "f" else struct.pack("<I", extreme % 2**32)
                yield f"gguf{number}-{key}-{n}", {"model.gguf": data[:at] + packed + data[at + 4:]}


def sweep_model(job):
    label, files, options = job
    with tempfile.TemporaryDirectory() as folder:
        model = os.path.join(folder, "model")
        for name, content in files.items():
            path = os.path.join(model, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as out:
                out.write(content)
        named = os.path.join(model, "model.gguf") if "model.gguf" in files else model
        run = compiled(label, named, os.path.join(folder, "model.aicf"), options)
        if run[1] and options.keep:
            shutil.copytree(model, os.path.join(options.keep, label), dirs_exist_ok=True)
    return [run]


def main():
    options = parser_of(__doc__).parse_args()
    jobs = [(label, files, options) for label, files in (*folder_cases(), *gguf_cases())
            if re.search(options.kind, label)]
    return sweep(sweep_model, jobs, "language models", options)


if __name__ == "__main__":
    sys.exit(main())
