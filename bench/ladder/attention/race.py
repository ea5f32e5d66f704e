#!/usr/bin/env python3
"""The steps to cuda.attention.hopper, measured: one row per step and shape, beside PyTorch's kernels.

  bench/ladder/attention/race.py compile --bin build/release/bin --out DIR   needs no GPU
  bench/ladder/attention/race.py run --bin build/release/bin --out DIR       needs a Hopper GPU, PyTorch 2.5

`compile` makes an ONNX model of one Attention node (opset 23, bf16) for each shape and compiles it once for
each step of the ladder, with the step's parameters. `run` replays every artifact as aicf-run does, 0.3 s
each, then PyTorch's flash and cuDNN kernels as CUDA graphs, and prints medians in us. Data are random.
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import ladder  # noqa: E402

BASE = {"consumers": 1, "tile_keys": 128, "stages": 2, "query_stages": 1, "producer": 1, "turns": 0, "fold": 0,
        "pack": 0, "section": 1, "per_sm": 1, "blocks": 0}
# What each step adds to those before it. blocks: 0 is a block for each tile, otherwise so many stay.
LADDER = [("mma.sync, cp.async", None), ("wgmma, copy engine, one warpgroup", {}),
          ("warpgroups share keys", {"consumers": 0}), ("they take turns", {"turns": 1}),
          ("heads that fit the cache together", {"section": 0}), ("blocks stay", {"blocks": 132, "fold": 0}),
          ("causal: long and short tiles in turn", {"fold": 1}), ("next queries ahead", {"query_stages": 2})]
SHAPES = [(16, 2048 // d, 1024, d, causal) for d in (64, 128) for causal in (0, 1)]
SHAPES += [(4, 2048 // d, 4096, d, causal) for d in (64, 128) for causal in (0, 1)]


def name_of(shape, step):
    return "x".join(map(str, shape[:4])) + (".causal" if shape[4] else ".full") + f".{step}"


def parameters(shape, step):
    batch, heads, tokens, size, causal = shape
    p = dict(BASE)
    for _, change in LADDER[1:step + 1]:
        p.update(change)
    p["consumers"] = p["consumers"] or (3 if size == 64 else 2)
    p["section"] = p["section"] or min(batch * heads, max(1, (16 << 20) // (tokens * size * 4)))
    p["fold"] = p["fold"] and causal
    if p["blocks"] == 0:
        p["blocks"] = batch * heads * -(-tokens // (64 * p["consumers"]))
    return p


def model(shape, path):
    import onnx
    from onnx import TensorProto, helper
    batch, heads, tokens, size, causal = shape
    info = [helper.make_tensor_value_info(n, TensorProto.BFLOAT16, [batch, heads, tokens, size]) for n in "qkvo"]
    node = helper.make_node("Attention", ["q", "k", "v"], ["o"], is_causal=causal)
    graph = helper.make_graph([node], "attention", info[:3], info[3:])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23)], ir_version=10), path)


def artifact_of(out, shape, step):
    return out / (name_of(shape, step) + ".aicf")


def compile_all(bin_dir, out):
    for shape in SHAPES:
        onnx_file = out / name_of(shape, "onnx")
        model(shape, onnx_file)
        ladder.compile_steps(bin_dir, onnx_file, lambda step: artifact_of(out, shape, step), "cuda.attention.tensor",
                             "cuda.attention.hopper", [parameters(shape, s) for s in range(1, len(LADDER))])


def peers(shape):
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel
    batch, heads, tokens, size, causal = shape
    q, k, v = (torch.randn(batch, heads, tokens, size, device="cuda", dtype=torch.bfloat16) for _ in range(3))
    out = []
    for backend in (SDPBackend.FLASH_ATTENTION, SDPBackend.CUDNN_ATTENTION):
        with sdpa_kernel(backend):
            attend = torch.nn.functional.scaled_dot_product_attention
            out.append(ladder.graph_us(lambda: attend(q, k, v, is_causal=bool(causal))))
    return out


def run_all(bin_dir, out):
    for shape in SHAPES:
        inputs = {n: out / f"{n}.npy" for n in "qkv"}
        for n, file in inputs.items():
            ladder.save_bf16(file, shape[:4], ord(n))
        print(name_of(shape, "")[:-1])
        for step, (text, _) in enumerate(LADDER):
            us = ladder.artifact_us(bin_dir, artifact_of(out, shape, step), inputs)
            print(f"  {us:9.1f}  {text}")
        flash, cudnn = peers(shape)
        print(f"  {flash:9.1f}  PyTorch, flash\n  {cudnn:9.1f}  PyTorch, cuDNN", flush=True)


if __name__ == "__main__":
    ladder.main(__doc__, compile_all, run_all)
