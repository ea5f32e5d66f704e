#!/usr/bin/env python3
"""Language models as wide as real ones compile: every kernel that a fusion leaves a step to has room for its rows.

    widths.py --bin build/dev/bin [--jobs N]

One layer for each width, with few columns beside it, in blocks of 4 bits (bench/llama_shapes.py), for each target and math mode.
Nothing runs: what the steps compute is tested elsewhere on smaller models. Exit code 1 when a model does not compile.
"""
import argparse
import concurrent.futures
import itertools
import os
import subprocess
import sys
import tempfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(ROOT, "bench"))

from llama_shapes import Shape, write_gguf  # noqa: E402

HEAD = 128
WIDTHS = (2048, 4096, 8192)
TARGETS = ("cuda:sm_90a", "cuda:sm_86")
MATHS = ("fp32", "tf32", "bf16")


def model(folder, width):
    shape = Shape(hidden=width, layers=1, heads=width // HEAD, key_heads=8, head_size=HEAD, feed_forward=512,
                  vocabulary=256, tied=True)
    return write_gguf(shape, os.path.join(folder, f"{width}.gguf"))


def failure(bin_folder, path, target, math):
    """What the compiler says of a model that does not compile; empty for one that does."""
    out = f"{path}.{target.replace(':', '_')}.{math}.aicf"
    done = subprocess.run([os.path.join(bin_folder, "aicf-compile"), path, "-o", out, f"--target={target}", f"--math={math}",
                           "--no-images", "--context=256", "--cache=256"], capture_output=True, text=True)
    if os.path.exists(out):
        os.remove(out)
    said = (done.stderr.strip().splitlines() or [""])[-1]
    return "" if done.returncode == 0 else f"exit code {done.returncode}: {said}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--bin", required=True, help="folder of aicf-compile")
    parser.add_argument("--jobs", type=int, default=1)
    args = parser.parse_args()
    failed = 0
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        models = {width: model(folder, width) for width in WIDTHS}
        cases = list(itertools.product(WIDTHS, TARGETS, MATHS))
        said = pool.map(lambda case: failure(args.bin, models[case[0]], *case[1:]), cases)
        for (width, target, math), text in zip(cases, said):
            failed += text != ""
            print(f"{width} elements, {target}, {math}: {text or 'ok'}", flush=True)
    print(f"{len(cases)} compilations, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
