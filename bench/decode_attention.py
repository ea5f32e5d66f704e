#!/usr/bin/env python3
"""Decode steps of attention over a paged cache on one GPU, beside a plain copy measured in the same run.

  bench/decode_attention.py [--bin build/release/bin] [--out DIR] [--group 1,4,8] [--cache MB,MB] [--all]

Steps of 8 key heads of 128 numbers in bf16, pages of 16 positions, 1, 4 or 8 query heads for each key head, 4 to 512
MB of keys and values in one request or many: microseconds, GB/s of keys and values, and that over the GB/s that the
fastest copy of 512 MB moves, reads and writes together. Launches follow each other without a graph, so that the
smallest steps wait for the host; a cache below the size of the device's own (50 MB on an H200) is read from there.
Rows that append are steps as decode entry points in 16 bits have them: they turn queries and write a new key and
value in place, and each is launched while the one before it runs, whatever it takes.
The measuring is a test of conformance_tests (tests/conformance/gpu_decode_timing_test.cc), which also compares the
variants' results; this prints the chosen variant of each step, the fastest of its kernel, and the one that would run
without that kernel. --all prints every variant. DIR gets the whole table as decode_attention.txt.

Exit code 1 when a result differs, or steps of 64 MB or more that do not append are slower than 70 % of the copy.
"""
import argparse
import itertools
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
TEST = "GpuTiming.DecodeReadsItsCacheAtTheSpeedOfACopy"


def cells(line):
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def shown(rows):
    """Of one step: the chosen variant, which is first, the fastest of its kernel, and another kernel's if one takes it."""
    kernel = rows[0][7].split("{")[0]
    own = [row for row in rows if row[7].startswith(kernel)]
    others = [row for row in rows if not row[7].startswith(kernel)]
    fastest = min(own, key=lambda row: float(row[3]))
    return [("chosen", own[0]), ("fastest", fastest)] + [("without", row) for row in others[-1:]]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build" / "release" / "bin")
    parser.add_argument("--out", type=pathlib.Path, help="folder for the whole table")
    parser.add_argument("--group", default="1,4,8", help="query heads of a key head to print")
    parser.add_argument("--cache", help="MB of the caches to measure, e.g. 64,128; default: all")
    parser.add_argument("--all", action="store_true", help="print every variant")
    args = parser.parse_args()
    asked = {"AICF_DECODE_MB": args.cache} if args.cache else {}
    done = subprocess.run([args.bin / "conformance_tests", f"--gtest_filter={TEST}"], capture_output=True, text=True,
                          env=os.environ | asked)
    if args.out:
        args.out.mkdir(parents=True, exist_ok=True)
        (args.out / "decode_attention.txt").write_text(done.stdout + done.stderr)
    lines = done.stdout.splitlines()
    table = [cells(line) for line in lines if line.startswith("| ") and line[2].isdigit()]
    if not table:
        sys.exit(f"decode_attention.py: nothing was measured\n{done.stdout}{done.stderr}")
    print(next(line for line in lines if "a copy of" in line) + "\n")
    print("| group | cache MB | requests x keys | us | GB/s | of the copy | predicted us | | variant |")
    print("|--:|--:|---|--:|--:|--:|--:|---|---|")
    groups = args.group.split(",")
    for (group, _, _), rows in itertools.groupby(table, key=lambda row: tuple(row[:3])):
        if group not in groups:
            continue
        rows = list(rows)
        for label, row in [("", row) for row in rows] if args.all else shown(rows):
            print(f"| {' | '.join(row[:7])} | {label} | {row[7]} |")
    print("\n".join(line for line in lines if "Failure" in line or "[  FAILED" in line))
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
