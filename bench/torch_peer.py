"""One model in PyTorch, for compare_torch.py, which starts this as a process per model:

    torch_peer.py NAME --dtype fp16|bf16|tf32 --out DIR [--max-autotune]

Everything slow (building, compiling, capturing) comes first, in parallel with the other models'; then it
prints a line {"ready": ...} and waits. For each line "measure" on stdin it measures, alone on the GPU, and prints
{"measured": ...}. DIR gets input_NAME.npy and reference_NAME.npy, the outputs in float32 without TF32.

Every form is replayed as one CUDA graph, so that no time of Python's is in it: eager's, and what
torch.compile generates (that of mode reduce-overhead is the default mode's, in a graph).
"""

import argparse
import json
import pathlib
import statistics
import sys
import time

import numpy as np
import torch

import torch_cases

WARM_UP_S = 0.2
REPLAYS = 300
DTYPES = {"fp16": torch.float16, "bf16": torch.bfloat16, "tf32": torch.float32}
MODES = {"reduce-overhead": None, "max-autotune": "max-autotune-no-cudagraphs"}


def allow_tf32(allowed):
    torch.backends.cuda.matmul.allow_tf32 = allowed
    torch.backends.cudnn.allow_tf32 = allowed


def captured(function, inputs):
    """A CUDA graph of the call and its outputs."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            function(*inputs)
    torch.cuda.current_stream().wait_stream(stream)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        outputs = function(*inputs)
    return graph, outputs


def measure(graph):
    """Medians in ms: from the call to the results (latency), and of the device's own time."""
    until = time.perf_counter() + WARM_UP_S
    while time.perf_counter() < until:
        graph.replay()
        torch.cuda.synchronize()
    walls = []
    for _ in range(REPLAYS):
        start = time.perf_counter()
        graph.replay()
        torch.cuda.synchronize()
        walls.append((time.perf_counter() - start) * 1e3)
    marks = [torch.cuda.Event(enable_timing=True) for _ in range(REPLAYS + 1)]
    marks[0].record()
    for mark in marks[1:]:
        graph.replay()
        mark.record()
    torch.cuda.synchronize()
    device = [a.elapsed_time(b) for a, b in zip(marks, marks[1:])]
    return {"latency_ms": statistics.median(walls), "gpu_ms": statistics.median(device)}


def errors(made, wanted):
    """Largest and root mean square error, each relative to that of the reference; worst output."""
    largest = rms = 0.0
    for a, b in zip(made, wanted):
        a, b = a.double(), b.double()
        difference = a - b
        largest = max(largest, (difference.abs().max() / b.abs().max()).item())
        rms = max(rms, (difference.square().mean() / b.square().mean()).sqrt().item())
        if not torch.isfinite(a).all():
            largest = rms = float("inf")
    return {"max": largest, "rms": rms}


class Peer:
    def __init__(self, args):
        torch.backends.cudnn.benchmark = True
        allow_tf32(False)
        torch.set_num_threads(2)
        self.case = torch_cases.make(args.name)
        self.module = self.case.module.cuda()
        inputs = [t.cuda() for t in self.case.inputs.values()]
        with torch.no_grad():
            self.wanted = [t.clone() for t in self.module(*inputs)]
        self.save(pathlib.Path(args.out))
        allow_tf32(args.dtype == "tf32")
        self.inputs = [self.lowered(t, DTYPES[args.dtype]) for t in inputs]
        self.module = self.module.to(DTYPES[args.dtype])
        if any(t.dim() == 4 for t in inputs):
            self.module = self.module.to(memory_format=torch.channels_last)
        self.graphs, self.failures = {}, {}

    @staticmethod
    def lowered(tensor, dtype):
        if tensor.is_floating_point():
            tensor = tensor.to(dtype)
        return tensor.contiguous(memory_format=torch.channels_last) if tensor.dim() == 4 else tensor

    def save(self, out):
        out.mkdir(parents=True, exist_ok=True)
        for name, tensor in self.case.inputs.items():
            np.save(out / f"input_{name}.npy", tensor.numpy())
        for name, tensor in zip(self.case.outputs, self.wanted):
            np.save(out / f"reference_{name}.npy", tensor.cpu().numpy())

    def prepare(self, form):
        """Captures a form's graph; what fails is reported and leaves the other forms."""
        try:
            function = self.module
            if form != "eager":
                torch._dynamo.reset()
                function = torch.compile(self.module, mode=MODES[form])
            with torch.no_grad():
                self.graphs[form] = captured(function, self.inputs)
        except Exception as error:
            self.failures[form] = f"{type(error).__name__}: {error}".strip().splitlines()[0][:300]

    def measured(self):
        rows = {}
        for form, (graph, outputs) in self.graphs.items():
            rows[form] = measure(graph)
            rows[form]["error"] = errors(outputs, self.wanted)
        return {"forms": rows, "failures": self.failures}


def say(what):
    print(json.dumps(what), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name")
    parser.add_argument("--dtype", choices=DTYPES, default="fp16")
    parser.add_argument("--out", required=True)
    parser.add_argument("--max-autotune", action="store_true")
    args = parser.parse_args()
    start = time.perf_counter()
    peer = Peer(args)
    peer.prepare("eager")
    peer.prepare("reduce-overhead")
    say({"ready": {"seconds": time.perf_counter() - start, "device": torch.cuda.get_device_name(),
                   "torch": torch.__version__, "cudnn": torch.backends.cudnn.version()}})
    for line in sys.stdin:
        if line.strip() != "measure":
            break
        if args.max_autotune and "max-autotune" not in peer.graphs:
            peer.prepare("max-autotune")  # it times its candidates, so it too is alone on the GPU
        say({"measured": peer.measured()})


if __name__ == "__main__":
    main()
