"""Programs: loaded, verified artifacts."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from aicf import _native
from aicf.arrays import host_tensor
from aicf.dtypes import numpy_dtype
from aicf.errors import InvalidArgument
from aicf.files import write_whole
from aicf.session import Session

__all__ = ["Program", "Verification"]


@dataclass(frozen=True)
class Verification:
    """What :meth:`Program.verify` found."""

    passed: bool
    """Whether every step agrees with the reference kernel within its tolerance."""
    device: str
    entry: str
    first_failed: int | None
    """Number of the first step that does not agree: the one that is wrong."""
    steps: list[dict[str, Any]]
    """Per step: step, kernel, sources, math, pass, runs, max_abs_error, relative_l2, tolerance, ..."""
    outputs: list[dict[str, Any]]
    """Per output its distance from a run on the reference kernels alone (drift; reported, not judged)."""

    def __bool__(self) -> bool:
        return self.passed


class Program:
    """A loaded, verified artifact: immutable, to be shared by any number of sessions and threads.

    Made by :func:`aicf.compile` or :func:`aicf.load`.
    """

    def __init__(self, native: _native.NativeProgram) -> None:
        self._native = native

    def __repr__(self) -> str:
        names = ", ".join(repr(e.name) for e in self.entries)
        return f"Program({self.target!r}, entries {names})"

    # What it is.

    @property
    def target(self) -> str:
        """What it is compiled for: "cpu:avx512", "cuda:sm_90a"."""
        return self._native.target

    @property
    def entries(self) -> list[_native.EntryPoint]:
        """Entry points, in the order in which they were given to the compiler; never empty."""
        return self._native.entries

    @property
    def inputs(self) -> list[_native.TensorInfo]:
        """Inputs of the first entry point, the only one of a program without buckets."""
        return self.entries[0].inputs

    @property
    def outputs(self) -> list[_native.TensorInfo]:
        """Outputs of the first entry point."""
        return self.entries[0].outputs

    @property
    def states(self) -> list[_native.TensorInfo]:
        """What lives across runs, the same for all entry points; in no list of inputs or outputs."""
        return self._native.states

    @property
    def state_bytes(self) -> int:
        """Bytes of state that each session has."""
        return self._native.state_bytes

    @property
    def metadata(self) -> dict[str, str]:
        """The source model's own key and value strings."""
        return self._native.metadata

    @property
    def arena_bytes(self) -> int:
        """Bytes of working memory that each session has."""
        return self._native.arena_bytes

    @property
    def weights_bytes(self) -> int:
        """Bytes of constants, which the sessions on a device share."""
        return self._native.weights_bytes

    # The artifact. What follows reads its optional sections: from the bytes that the program was made
    # from, or again from its file, which raises BadArtifact when it is another file by now.

    @property
    def data(self) -> bytes:
        """The artifact's bytes."""
        return self._native.data()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the artifact to a file, whole or not at all. Raises FileError, with `errno` and
        `filename`."""
        write_whole(os.fspath(path), self.data)

    def signed(self, private_key: str) -> Program:
        """The same program with the signature of this Ed25519 key, a private key in PEM as ``aicf-sign`` and
        ``openssl genpkey -algorithm ed25519`` write it. Raises InvalidArgument for another text."""
        return Program(self._native.signed(private_key))

    @property
    def decisions(self) -> list[dict[str, Any]]:
        """Every decision of the compiler, in order: kind, subject, choice, reason, alternatives with the
        sentence that refused each or its cost. Empty for an artifact made with strip=True."""
        return [json.loads(line) for line in self._native.decisions().splitlines() if line]

    @property
    def provenance(self) -> dict[str, Any]:
        """Where it comes from: the model's hash, options, versions."""
        text = self._native.provenance()
        return json.loads(text) if text else {}

    def describe(self) -> dict[str, Any]:
        """Everything as data, the object that ``aicf-inspect --json`` prints: header, entry_points,
        values, steps, decisions."""
        return json.loads(self._native.describe())

    def report(
        self, path: str | os.PathLike[str] | None = None, *, title: str = "program"
    ) -> str:
        """The report: one HTML page with everything in it, nothing fetched from outside. Returns the page,
        and writes it to `path` where that is given. Raises FileError."""
        page = self._native.report(title)
        if path is not None:
            write_whole(os.fspath(path), page.encode())
        return page

    # Running.

    def session(
        self,
        device: str = "",
        *,
        threads: int = 0,
        max_operations: float = 0,
        cuda_graph: bool = True,
        transfers: bool = True,
        sync: Literal["full", "event", "none"] = "full",
        stream: int = 0,
    ) -> Session:
        """Allocates, uploads weights, captures graphs: the last place that allocates.

        device: "" is the program's own target (cuda:0 for CUDA); "cpu" also runs a CUDA program step by
            step on the reference kernels; "cuda:N".
        threads: CPU threads; 0 is one per core available.
        max_operations: what one run may take on a CPU, a loop with all its trips; a program that takes
            more raises ResourceError here, a loop that does so in the run. 0: 1e14.
        cuda_graph: False launches steps one by one.
        transfers: False makes runs compute only; inputs then keep their device contents between runs.
        sync: "full" runs return when the outputs are ready, "event" and "none" at once (Session.wait).
        stream: a CUstream of the caller as a number, for example
            ``torch.cuda.current_stream().cuda_stream``; it has to outlive the session. 0: its own.

        Raises DeviceError (missing or incompatible: names what would work), ResourceError.
        """
        native = _native.create_session(
            self._native,
            device=device,
            threads=threads,
            max_operations=max_operations,
            cuda_graph=cuda_graph,
            transfers=transfers,
            sync=sync,
            stream=stream,
        )
        return Session(native, asynchronous=sync != "full", stream=stream)

    def verify(
        self,
        inputs: Mapping[str, Any] | None = None,
        *,
        device: str = "",
        threads: int = 0,
        seed: int = 0,
    ) -> Verification:
        """Executes an entry point one step at a time and compares each step's outputs with the reference
        kernel's on the same buffers, so that an error does not travel: the step that fails is the one that
        is wrong.

        inputs: by name, every input of the entry point that serves their shapes; None makes up those of the
            first one (floats uniform in [-1, 1) from `seed`, everything else 0).
        device, threads: as for :meth:`session`. A CUDA program on "cpu" has nothing to compare, because
            the reference kernels are what runs there: DeviceError.
        """
        given = self._made_up(seed) if inputs is None else dict(inputs)
        infos = {t.name: t for entry in self.entries for t in entry.inputs}
        rows = []
        for name, value in given.items():
            if name not in infos:
                known = ", ".join(f"'{n}'" for n in infos)
                raise InvalidArgument(f"no input is named '{name}'; the program has {known}")
            _, dtype, shape, raw = host_tensor(value, infos[name])
            rows.append((name, dtype, shape, raw.tobytes()))
        found = json.loads(_native.verify(self._native, rows, device=device, threads=threads))
        return Verification(
            passed=found["pass"],
            device=found["device"],
            entry=found["entry"],
            first_failed=found["first_failed"],
            steps=found["steps"],
            outputs=found["outputs"],
        )

    def _made_up(self, seed: int) -> dict[str, np.ndarray[Any, Any]]:
        random = np.random.default_rng(seed)
        values = {}
        for info in self.inputs:
            dtype = numpy_dtype(info.dtype)
            if info.dtype in ("f32", "f64", "f16"):
                values[info.name] = random.uniform(-1, 1, info.shape).astype(dtype)
            else:
                values[info.name] = np.zeros(info.shape, dtype)
        return values
