#!/usr/bin/env python3
"""What a GPU did while a program ran, kernel by kernel: where the time of a replay goes when its launches overlap.

    bench/timeline.py [--last 200] [--out FILE] COMMAND...
    bench/timeline.py --last 150 aicf-run M.aicf --bench-llm -p 0 -n 6 -d 1024 -r 1

`aicf-run --profile` times each step by itself, launched in full. Here the replay runs as it is: the column "step us" is
the time from the end of the one before to the own end, which in a chain of programmatic launches is what a step costs;
"us" begins with the first block, which may wait for the step before. The records are CUPTI's; they make a replay a few
percent longer, the pause between two replays several times.

Needs the CUDA toolkit with CUPTI (CUDA_HOME, by default /usr/local/cuda) and a C++ compiler.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent


def build(folder):
    cuda = pathlib.Path(os.environ.get("CUDA_HOME", "/usr/local/cuda"))
    if not (cuda / "include" / "cupti.h").exists():
        sys.exit(f"timeline.py: no CUPTI in {cuda}")
    library = pathlib.Path(folder) / "libtimeline.so"
    subprocess.run(["c++", "-std=c++20", "-O1", "-shared", "-fPIC", HERE / "timeline.cc", f"-I{cuda}/include",
                    f"-L{cuda}/lib64", f"-Wl,-rpath,{cuda}/lib64", "-lcupti", "-o", library], check=True)
    return library


def shown(lines):
    """The file's lines as rows of a table; instances of one kernel differ in a hash, which is left out."""
    before = None
    for line in lines:
        start, us, name, *launch = line.rstrip("\n").split("\t")
        end = float(start) + float(us)
        step = "" if before is None else f"{end - before:.2f}"
        before = end
        name = re.sub(r"_[0-9a-f]{32}$", "", name)
        yield [start, us, step, name, *launch, *[""] * (4 - len(launch))]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--last", type=int, default=200, help="activities to print")
    parser.add_argument("--out", type=pathlib.Path, help="a file for all of them")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    args = parser.parse_args()
    if not args.command:
        parser.error("a command is missing")
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "timeline.txt"
        environment = {**os.environ, "CUDA_INJECTION64_PATH": str(build(folder)), "AICF_TIMELINE": str(file)}
        done = subprocess.run(args.command, env=environment)
        if not file.exists():
            sys.exit("timeline.py: nothing was recorded: the command uses no GPU, or its driver lets nobody look")
        lines = file.read_text().splitlines()
    if args.out:
        args.out.write_text("\n".join(lines) + "\n")
    print("| start us | us | step us | kernel | blocks | threads | shared bytes | registers |\n|--:|--:|--:|---|--:|--:|--:|--:|")
    for row in list(shown(lines))[-args.last:]:
        print(f"| {' | '.join(row)} |")
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
