"""Files and command lines that attack the compiler, each with the exit code and the message that it has to give.

    run.py --bin build/dev/bin [--only REGEX] [--list] [--keep DIR]

A case belongs to a row of the catalogue of faults (its letter and number), is made anew in a folder of its own, and
has to end by itself within 10 s and 2 GiB, with exactly its exit code and one line on stderr that holds its message;
or none, where the exit code is 0. After a failure neither an output nor a temporary file may lie there. Exit code 1
when a case ends otherwise, or when a row of groups A to D and G that concerns the compiler has no case.
"""

import argparse
import os
import re
import resource
import shutil
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]

import command_lines  # noqa: E402, F401
import external_data  # noqa: E402, F401
import gguf_files  # noqa: E402, F401
import onnx_models  # noqa: E402, F401
import safetensors_folders  # noqa: E402, F401
from case import CASES  # noqa: E402
from sweep import Run  # noqa: E402

SECONDS, MEBIBYTES, LONGEST_LINE = 10, 2048, 16_100
# Rows whose tests are elsewhere: they need a race, a closed stream or more than one file of text.
ELSEWHERE = {
    "B6": "compiler/import/external_data_test.cc: a file that is exchanged while it is opened",
    "B10": "compiler/import/external_data_test.cc: every tensor goes through one function",
    "B11": "compiler/import/external_data_test.cc: a model without a directory",
    "C14": "compiler/import/tokenizer: templates are recognised, never run",
    "G7": "tests/cli/output_test.cc: closed descriptors and readers that leave",
}
ROWS = [f"{g}{n}" for g, last in (("A", 23), ("B", 13), ("C", 14), ("D", 10), ("G", 9)) for n in range(1, last + 1)]


def wrong(case, run, folder, before):
    """What is not as it has to be."""
    lines = run.err.splitlines()
    if run.timed_out:
        return [f"took over {SECONDS} s"]
    found = []
    if run.exit_code != case.code:
        found.append(f"exit code {run.exit_code} instead of {case.code}")
    if len(lines) != (1 if case.code else 0):
        found.append(f"{len(lines)} lines on stderr")
    if max(map(len, lines), default=0) > LONGEST_LINE:
        found.append(f"a line of {max(map(len, lines))} characters")
    if case.message not in (run.err if case.code else run.out):
        found.append(f"not '{case.message}'")
    if re.search(r"[\x00-\x08\x0b-\x1f\x7f]", run.err + run.out):
        found.append("control bytes in its output")
    if run.kibibytes > MEBIBYTES * 1024:
        found.append(f"{run.kibibytes // 1024} MiB")
    left = [n for n in set(os.listdir(folder)) - before if case.code or n.endswith("tmp")]
    if left:
        found.append(f"it left {left}")
    after = case.after(folder) if case.after else None
    return found + ([after] if after else [])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--bin", required=True)
    parser.add_argument("--only", default="")
    parser.add_argument("--list", action="store_true", help="print row, name, exit code and message of each")
    parser.add_argument("--keep", help="directory that keeps the files of cases that fail")
    options = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    failures, slowest, largest = 0, 0, 0
    chosen = [c for c in CASES if re.search(options.only, f"{c.row} {c.name}")]
    for case in chosen:
        if options.list:
            print(f"{case.row:4} {case.code:2} {case.name} | {case.message}")
            continue
        folder = tempfile.mkdtemp()
        arguments = case.make(folder)
        before = set(os.listdir(folder))
        run = Run([os.path.join(options.bin, "aicf-compile"), *arguments], SECONDS)
        slowest, largest = max(slowest, run.seconds), max(largest, run.kibibytes)
        found = wrong(case, run, folder, before)
        if found:
            failures += 1
            print(f"FAIL {case.row} {case.name}: {'; '.join(found)}: {(run.err or run.out).strip()[:400]}", flush=True)
            if options.keep:
                shutil.copytree(folder, os.path.join(options.keep, f"{case.row}-{case.name}".replace("/", "_")))
        shutil.rmtree(folder)
    missing = [r for r in ROWS if r not in {c.row for c in CASES} and r not in ELSEWHERE]
    for row in missing:
        print(f"FAIL row {row} has no case")
    print(f"{len(chosen)} cases of {len({c.row for c in chosen})} rows, the slowest {slowest:.1f} s, "
          f"the largest {largest // 1024} MiB: {failures + len(missing)} failures")
    return 1 if failures or missing else 0


if __name__ == "__main__":
    sys.exit(main())
