#!/usr/bin/env python3
"""The steps to cuda.gemm.hopper, measured: one row per step and shape, beside PyTorch's (cuBLAS's) kernel.

  bench/ladder/product/race.py compile --bin build/release/bin --out DIR   needs no GPU
  bench/ladder/product/race.py run --bin build/release/bin --out DIR       needs a Hopper GPU, PyTorch 2.5

`compile` makes an ONNX model of one MatMul (bf16) for each shape and compiles it once for each step of the
ladder, with the step's parameters. `run` replays every artifact as aicf-run does, 0.3 s each, then PyTorch's
product as a CUDA graph, and prints medians in us. Data are random: zeros would draw less power.
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import ladder  # noqa: E402

BASE = {"tile_m": 64, "tile_n": 128, "tile_k": 64, "stages": 2, "cluster_m": 1, "cluster": 1, "consumers": 1,
        "group_m": 1, "swap": 0, "ping_pong": 0, "vector": 8, "blocks": 0, "split": 1, "ahead": 0}
# What each step adds to those before it. blocks: 0 is a block for each tile, otherwise so many stay.
MANY_ROWS = [
    ("mma.sync, cp.async", None),
    ("wgmma, copy engine, one warpgroup, two stages", {}),
    ("as many stages as fit", {"stages": 8}),
    ("two warpgroups share a tile of 128x256", {"tile_m": 128, "tile_n": 256, "consumers": 2, "stages": 4}),
    ("blocks stay", {"blocks": 132}),
    ("eight rows of tiles are walked together", {"group_m": 8}),
    ("clusters of two share operands", {"cluster_m": 2, "cluster": 2}),
    ("no clusters; warpgroups take turns, tiles of 128x128",
     {"cluster_m": 1, "cluster": 1, "tile_n": 128, "stages": 6, "ping_pong": 1, "group_m": 16})]
FEW_ROWS = [
    ("mma.sync, cp.async", None),
    ("wgmma, copy engine, one warpgroup, two stages", {}),
    ("as many stages as fit", {"stages": 8}),
    ("the tensor cores' rows run along n, tiles of 16x64", {"tile_m": 16, "tile_n": 64, "swap": 1}),
    ("twice the stages", {"stages": 16}),
    ("two blocks share k", {"split": 2, "cluster": 2})]
SHAPES = [((4096, 4096, 4096), MANY_ROWS), ((8192, 8192, 8192), MANY_ROWS), ((2048, 2048, 2048), MANY_ROWS),
          ((4096, 3072, 768), MANY_ROWS), ((16, 4096, 4096), FEW_ROWS)]


def name_of(shape, step):
    return "x".join(map(str, shape)) + f".{step}"


def parameters(shape, steps, step):
    m, n, _ = shape
    p = dict(BASE)
    for _, change in steps[1:step + 1]:
        p.update(change)
    if p["blocks"] == 0:
        tiles = -(-m // p["tile_m"]) * -(-n // p["tile_n"])
        p["blocks"] = -(-tiles * p["split"] // p["cluster"]) * p["cluster"]
    return p


def model(shape, path):
    import onnx
    from onnx import TensorProto, helper
    m, n, k = shape
    info = [helper.make_tensor_value_info(name, TensorProto.BFLOAT16, dims)
            for name, dims in (("a", [m, k]), ("b", [k, n]), ("c", [m, n]))]
    graph = helper.make_graph([helper.make_node("MatMul", ["a", "b"], ["c"])], "product", info[:2], info[2:])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10), path)


def artifact_of(out, shape, step):
    return out / (name_of(shape, step) + ".aicf")


def compile_all(bin_dir, out):
    for shape, steps in SHAPES:
        onnx_file = out / name_of(shape, "onnx")
        model(shape, onnx_file)
        ladder.compile_steps(bin_dir, onnx_file, lambda step: artifact_of(out, shape, step), "cuda.gemm.tensor",
                             "cuda.gemm.hopper", [parameters(shape, steps, s) for s in range(1, len(steps))])


def peer(shape):
    import torch
    m, n, k = shape
    a, b = (torch.randn(dims, device="cuda", dtype=torch.bfloat16) for dims in ((m, k), (k, n)))
    return ladder.graph_us(lambda: torch.mm(a, b))


def run_all(bin_dir, out):
    for shape, steps in SHAPES:
        m, n, k = shape
        inputs = {name: out / f"{name}.npy" for name in "ab"}
        ladder.save_bf16(inputs["a"], (m, k), 1)
        ladder.save_bf16(inputs["b"], (k, n), 2)
        print(name_of(shape, "")[:-1])
        for step, (text, _) in enumerate(steps):
            us = ladder.artifact_us(bin_dir, artifact_of(out, shape, step), inputs)
            print(f"  {us:9.1f}  {2e-6 * m * n * k / us:7.1f} TFLOP/s  {text}")
        us = peer(shape)
        print(f"  {us:9.1f}  {2e-6 * m * n * k / us:7.1f} TFLOP/s  PyTorch", flush=True)


if __name__ == "__main__":
    ladder.main(__doc__, compile_all, run_all)
