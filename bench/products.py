#!/usr/bin/env python3
"""16-bit products with their epilogues on a GPU: aicf beside cuBLASLt and PyTorch, same machine, same run.

Each line of bench/products/shapes.txt becomes a bfloat16 ONNX model of several such products, one after the other,
each with its own input and weights: as many as move 50 MB and more, at most 16, so that weights come from memory as
they do in a network. Measured are replays of aicf's CUDA graph, of CUDA graphs of PyTorch's operators (eager, with
--torch-compile also compiled), and of the first 8 algorithms that cuBLASLt's heuristic names, divided by the number
of products. Where cuBLASLt cannot fuse the whole epilogue, PyTorch's elementwise kernel applies the rest after it
(with --torch-compile a compiled one). A time is the median of replays one after the other on a busy device; "best"
is the fastest of the peers, and the ratio is best / aicf: above 1, aicf is faster. Outputs of all are compared with
products in float32 of the same inputs.

  bench/products.py [--bin build/release/bin] [--only NAME,...] [--torch-compile] [--tune SECONDS --timing-cache F]
                    [--json F]

Needs torch, numpy and onnx, and a GPU.
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

import numpy as np
import onnx
import torch

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "bench" / "products"))
import cublaslt  # noqa: E402
import shapes  # noqa: E402

TOLERANCE = 1e-2  # relative L2 of a result in bfloat16
WARM_UP = 0.08  # seconds


def copies_of(shape):
    return min(16, max(2, math.ceil(50e6 / shape.bytes)))


def make_tensors(shape):
    """The operands of each copy by their names; bias and residual are the same in all."""
    generator = torch.Generator().manual_seed(1)

    def draw(*dims, scale=1.0):
        return ((torch.rand(*dims, generator=generator) * 2 - 1) * scale).to(torch.bfloat16)

    shared = {}
    if "bias" in shape.epilogue:
        shared["bias"] = draw(shape.n)
    if "residual" in shape.epilogue:
        shared["residual"] = draw(*shape.dims(shape.m, shape.n))
    return [{"a": draw(*shape.dims(shape.m, shape.k)), "b": draw(*shape.weight_dims, scale=shape.k ** -0.5), **shared}
            for _ in range(copies_of(shape))]


def apply_words(words, x, tensors):
    for word in words:
        if word in ("bias", "residual"):
            x = x + tensors[word]
        elif word == "scale":
            x = x * shapes.SCALE
        elif word == "gelu_tanh":
            x = torch.nn.functional.gelu(x, approximate="tanh")
        else:
            x = {"gelu": torch.nn.functional.gelu, "silu": torch.nn.functional.silu, "relu": torch.relu}[word](x)
    return x


def weights_of(shape, tensors):
    return tensors["b"] if shape.weights == "kn" else tensors["b"].transpose(-1, -2)


def reference(shape, tensors):
    wide = {name: t.float() for name, t in tensors.items()}
    return apply_words(shape.epilogue, wide["a"] @ weights_of(shape, wide), wide)


def error(got, want):
    return ((got.float() - want).norm() / want.norm()).item()


def eager(shape, tensors):
    b = weights_of(shape, tensors)
    if shape.epilogue[:1] == ("bias",) and shape.batch == 1:
        rest = shape.epilogue[1:]
        return lambda: apply_words(rest, torch.addmm(tensors["bias"], tensors["a"], b), tensors)
    return lambda: apply_words(shape.epilogue, tensors["a"] @ b, tensors)


def median_us(run, seconds):
    """Median time of a CUDA graph of `run`, replayed one after the other on a device that has been as busy before as
    aicf-run's: its clock falls within some ten milliseconds."""
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for _ in range(3):
            run()
        stream.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=stream):
            run()
        times, until = [], time.time() + seconds
        while time.time() < until or len(times) < 100:
            events = [torch.cuda.Event(enable_timing=True) for _ in range(51)]
            for e in events:
                graph.replay()
                e.record()
            stream.synchronize()
            times += [1e3 * a.elapsed_time(b) for a, b in zip(events, events[1:])]
    return statistics.median(times[-max(len(times) // 3, 50):])


def library_contenders(shape, copies, library, rest_of):
    """cuBLASLt's algorithms, each followed by what it does not fuse: functions that give every copy's result."""
    outs = [torch.empty(shape.dims(shape.m, shape.n), dtype=torch.bfloat16, device="cuda") for _ in copies]
    rest = tuple(w for w in shape.epilogue if w not in cublaslt.fused_words(shape.epilogue))
    after = rest_of(lambda x: apply_words(rest, x, copies[0])) if rest else lambda x: x
    algorithms = [library.algorithms(shape, tensors, out) for tensors, out in zip(copies, outs)]

    def all_copies(number):
        results = []
        for of_copy, out in zip(algorithms, outs):
            of_copy[number]()
            results.append(after(out))
        return results

    return [lambda n=n: all_copies(n) for n in range(min(map(len, algorithms)))]


def torch_contender(shape, copies, rest_of):
    calls = [rest_of(eager(shape, tensors)) for tensors in copies]
    return [lambda: [call() for call in calls]]


def largest_error(results, wants):
    return max(error(got, want) for got, want in zip(results, wants, strict=True))


def measure_peers(args, shape, copies, library, wants):
    compiled = (lambda f: torch.compile(f, dynamic=False)) if args.torch_compile else (lambda f: f)
    contenders = {"torch": torch_contender(shape, copies, lambda f: f),
                  "cublaslt": library_contenders(shape, copies, library, compiled)}
    if args.torch_compile:
        contenders["compiled"] = torch_contender(shape, copies, compiled)
    times = {}
    for name, runs in contenders.items():
        for run in runs:
            if not (wrong := largest_error(run(), wants)) < TOLERANCE:
                sys.exit(f"products.py: {shape.name}: {name} is wrong by {wrong:.2e}")
        fastest = sorted(runs, key=lambda run: median_us(run, 0.01))[:2]
        times[name] = min(median_us(run, WARM_UP + args.seconds) for run in fastest) / len(copies)
    return times


def save_inputs(folder, copies):
    def save(name, tensor):
        np.save(folder / f"{name}.npy", tensor.contiguous().view(torch.int16).numpy().view(np.uint16))

    for i, tensors in enumerate(copies):
        save(f"a{i}", tensors["a"])
    if "residual" in copies[0]:
        save("residual", copies[0]["residual"])


def compile_model(args, shape, folder):
    """Makes the model of a shape and its artifact, with the inputs beside."""
    folder.mkdir()
    copies = make_tensors(shape)
    bias = copies[0]["bias"].float().numpy() if "bias" in copies[0] else None
    onnx.save(shapes.make_model(shape, [tensors["b"].float().numpy() for tensors in copies], bias), folder / "m.onnx")
    save_inputs(folder, copies)
    tuning = [f"--tune={args.tune}", f"--timing-cache={args.timing_cache}"] if args.tune else []
    # One after the other: what a network has to do in that order would otherwise run side by side.
    subprocess.run([args.bin / "aicf-compile", folder / "m.onnx", "-o", folder / "m.aicf", "--target=cuda", "--math=bf16",
                    "--disable-pass=choose-streams", *tuning], check=True, stdout=subprocess.DEVNULL)
    (folder / "m.onnx").unlink()


def load_outputs(folder):
    listed = json.loads((folder / "outputs.json").read_text())
    listed = listed["outputs"] if isinstance(listed, dict) else listed
    for entry in listed:
        yield torch.from_numpy(np.load(folder / entry["file"]).view(np.int16)).view(torch.bfloat16).cuda()


def measure_aicf(args, shape, folder, wants):
    out = folder / "out"
    flags = [f"--load-inputs={f.stem}:{f}" for f in folder.glob("*.npy")]
    run = subprocess.run([args.bin / "aicf-run", folder / "m.aicf", *flags, f"--duration={args.seconds}",
                          f"--warm-up={1e3 * WARM_UP:g}", f"--export-output={out}", "--json"], check=True,
                         capture_output=True, text=True)
    if not (wrong := largest_error(list(load_outputs(out)), wants)) < TOLERANCE:
        sys.exit(f"products.py: {shape.name}: aicf is wrong by {wrong:.2e}")
    return 1e3 * json.loads(run.stdout)["gpu_compute_ms"]["median"] / len(wants)


def measure(args, shape, folder, library):
    copies = [{name: t.cuda() for name, t in tensors.items()} for tensors in make_tensors(shape)]
    wants = [reference(shape, tensors) for tensors in copies]
    row = {"name": shape.name, "m": shape.m, "n": shape.n, "k": shape.k, "batch": shape.batch,
           "epilogue": "+".join(shape.epilogue) or "none", "copies": len(copies)}
    row["aicf"] = measure_aicf(args, shape, folder, wants)
    row["peers"] = measure_peers(args, shape, copies, library, wants)
    row["ratio"] = min(row["peers"].values()) / row["aicf"]
    return row


def print_row(r, first):
    names = list(r["peers"])
    if first:
        print("| product | batch x m x n x k | epilogue | aicf us | " + " | ".join(names) + " | best / aicf |")
        print("|---" * (5 + len(names)) + "|")
    peers = " | ".join(f"{r['peers'][n]:.1f}" for n in names)
    print(f"| {r['name']} | {r['batch']} x {r['m']} x {r['n']} x {r['k']} | {r['epilogue']} | {r['aicf']:.1f} | "
          f"{peers} | {r['ratio']:.2f} |", flush=True)


def print_summary(rows):
    ratios = [r["ratio"] for r in rows]
    print(f"\ngeometric mean {math.exp(statistics.fmean(map(math.log, ratios))):.3f}, least {min(ratios):.2f}, "
          f"ahead in {sum(r > 1 for r in ratios)} of {len(ratios)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build" / "release" / "bin")
    parser.add_argument("--only", default="")
    parser.add_argument("--seconds", type=float, default=0.1, help="measured time of each contender")
    parser.add_argument("--torch-compile", action="store_true")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="models made and compiled at a time")
    parser.add_argument("--tune", type=float, default=0, help="seconds for each product's candidates; 0: predict")
    parser.add_argument("--timing-cache", type=pathlib.Path, default="products-cache.txt", help="what --tune fills")
    parser.add_argument("--json", type=pathlib.Path)
    args = parser.parse_args()
    if args.tune:
        args.jobs = 1  # nothing else may use the GPU
    if not torch.cuda.is_available():
        sys.exit("products.py: PyTorch finds no GPU here")
    chosen = [s for s in shapes.read_shapes() if not args.only or s.name in args.only.split(",")]
    library = cublaslt.Library(torch)
    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}, CUDA {torch.version.cuda}\n")
    with tempfile.TemporaryDirectory() as name:
        root = pathlib.Path(name)
        with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
            list(pool.map(lambda s: compile_model(args, s, root / s.name), chosen))
        rows = []
        for shape in chosen:
            rows.append(measure(args, shape, root / shape.name, library))
            print_row(rows[-1], len(rows) == 1)
    print_summary(rows)
    if args.json:
        args.json.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
