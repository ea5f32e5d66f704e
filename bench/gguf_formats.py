#!/usr/bin/env python3
"""aicf beside llama.cpp on a CPU, for every format of GGUF's matrices: the same file, machine, threads and run.

Random weights in the shape of a known model, all matrices in one format. Tokens per second of prompts (pp) and of a
text (tg) in alternating rounds; medians, and the ratio (above 1: aicf is faster). aicf is compiled as it comes.

  bench/gguf_formats.py [--shape llama3.2-1b] [--layers 4] [--vocabulary 32000] [--formats Q4_K,Q8_0] [--threads 2]
                        [-p 8,32,512] [-n 64] [--rounds 5]

Needs llama-cpp-python and numpy from PyPI, a release build of aicf, and room in memory for a model (--work: where).
"""
import argparse
import collections
import dataclasses
import pathlib
import statistics
import tempfile

import compare_llama_cpp
from llama_peer import Llama
from llama_shapes import FORMATS, SHAPES, write_gguf


def measure(args, folder):
    """Medians of tokens per second of both, by test."""
    artifact = folder / "model.aicf"
    compare_llama_cpp.compile_model(args, artifact)
    llama = Llama(args.model, args.threads, args.context)
    tokens = [100 + i % 1000 for i in range(max(*args.p, args.n))]
    rates = collections.defaultdict(lambda: ([], []))
    for _ in range(args.rounds):
        for prompt in args.p:
            ours, theirs = rates[f"pp{prompt}"]
            ours.append(compare_llama_cpp.aicf_rate(args, artifact, prompt, 0))
            theirs.append(llama.prompt_rate(tokens[:prompt]))
        ours, theirs = rates[f"tg{args.n}"]
        ours.append(compare_llama_cpp.aicf_rate(args, artifact, 0, args.n))
        theirs.append(llama.text_rate(tokens[:args.n]))
    return {test: (statistics.median(ours), statistics.median(theirs)) for test, (ours, theirs) in rates.items()}


def row(name, rates):
    cells = [f"{ours:.0f} / {theirs:.0f} | {ours / theirs:.2f}" for ours, theirs in rates.values()]
    return f"| {name} | {' | '.join(cells)} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shape", choices=SHAPES, default="llama3.2-1b")
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--vocabulary", type=int, default=32000)
    parser.add_argument("--formats", type=lambda text: text.split(","), default=list(FORMATS))
    parser.add_argument("--bin", type=pathlib.Path, default=compare_llama_cpp.ROOT / "build/release/bin")
    parser.add_argument("--work", type=pathlib.Path, default=pathlib.Path("/dev/shm"))
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--context", type=int, default=1024)
    parser.add_argument("-p", type=lambda text: [int(p) for p in text.split(",")], default=[8, 32, 512])
    parser.add_argument("-n", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    shape = dataclasses.replace(SHAPES[args.shape], layers=args.layers, vocabulary=args.vocabulary)
    tests = [f"pp{p}" for p in args.p] + [f"tg{args.n}"]
    print(f"{args.shape}, {args.layers} layers, vocabulary {args.vocabulary}, {args.threads} threads; tokens/s of aicf / "
          f"llama.cpp, and the ratio\n\n| format | {' | | '.join(tests)} | |\n|---|{'--:|--:|' * len(tests)}")
    for name in args.formats:
        with tempfile.TemporaryDirectory(dir=args.work) as folder:
            args.model = write_gguf(shape, pathlib.Path(folder) / "model.gguf", name, name)
            print(row(name, measure(args, pathlib.Path(folder))), flush=True)


if __name__ == "__main__":
    main()
