"""Compiling and loading."""

from __future__ import annotations

import importlib.util
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np

from aicf import _native
from aicf.arrays import as_array, bits
from aicf.dtypes import dtype_name
from aicf.errors import FileError, InvalidArgument, errno_of, file_error
from aicf.messages import handing_over
from aicf.program import Program

__all__ = ["compile", "load"]

Shapes = Mapping[str, Sequence[int]]
Sample = Mapping[str, np.ndarray] | np.ndarray


def load(
    source: str | os.PathLike[str] | bytes, *, require_signature: str | None = None
) -> Program:
    """Reads and verifies an artifact, from a file's path or from bytes; touches no device.

    require_signature: public keys in PEM, as ``aicf-sign --new-key`` writes them
        (``Path("key.pub.pem").read_text()``): an artifact that none of them has signed is refused. What
        loading one from elsewhere means is in docs/security.md.

    Raises FileError (with `filename`, and with `errno` where the operating system gave a reason), BadArtifact
    (also for a signature that is missing or another's), InvalidArgument (a text without a key), Unsupported (a
    newer format), ResourceError.
    """
    if isinstance(source, (bytes, bytearray, memoryview)):
        return Program(_native.NativeProgram.from_bytes(bytes(source), require_signature))
    return Program(_load_file(os.fspath(source), require_signature))


def _load_file(path: str, require_signature: str | None) -> _native.NativeProgram:
    try:
        return _native.NativeProgram.load(path, require_signature)
    except FileError as error:
        raise file_error(str(error), path, errno_of(str(error))) from None


def compile(
    model: str | os.PathLike[str] | bytes | Program,
    *,
    target: str | None = None,
    shapes: Shapes | None = None,
    buckets: Mapping[str, Shapes] | None = None,
    bind: Mapping[str, Any] | None = None,
    states: Mapping[str, str] | Literal["auto"] | None = None,
    metas: Iterable[str] | None = None,
    impossible_branches: Literal["refuse", "nan"] | None = None,
    context: int | None = None,
    cache: int | None = None,
    cache_precision: Literal["fp32", "fp16", "bf16"] | None = None,
    page: int | None = None,
    prefill: Iterable[int] | None = None,
    decode: Iterable[int] | None = None,
    logits: bool | None = None,
    math: Literal["fp32", "tf32", "fp16", "bf16", "fp8", "int8"] | None = None,
    precision: Literal["fp32", "fp16", "bf16", "int8", "fp8"] | None = None,
    calibrate: Iterable[Sample] = (),
    calibrate_method: Literal["minmax", "percentile", "entropy"] | None = None,
    max_error: float | None = None,
    deterministic: bool | None = None,
    policy: str | Iterable[str] = (),
    policy_strict: bool | None = None,
    edits: Iterable[str] = (),
    decisions: Iterable[Mapping[str, Any]] | None = None,
    disable_passes: Iterable[str] = (),
    disable_fusion: Iterable[str] = (),
    strip: bool | None = None,
    images: bool | None = None,
    kernel_cache: str | os.PathLike[str] | None = None,
    external_data_dir: str | os.PathLike[str] | None = None,
) -> Program:
    """Compiles an ONNX model, a language model, or a program's own lowered form once more, and loads the result.

    model: a path, of a language model that of its GGUF file or of its Hugging Face folder; the model's bytes
        (without external data); or a Program, whose options then hold unless given here, and which fixes shapes,
        buckets, bind, states, metas and all that is about a language model.
    target: "cpu" (this machine; the default), "cpu:baseline", "cpu:avx2", "cpu:avx512", "cuda"
        (as "cuda:sm_90a"), or "cuda:" with another architecture of docs/targets.md ("cuda:sm_80").
        A CUDA target needs no GPU, but NVRTC (``pip install aicf[cuda]``, or a toolkit).
    shapes: of inputs by name, for example ``{"x": (1, 3, 48, 320)}``.
    buckets: more entry points by name, each with shapes.
    bind: inputs by name that become these constants, and are no inputs of the program any more.
    states: inputs that the model hands from run to run, each with the output that is its next value, for
        example ``{"h": "h_next"}``; they stay in the session. "auto": all pairs that their names suggest.
    metas: inputs that are rewritten before every run (positions, lengths), handed over in one copy.
    impossible_branches: what becomes of an If's branch that cannot run with these shapes, where a run decides which
        one is taken: an error, which is the default, or "nan": results that are NaN when it is taken.
    context: of a language model, as the next six: most positions of a request, prompt and answer together; what
        the model was trained for unless given, at most 4096.
    cache: positions that the cache of keys and values holds, of all requests together; twice the context.
    cache_precision: what keys and values are stored in; `precision` where that has 16 bits, otherwise "fp32".
    page: positions in a page of the cache; 32 on a CPU, 64 on a GPU.
    prefill: rows of the entry points that read a prompt; [128, 512, 2048], on a CPU also 8, 16, 32 and 64. Of a
        model for embeddings [32, 128, 512], on a CPU all powers of two from 8 to 512.
    decode: requests of the entry points that make a token for each; [1, 2, 4, 8] on a CPU, up to 64 on a GPU.
    logits: whether the logits are an output, too.
    math: how matrix products are formed; "fp32" unless given, but "int8" for a language model whose weights are
        quantised, on a CPU: activations are then rounded to 8 bits. "fp8": products that a model gives float8 operands
        multiply the codes on a Hopper GPU, whose sums are less exact.
    precision: what f32 activations and weights are stored in; sensitive values, inputs, outputs and states keep
        f32; "fp32" unless given. "int8" and "fp8": products with constant weights multiply codes of 8 bits, whose
        scales follow from `calibrate`.
    calibrate: samples of the inputs for "int8" and "fp8": a dict of arrays by input name for each, or an array
        each for a model with one input. An array whose first extent is a multiple of the model's holds several
        samples. A program that was made with samples is compiled again without them.
    calibrate_method: how far codes reach: "minmax", to the largest magnitude of the samples, which is the default;
        "percentile", one of 10,000 elements lies beyond; "entropy", the least Kullback-Leibler divergence.
    max_error: products stay in floats, those that change most first, until the relative error of the outputs on the
        samples is at most this; 0.1 unless given (docs/decisions.md).
    deterministic: only kernels that give equal bits run after run.
    policy: preferences such as "conv=direct", "node:*head*=fp32"; policy_strict makes one that cannot be
        honoured an error.
    edits: "step.12.kernel=KEY" and so on, as --set of aicf-compile: honoured or an error.
    decisions: decisions of another compilation, edited: what differs from the compiler's own choices is
        taken instead, or is an error with the reason.
    disable_passes, disable_fusion: passes left out, nodes kept unfused.
    strip: leave decisions and the lowered program out of the artifact.
    images: False plans for CUDA without device code; only device="cpu" runs that.
    kernel_cache: a folder for compiled device code, or "none".
    external_data_dir: files that the model names may be links to files in this folder, as in caches of downloaded
        models; without it no link is followed.

    The interpreter's lock is released meanwhile. Warnings, such as that of a policy which cannot be honoured, go to
    the logger "aicf" of :mod:`logging` when the call returns. Raises FileError, BadModel, Unsupported (all
    unsupported nodes at once), InvalidArgument.
    """
    request = _native.CompileRequest()
    request.target = target
    request.math = math
    request.precision = precision
    request.calibrate_method = calibrate_method
    request.max_error = max_error
    if isinstance(calibrate, (np.ndarray, Mapping)):
        raise InvalidArgument("calibrate: expected several samples, such as [sample]")
    for i, sample in enumerate(calibrate):
        _calibrate(request, f"calibrate[{i}]", sample)
    if impossible_branches not in (None, "refuse", "nan"):
        raise InvalidArgument(f"impossible_branches: expected 'refuse' or 'nan', got {impossible_branches!r}")
    request.nan_branches = None if impossible_branches is None else impossible_branches == "nan"
    request.deterministic = deterministic
    request.policy_strict = policy_strict
    request.strip = strip
    request.images = images
    request.external_data_dir = "" if external_data_dir is None else os.fspath(external_data_dir)
    request.kernel_cache = None if kernel_cache is None else os.fspath(kernel_cache)
    request.shapes = None if shapes is None else _shapes(shapes)
    request.context, request.cache, request.page = context, cache, page
    request.cache_precision, request.logits = cache_precision, logits
    request.prefill = None if prefill is None else list(prefill)
    request.decode = None if decode is None else list(decode)
    if buckets is not None:
        request.buckets = [(name, _shapes(given)) for name, given in buckets.items()]
    request.policy = policy.split(",") if isinstance(policy, str) and policy else list(policy)
    request.edits = list(edits)
    request.disable_passes = list(disable_passes)
    request.disable_fusion = list(disable_fusion)
    if decisions is not None:
        request.decisions = "".join(json.dumps(d) + "\n" for d in decisions)
    if states == "auto":
        request.auto_states = True
    elif states is not None:
        request.states = list(states.items())
    if metas is not None:
        request.metas = [metas] if isinstance(metas, str) else list(metas)
    for name, value in (bind or {}).items():
        _bind(request, name, value)
    _find_nvrtc()
    with handing_over():
        if isinstance(model, Program):
            return Program(_native.compile_program(model._native, request))
        if isinstance(model, (bytes, bytearray, memoryview)):
            return Program(_native.compile_bytes(bytes(model), request))
        return Program(_native.compile_file(os.fspath(model), request))


