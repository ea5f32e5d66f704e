#!/usr/bin/env python3
"""Attention without a cache in bf16: aicf's chosen kernel beside PyTorch's flash and cuDNN kernels, same run.

  bench/attention.py [--bin build/release/bin] [--sizes 64,128] [--tokens 128,...,16384] [--jobs 16] [--json F]

For each head size, number of tokens and mask (none, causal) it makes an ONNX model of one Attention node, 16384
tokens in all and heads of 2048 numbers together, compiles it with aicf-compile's own choice, and measures replays
of a CUDA graph with that one launch, in turn with graphs of PyTorch's scaled_dot_product_attention by its flash
kernel and by cuDNN's: the median of three rounds' medians, time on the GPU by events between replays one after the
other. Results of all three are compared with the same attention in float32. A ratio above 1: aicf is faster.

Needs torch, numpy and onnx, and a Hopper GPU. Exit code 1 when a result is wrong.
"""
import argparse
import concurrent.futures
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
TOKENS, WIDTH, ROUNDS = 16384, 2048, 3
WARM_UP = 0.08  # seconds
TOLERANCE = 1e-2  # relative L2 of a result in bfloat16


class Case:
    def __init__(self, size, tokens, causal):
        self.size, self.tokens, self.causal = size, tokens, causal
        self.dims = (TOKENS // tokens, WIDTH // size, tokens, size)
        self.name = f"{size}_{tokens}_{'causal' if causal else 'full'}"


def write_model(case, path):
    import onnx
    from onnx import TensorProto, helper
    info = [helper.make_tensor_value_info(n, TensorProto.BFLOAT16, case.dims) for n in "qkvo"]
    node = helper.make_node("Attention", ["q", "k", "v"], ["o"], is_causal=int(case.causal))
    graph = helper.make_graph([node], "attention", info[:3], info[3:])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23)], ir_version=10), path)


def compile_case(args, case, folder):
    write_model(case, folder / f"{case.name}.onnx")
    subprocess.run([args.bin / "aicf-compile", folder / f"{case.name}.onnx", "-o", folder / f"{case.name}.aicf",
                    "--target=cuda", "--math=bf16"], check=True, stdout=subprocess.DEVNULL)


def draw(case, folder):
    """q, k and v on the GPU, and as the files that aicf-run loads."""
    import numpy as np
    import torch
    tensors = {}
    for seed, name in enumerate("qkv"):
        made = torch.randn(case.dims, generator=torch.Generator("cuda").manual_seed(seed), device="cuda")
        tensors[name] = made.to(torch.bfloat16)
        np.save(folder / f"{name}.npy", tensors[name].view(torch.int16).cpu().numpy().view(np.uint16))
    return tensors


def wanted(case, tensors):
    """The same in float32, a batch and eight heads at a time, since it stores the scores."""
    import torch
    torch.backends.cuda.matmul.allow_tf32 = False
    out = torch.empty(case.dims, device="cuda")
    hidden = torch.ones(case.tokens, case.tokens, dtype=torch.bool, device="cuda").triu(1) if case.causal else None
    for batch in range(case.dims[0]):
        for head in range(0, case.dims[1], 8):
            q, k, v = (tensors[n][batch, head:head + 8].float() for n in "qkv")
            scores = q @ k.transpose(-1, -2) / math.sqrt(case.size)
            if hidden is not None:
                scores.masked_fill_(hidden, -math.inf)
            out[batch, head:head + 8] = scores.softmax(-1) @ v
    return out


def error(got, want):
    return ((got.float() - want).norm() / want.norm()).item()


def peer_call(case, tensors, backend):
    import torch
    from torch.nn.attention import sdpa_kernel

    def call():
        with sdpa_kernel(backend):
            return torch.nn.functional.scaled_dot_product_attention(*tensors.values(), is_causal=case.causal)
    return call


