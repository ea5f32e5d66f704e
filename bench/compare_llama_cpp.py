#!/usr/bin/env python3
"""aicf beside llama.cpp on one GGUF model: the same file, machine, threads and run.

Speed: tokens per second of a prompt (pp) and of a text (tg) in alternating rounds, so that a busy machine disturbs
both alike; medians, and the ratio (above 1: aicf is faster). Quality, with --prompts: on how many of the prompts two
programs continue greedily with the same tokens, and the mean Kullback-Leibler divergence of next-token distributions
along the first one's continuations. llama.cpp rounds activations to 8 bits, which moves the distributions by itself;
so the first is also llama.cpp with the same weights decoded to f32, where nothing is rounded, and llama.cpp as it is
is compared with that, too.

  bench/compare_llama_cpp.py smollm2.gguf [--threads 2] [-p 512] [-n 128] [--rounds 5] [--prompts FILE]

Needs llama-cpp-python and numpy from PyPI, a release build of aicf, and for --prompts the Python package of aicf
(PYTHONPATH=build/release/python).
"""
import argparse
import collections
import json
import pathlib
import statistics
import subprocess
import tempfile

import numpy as np
from gguf_f32 import write_f32
from llama_peer import Llama

ROOT = pathlib.Path(__file__).resolve().parent.parent
GREEDY_TOKENS = 32


def compile_model(args, out, *flags):
    subprocess.run([args.bin / "aicf-compile", args.model, "-o", out, "--force", f"--context={args.context}", *flags],
                   check=True, stdout=subprocess.DEVNULL)


def aicf_rate(args, artifact, prompt, text):
    command = [args.bin / "aicf-run", artifact, "--bench-llm", "-p", str(prompt), "-n", str(text), "-r", "1",
               f"--threads={args.threads}", "--json"]
    answer = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    row, = answer["tests"]
    return row["avg_ts"]


def compare_speed(args, folder):
    """Rounds of all programs in turn; a row for each of aicf's math modes."""
    llama = Llama(args.model, args.threads, args.context)
    artifacts = {math: folder / f"{math}.aicf" for math in ("fp32", "int8")}
    for math, artifact in artifacts.items():
        compile_model(args, artifact, f"--math={math}")
    tokens = [100 + i % 1000 for i in range(max(args.p, args.n))]
    rates = collections.defaultdict(list)
    for _ in range(args.rounds):
        for math, artifact in artifacts.items():
            rates["pp", math].append(aicf_rate(args, artifact, args.p, 0))
            rates["tg", math].append(aicf_rate(args, artifact, 0, args.n))
        rates["pp", "peer"].append(llama.prompt_rate(tokens[:args.p]))
        rates["tg", "peer"].append(llama.text_rate(tokens[:args.n]))
    print("| test | aicf's math | aicf tokens/s | llama.cpp tokens/s | ratio |\n|---|---|--:|--:|--:|")
    for name, count in (("pp", args.p), ("tg", args.n)):
        theirs = statistics.median(rates[name, "peer"])
        for math in artifacts:
            ours = statistics.median(rates[name, math])
            print(f"| {name}{count} | {math} | {ours:.1f} | {theirs:.1f} | {ours / theirs:.2f} |")


class Aicf:
    """Logits after any tokens, one decode each."""

    def __init__(self, artifact, threads):
        import aicf

        self._session = aicf.load(artifact).session(threads=threads)
        self._session.select_entry("decode_1")
        metas = {t.name: t for t in self._session.metas}
        self._pages = metas["pages"].shape[1]
        self._page = next(s for s in self._session.states if s.name == "keys.0").shape[1]

    def reset(self):
        self._session.reset_states()
        self._at = 0

    def decode(self, token):
        one = dict(tokens=[[token]], slots=[0], origins=[self._at], lengths=[self._at + 1],
                   pages=np.arange(self._pages, dtype=np.int32)[None],
                   places=[[divmod(self._at, self._page)]], temperature=[0.0], top_k=[0], top_p=[1.0],
                   min_p=[0.0], seeds=[0])
        types = dict(temperature=np.float32, top_p=np.float32, min_p=np.float32, seeds=np.int64)
        self._at += 1
        out = self._session.run({n: np.asarray(v, types.get(n, np.int32)) for n, v in one.items()})
        return out["logits"][0].astype(np.float64)