def _shapes(shapes: Shapes) -> dict[str, list[int]]:
    return {name: [int(extent) for extent in shape] for name, shape in shapes.items()}


def _calibrate(request: _native.CompileRequest, what: str, sample: Sample) -> None:
    tensors = []
    for name, value in (sample if isinstance(sample, Mapping) else {"": sample}).items():
        if not isinstance(value, (np.ndarray, np.generic)):
            raise InvalidArgument(f"{what}: expected numpy arrays, whose dtypes are the inputs', or a dict of them")
        array = as_array(value, "f32")
        tensors.append((name, dtype_name(array.dtype, "f32"), list(array.shape), bits(array).tobytes()))
    request.calibrate(what, tensors)


def _bind(request: _native.CompileRequest, name: str, value: Any) -> None:
    if not isinstance(value, (np.ndarray, np.generic)):
        raise InvalidArgument(f"bind: '{name}' has to be a numpy array, whose dtype is the input's")
    array = as_array(value, "f32")
    request.bind(name, dtype_name(array.dtype, "f32"), list(array.shape), bits(array).tobytes())


def _find_nvrtc() -> None:
    """Points the compiler at the NVRTC of the package nvidia-cuda-nvrtc, unless it has been told one."""
    if "AICF_NVRTC" in os.environ:
        return
    package = importlib.util.find_spec("nvidia")
    for folder in (package.submodule_search_locations or []) if package else []:
        library = Path(folder) / "cu13" / "lib" / "libnvrtc.so.13"
        if library.exists():
            os.environ["AICF_NVRTC"] = str(library)
            return
