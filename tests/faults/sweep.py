"""Compiles hostile models in ONNX and holds every run to the contract of a tool that reads files from elsewhere.

    sweep.py --bin build/dev/bin [--target cpu] [--only REGEX] [--kind REGEX] [--sample N] [--keep DIR]

Each model (onnx_cases.py) is compiled by a process of its own, which has to keep the contract (contract.py). With a
compiler of the preset `asan` a report of a sanitizer is a failure too. --sample N takes N cases of them all, always
the same for a seed. Exit code 1 when a case breaks the contract; --planted shows that a broken contract is seen.
"""

import os
import random
import re
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import onnx_cases  # noqa: E402
from contract import compiled, parser_of, sweep  # noqa: E402


def arguments():
    parser = parser_of(__doc__)
    parser.add_argument("--only", default="", help="regular expression that an op's whole name matches")
    parser.add_argument("--sample", type=int, default=0, help="this many cases of them all; 0: every case")
    parser.add_argument("--newest", type=int, default=1, help="instances of each op's newest form, 1 to 3")
    parser.add_argument("--seed", type=int, default=20251125)
    return parser.parse_args()


def cases_of(name, options):
    """(name of the case, model) of the op's cases that --kind leaves."""
    for label, model in onnx_cases.cases_of(name, options.seed, onnx_cases.NEWEST[:options.newest]):
        if re.search(options.kind, label):
            yield label, model


def sweep_op(job):
    name, numbers, options = job
    runs = []
    with tempfile.TemporaryDirectory() as folder:
        path, output = os.path.join(folder, "model.onnx"), os.path.join(folder, "model.aicf")
        for number, (label, model) in enumerate(cases_of(name, options)):
            if numbers is not None and number not in numbers:
                continue
            with open(path, "wb") as file:
                file.write(model.SerializeToString())
            runs.append(compiled(label, path, output, options))
            if runs[-1][1] and options.keep:
                os.makedirs(options.keep, exist_ok=True)
                shutil.copy(path, os.path.join(options.keep, label + ".onnx"))
    return runs


def jobs_of(options):
    names = [n for n in onnx_cases.ops() if re.fullmatch(options.only or ".*", n)]
    if not options.sample:
        return [(name, None, options) for name in names]
    every = [(name, i) for name in names for i, _ in enumerate(cases_of(name, options))]
    chosen = {}
    for name, i in random.Random(options.seed).sample(every, min(options.sample, len(every))):
        chosen.setdefault(name, set()).add(i)
    return [(name, numbers, options) for name, numbers in chosen.items()]


def main():
    options = arguments()
    return sweep(sweep_op, jobs_of(options), f"models, seed {options.seed}", options)


if __name__ == "__main__":
    sys.exit(main())