def log_softmax(x):
    x = x - x.max()
    return x - np.log(np.exp(x).sum())


def divergence(theirs, ours):
    p, q = log_softmax(theirs), log_softmax(ours)
    return float((np.exp(p) * (p - q)).sum())


def greedy(decode, prompt):
    """The continuation and the logits that it was drawn from."""
    for token in prompt:
        logits = decode(token)
    tokens, all_logits = [], []
    for _ in range(GREEDY_TOKENS):
        all_logits.append(logits)
        tokens.append(int(logits.argmax()))
        logits = decode(tokens[-1])
    return tokens, all_logits


class Peer:
    """llama.cpp, attention and cache in f32; the same interface as Aicf."""

    def __init__(self, model, args):
        self._llama = Llama(model, args.threads, args.context, exact=True)
        self.reset = self._llama.reset

    def decode(self, token):
        self._llama.decode([token])
        return self._llama.logits()


def compare_quality(first, second, prompts):
    """Agreeing prompts, mean and largest divergence."""
    same, divergences = 0, []
    for prompt in prompts:
        first.reset()
        expected, expected_logits = greedy(first.decode, prompt)
        second.reset()
        same += greedy(second.decode, prompt)[0] == expected
        second.reset()
        logits = [second.decode(token) for token in prompt][-1]
        for token, wanted in zip(expected, expected_logits):
            divergences.append(divergence(wanted, logits))
            logits = second.decode(token)
    return same, statistics.mean(divergences), max(divergences)


def print_quality(args, folder):
    texts = [line for line in args.prompts.read_text().splitlines() if line]
    programs = {}
    for math in ("int8", "fp32"):
        artifact = folder / f"{math}.aicf"
        compile_model(args, artifact, "--logits", "--decode=1", "--prefill=128", f"--math={math}")
        programs[f"aicf --math={math}"] = Aicf(str(artifact), args.threads)
    prompts = encode(args, artifact, texts)
    write_f32(args.model, folder / "f32.gguf")
    programs["llama.cpp"] = Peer(args.model, args)
    programs["llama.cpp, weights in f32"] = Peer(folder / "f32.gguf", args)
    print(f"\n| first | second | the same {GREEDY_TOKENS} tokens, of {len(prompts)} | mean divergence | largest |"
          "\n|---|---|--:|--:|--:|")
    for first, second in (("llama.cpp, weights in f32", "aicf --math=fp32"),
                          ("llama.cpp, weights in f32", "aicf --math=int8"),
                          ("llama.cpp, weights in f32", "llama.cpp"), ("llama.cpp", "aicf --math=int8")):
        same, mean, largest = compare_quality(programs[first], programs[second], prompts)
        print(f"| {first} | {second} | {same} | {mean:.2e} | {largest:.2e} |", flush=True)


def encode(args, artifact, texts):
    """Token ids of texts, by aicf's tokenizer."""
    prompts = []
    for text in texts:
        out = subprocess.run([args.bin / "aicf-run", artifact, f"--prompt={text}", "-n", "1", "--show-tokens", "--json"],
                             check=True, capture_output=True, text=True).stdout
        prompts.append(json.loads(out)["prompt_tokens"])
    return prompts


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=pathlib.Path)
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build/release/bin")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("-p", type=int, default=512)
    parser.add_argument("-n", type=int, default=128)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--context", type=int, default=2048)
    parser.add_argument("--prompts", type=pathlib.Path, help="a text file, a prompt on each line")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if args.rounds > 0:
            print(f"{args.model.name}, {args.threads} threads\n")
            compare_speed(args, pathlib.Path(folder))
        if args.prompts:
            print_quality(args, pathlib.Path(folder))


if __name__ == "__main__":
    main()