class Graph:
    """A captured call; us() is the median of its replays."""

    def __init__(self, call):
        import torch
        self.torch, self.stream = torch, torch.cuda.Stream()
        with torch.cuda.stream(self.stream):
            self.result = call()
            self.stream.synchronize()
            self.graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(self.graph, stream=self.stream):
                self.result = call()

    def us(self, seconds):
        """One replay after the other, as aicf-run's gpu_compute_ms, on a device that has been as busy before: its
        clock falls within some ten milliseconds."""
        times, until = [], time.time() + WARM_UP + seconds
        with self.torch.cuda.stream(self.stream):
            while time.time() < until or len(times) < 100:
                events = [self.torch.cuda.Event(enable_timing=True) for _ in range(21)]
                for event in events:
                    self.graph.replay()
                    event.record()
                self.stream.synchronize()
                times += [begin.elapsed_time(end) * 1e3 for begin, end in zip(events, events[1:])]
        return statistics.median(times[-max(len(times) // 3, 50):])


def run_aicf(args, case, folder, extra=()):
    command = [args.bin / "aicf-run", folder / f"{case.name}.aicf", "--device=cuda:0", "--json", f"--warm-up={1e3 * WARM_UP:g}",
               f"--duration={args.seconds}", *extra, *(f"--load-inputs={n}:{folder / n}.npy" for n in "qkv")]
    done = subprocess.run([str(c) for c in command], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)["gpu_compute_ms"]["median"] * 1e3


def load_output(case, folder):
    import numpy as np
    import torch
    listed = json.loads((folder / "outputs.json").read_text())
    listed = listed["outputs"] if isinstance(listed, dict) else listed
    bits = np.load(folder / listed[0]["file"]).reshape(case.dims)
    return torch.from_numpy(bits.view(np.int16)).view(torch.bfloat16).cuda()


def measure(args, case, folder):
    import torch
    from torch.nn.attention import SDPBackend
    tensors = draw(case, folder)
    want = wanted(case, tensors)
    graphs = {"flash": Graph(peer_call(case, tensors, SDPBackend.FLASH_ATTENTION)),
              "cudnn": Graph(peer_call(case, tensors, SDPBackend.CUDNN_ATTENTION))}
    out = folder / f"{case.name}.out"
    run_aicf(args, case, folder, [f"--export-output={out}"])
    times = {"aicf": [], "flash": [], "cudnn": []}
    for _ in range(ROUNDS):
        times["aicf"].append(run_aicf(args, case, folder))
        for name, graph in graphs.items():
            times[name].append(graph.us(args.seconds))
    errors = {"aicf": error(load_output(case, out), want)}
    errors.update({name: error(graph.result, want) for name, graph in graphs.items()})
    return {"size": case.size, "tokens": case.tokens, "causal": case.causal, "errors": errors,
            "us": {name: statistics.median(values) for name, values in times.items()}}


def print_row(row, first):
    if first:
        print("| size | tokens | mask | aicf us | TFLOP/s | flash us | cuDNN us | over flash | over cuDNN | error, of cuDNN |")
        print("|--:|--:|---|--:|--:|--:|--:|--:|--:|--:|")
    us = row["us"]
    flops = 4 * TOKENS * row["tokens"] * WIDTH / (2 if row["causal"] else 1)
    print(f"| {row['size']} | {row['tokens']} | {'causal' if row['causal'] else 'full'} | {us['aicf']:.1f} | "
          f"{flops / us['aicf'] * 1e-6:.0f} | {us['flash']:.1f} | {us['cudnn']:.1f} | {us['flash'] / us['aicf']:.2f} | "
          f"{us['cudnn'] / us['aicf']:.2f} | {row['errors']['aicf']:.1e}, {row['errors']['cudnn']:.1e} |", flush=True)


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    numbers = lambda text: [int(n) for n in text.split(",")]
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build" / "release" / "bin")
    parser.add_argument("--sizes", type=numbers, default=[64, 128])
    parser.add_argument("--tokens", type=numbers, default=[128 << i for i in range(8)])
    parser.add_argument("--seconds", type=float, default=0.1, help="measured time of each contender and round")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="models compiled at a time")
    parser.add_argument("--json", type=pathlib.Path)
    return parser.parse_args()


def main():
    args = parse()
    import torch
    if not torch.cuda.is_available():
        sys.exit("attention.py: PyTorch finds no GPU here")
    cases = [Case(size, tokens, causal) for size in args.sizes for causal in (False, True) for tokens in args.tokens]
    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}, cuDNN {torch.backends.cudnn.version()}\n")
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
            list(pool.map(lambda case: compile_case(args, case, folder), cases))
        for case in cases:
            rows.append(measure(args, case, folder))
            print_row(rows[-1], len(rows) == 1)
    if args.json:
        args.json.write_text(json.dumps(rows, indent=1))
    wrong = [r for r in rows if not r["errors"]["aicf"] < TOLERANCE]
    for row in wrong:
        print(f"wrong: {row}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
