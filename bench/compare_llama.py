#!/usr/bin/env python3
"""aicf beside torch.compile on one GPU: language models in the shapes of known ones, with random bf16 weights.

    bench/compare_llama.py --bin BIN --out DIR [--models llama3.2-1b,llama3-8b] [--batch 1,32] [--context 1024]
                           [--prompt 2048] [--quantised] [--no-peer] [--flags "..."] [--markdown FILE]

For each model: the time of a token behind --context others, for --batch requests at once, on both sides with
everything that the host does; the share of the device's read bandwidth that it comes to, counting weights and cache;
a prompt's tokens per second and TFLOP/s, and the share of a square product's. With --quantised also a GGUF file
of the shape in Q4_K (the table in Q6_K; rows have to be whole blocks of 256) at batch 1 and, with --prompt, a prompt,
beside aicf's own bf16 speed. The peer is bench/torch_llama.py.

DIR holds models and artifacts, 2 to 34 GB for each, of which only those of the current model stay; a folder in
memory (/dev/shm) is the fastest. It keeps results.json and results.md. Needs torch, numpy and NVRTC.
"""
import argparse
import json
import pathlib
import shlex
import shutil
import subprocess
import sys
import time

from llama_shapes import SHAPES, write_folder, write_gguf

HERE = pathlib.Path(__file__).resolve().parent
TEXT = 128  # tokens drawn in one measurement
CEILINGS = """
import time, torch
def best(call, rounds=20):
    times = []
    for _ in range(rounds):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record(); call(); end.record(); torch.cuda.synchronize(); times.append(begin.elapsed_time(end) * 1e3)
    return sorted(times)[rounds // 2]
x = torch.ones(1 << 30, device="cuda")
a, b = (torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16) for _ in range(2))
print(4 * x.numel() / best(lambda: x.sum()) / 1e3, 2 * 8192 ** 3 / best(lambda: a @ b) / 1e6)
"""


def run(command, timeout=None):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=timeout)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))}\n{(done.stdout + done.stderr)[-2000:]}")
    return done.stdout


def compile_model(args, model, out, flags):
    start = time.time()
    context = max(args.context + TEXT, args.prompt) + 64
    requests = max(int(batch) for batch in args.batch.split(",")) if args.batch else 1
    run([args.bin / "aicf-compile", model, "-o", out, "--force", "--target=cuda", "--cache-precision=bf16",
         f"--context={context}", f"--cache={requests * context}", *flags, *shlex.split(args.flags)])
    return time.time() - start


def bench(args, artifact, batch, prompt, context):
    """Mean us of one decode step behind `context` tokens, or of one prompt."""
    what = ["-p", prompt, "-n", 0] if prompt else ["-p", 0, "-n", TEXT, "-d", context, "--batch", batch]
    answer = json.loads(run([args.bin / "aicf-run", artifact, "--bench-llm", *what, "-r", 3, "--json"]))
    row, = answer["tests"]
    tokens = prompt or batch
    return tokens / row["avg_ts"] * 1e6


def peer(args, name):
    out = run([sys.executable, HERE / "torch_llama.py", name, "--batch", args.batch, "--context", args.context,
               "--prompt", args.prompt])
    rows = [json.loads(line) for line in out.splitlines() if line.startswith("{")]
    return {("prefill" if "prefill" in row else f"decode{row['decode']}"): row["us"] for row in rows}


def cache_bytes(shape, batch, context):
    return 2 * 2 * batch * context * shape.layers * shape.key_heads * shape.head_size


def prompt_flops(shape, prompt):
    """Products of all positions, the last matrix for one, and causal attention."""
    matrices = sum(rows * columns for _, _, (rows, columns) in shape.matrices())
    attention = 2 * prompt * prompt * shape.layers * shape.heads * shape.head_size
    return 2 * prompt * matrices + 2 * shape.vocabulary * shape.hidden + attention


