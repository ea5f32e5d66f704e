"""What the ladders share: an artifact for each step and shape, replayed beside PyTorch's kernels."""
import argparse
import json
import pathlib
import subprocess


def compile_step(bin_dir, onnx_file, artifact, kernel, parameters):
    """One artifact for the GPU whose only step has this kernel and, where given, these parameters."""
    command = [bin_dir / "aicf-compile", onnx_file, "-o", artifact, "--force", "--target=cuda", "--math=bf16",
               f"--set=step.0.kernel={kernel}"]
    if parameters:
        command.append("--set=step.0.parameters=" + ",".join(f"{n}={v}" for n, v in parameters.items()))
    subprocess.run([str(c) for c in command], check=True, stdout=subprocess.DEVNULL)


def compile_steps(bin_dir, onnx_file, artifact_of, plain, kernel, parameter_sets):
    """A ladder's artifacts: step 0 is the kernel `plain` as the compiler chooses it, each after it `kernel` with the
    next of the parameter sets. artifact_of(step): the file."""
    compile_step(bin_dir, onnx_file, artifact_of(0), plain, None)
    for step, parameters in enumerate(parameter_sets, 1):
        compile_step(bin_dir, onnx_file, artifact_of(step), kernel, parameters)


def save_bf16(path, shape, seed):
    """Normally distributed numbers, cut to bf16, as aicf-run loads them."""
    import numpy
    values = numpy.random.default_rng(seed).standard_normal(shape, dtype=numpy.float32)
    numpy.save(path, (values.view(numpy.uint32) >> 16).astype(numpy.uint16))


def artifact_us(bin_dir, artifact, inputs):
    """Median time of a replay in us, over 0.3 s. inputs: files by name."""
    command = [bin_dir / "aicf-run", artifact, "--device=cuda:0", "--duration=0.3", "--json"]
    command += [f"--load-inputs={name}:{file}" for name, file in inputs.items()]
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)["latency_ms"]["median"] * 1e3


def graph_us(call):
    """Median of 50 replays of a graph with one call, in us."""
    import torch
    for _ in range(3):
        call()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        call()
    times = []
    for _ in range(55):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        graph.replay()
        end.record()
        torch.cuda.synchronize()
        times.append(begin.elapsed_time(end) * 1e3)
    return sorted(times[5:])[25]


def main(doc, compile_all, run_all):
    """The command line of a ladder: compile_all(bin, out) or run_all(bin, out), both of them folders."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("compile", "run"))
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    (compile_all if args.what == "compile" else run_all)(args.bin, args.out)
