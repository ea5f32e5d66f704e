"""Files and command lines that attack the compiler, each with the exit code and the message that it has to give.

    run.py --bin build/dev/bin [--only REGEX] [--list] [--coverage] [--update] [--keep DIR]

A case belongs to a row of the catalogue of faults (its letter and number), is made anew in a folder of its own, and
has to end by itself within 10 s and 2 GiB, with exactly its exit code and one line on stderr, the one that
messages.json has for it, which also holds the case's own message; or none, where the exit code is 0. After a failure
neither an output nor a temporary file may lie there. Exit code 1 when a case ends otherwise, or when a row of groups
A to G or one of the findings of coverage.py has neither a case nor a test that is there.
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

import artifact_files  # noqa: E402
import command_lines  # noqa: E402, F401
import coverage  # noqa: E402
import external_data  # noqa: E402, F401
import gguf_files  # noqa: E402, F401
import messages  # noqa: E402
import onnx_models  # noqa: E402, F401
import safetensors_folders  # noqa: E402, F401
from case import CASES  # noqa: E402
from process import Run  # noqa: E402

SECONDS, MEBIBYTES, LONGEST_LINE = 10, 2048, 16_100
def wrong(case, run, folder, before, said, expected):
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
    if said != expected:
        found.append(f"says '{said}' instead of '{expected}'")
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
    parser.add_argument("--coverage", action="store_true", help="print what stands for each row and finding")
    parser.add_argument("--update", action="store_true", help="write the messages of these cases into messages.json")
    parser.add_argument("--keep", help="directory that keeps the files of cases that fail")
    options = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    names = [f"{c.row} {c.name}" for c in CASES]
    twice = {n for n in names if names.count(n) > 1}
    rows = coverage.table(names + artifact_files.names())
    failures, slowest, largest = len(twice), 0, 0
    for name in twice:
        print(f"FAIL two cases are called {name}")
    known, said = messages.load(), {}
    chosen = [] if options.coverage else [c for c in CASES if re.search(options.only, f"{c.row} {c.name}")]
    for case in chosen:
        if options.list:
            print(f"{case.row:4} {case.code:2} {case.name} | {case.message}")
            continue
        folder = tempfile.mkdtemp()
        arguments = case.make(folder)
        before = set(os.listdir(folder))
        run = Run([os.path.join(options.bin, "aicf-compile"), *arguments], SECONDS)
        slowest, largest = max(slowest, run.seconds), max(largest, run.kibibytes)
        key = f"{case.row} {case.name}"
        said[key] = messages.normal(run.err, folder)
        found = wrong(case, run, folder, before, said[key], said[key] if options.update else known.get(key))
        if found:
            failures += 1
            print(f"FAIL {case.row} {case.name}: {'; '.join(found)}: {(run.err or run.out).strip()[:400]}", flush=True)
            if options.keep:
                shutil.copytree(folder, os.path.join(options.keep, f"{case.row}-{case.name}".replace("/", "_")))
        shutil.rmtree(folder)
    if options.update:
        messages.update(said)
    for row, by, problem in rows:
        if problem:
            print(f"FAIL row {row}: {problem}")
        elif options.coverage:
            print(f"{row:5} {by}")
    failures += sum(bool(problem) for _, _, problem in rows)
    print(f"{len(chosen)} cases of {len({c.row for c in chosen})} rows, the slowest {slowest:.1f} s, "
          f"the largest {largest // 1024} MiB; {len(rows)} rows and findings are covered: {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