def measure(args, name):
    """Rows of one model: what, us, peer's us, and shares of the ceilings."""
    shape, work = SHAPES[name], args.out / "work"
    shutil.rmtree(work, ignore_errors=True)
    folder = write_folder(shape, work / "model")
    batches = [int(b) for b in args.batch.split(",") if b]
    artifact = work / "model.aicf"
    seconds = compile_model(args, folder, artifact, ["--precision=bf16", f"--decode={args.batch or 1}",
                                                     f"--prefill={max(args.prompt, 512)}"])
    shutil.rmtree(folder)
    print(f"{name}: compiled in {seconds:.0f} s", flush=True)
    theirs = {} if args.no_peer else peer(args, name)
    rows = []
    for batch in batches:
        us = bench(args, artifact, batch, 0, args.context)
        # On average half of the text's own tokens are behind it too.
        read = shape.read_bytes() + cache_bytes(shape, batch, args.context + TEXT // 2)
        rows.append({"model": name, "what": f"token, batch {batch}", "us": us, "peer": theirs.get(f"decode{batch}"),
                     "GBps": read / us / 1e3})
        print(rows[-1], flush=True)
    if args.prompt:
        us = bench(args, artifact, 1, args.prompt, 0)
        rows.append({"model": name, "what": f"prompt of {args.prompt}", "us": us, "peer": theirs.get("prefill"),
                     "TFLOPs": prompt_flops(shape, args.prompt) / us / 1e6})
        print(rows[-1], flush=True)
    if args.quantised and batches and shape.hidden % 256:
        print(f"{name}: no Q4_K, whose blocks of 256 do not divide rows of {shape.hidden}", flush=True)
    elif args.quantised and batches:
        artifact.unlink()
        model = write_gguf(shape, work / "model.gguf")
        compile_model(args, model, artifact, ["--precision=bf16", "--decode=1", f"--prefill={max(args.prompt, 512)}"])
        model.unlink()
        bf16 = {row["what"]: row["us"] for row in rows}
        for what, prompt in [("token, batch 1", 0), (f"prompt of {args.prompt}", args.prompt)][:2 if args.prompt else 1]:
            us = bench(args, artifact, 1, prompt, 0 if prompt else args.context)
            row = {"model": name, "what": f"{what}, Q4_K", "us": us, "peer": None}
            rows.append(row | ({"of_bf16": bf16[what] / us} if what in bf16 else {}))
            print(rows[-1], flush=True)
    shutil.rmtree(work)
    return rows


def markdown(rows, read_gbps, product_tflops):
    lines = [f"Read bandwidth (a sum over 4 GB): {read_gbps:.0f} GB/s; bf16 product of 8192 cubed: "
             f"{product_tflops:.0f} TFLOP/s.", "",
             "| model | | torch.compile us | aicf us | ratio | share of the ceiling |", "|---|---|--:|--:|--:|--:|"]
    for row in rows:
        theirs = f"{row['peer']:.0f}" if row["peer"] else ""
        ratio = f"{row['peer'] / row['us']:.2f}" if row["peer"] else ""
        share = (f"{row['GBps'] / read_gbps:.0%}" if "GBps" in row else
                 f"{row['TFLOPs'] / product_tflops:.0%}" if "TFLOPs" in row else
                 f"{row['of_bf16']:.2f} x bf16's speed")
        lines.append(f"| {row['model']} | {row['what']} | {theirs} | {row['us']:.0f} | {ratio} | {share} |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--models", default="smollm2-135m,llama3.2-1b,llama3-8b")
    parser.add_argument("--batch", default="1,32", help="requests at once; empty: no decode")
    parser.add_argument("--context", type=int, default=1024)
    parser.add_argument("--prompt", type=int, default=2048, help="0: no prefill")
    parser.add_argument("--quantised", action="store_true")
    parser.add_argument("--no-peer", action="store_true")
    parser.add_argument("--flags", default="", help="more flags for aicf-compile")
    parser.add_argument("--markdown", type=pathlib.Path)
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    read_gbps, product_tflops = map(float, run([sys.executable, "-c", CEILINGS]).split())
    rows = []
    for name in args.models.split(","):
        rows += measure(args, name)
        (args.out / "results.json").write_text(json.dumps(rows, indent=1))
    text = markdown(rows, read_gbps, product_tflops)
    print(text)
    for file in filter(None, [args.out / "results.md", args.markdown]):
        file.write_text(text)


if __name__ == "__main__":
    main()
