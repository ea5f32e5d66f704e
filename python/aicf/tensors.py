"""The part of a session that is about single tensors: states, metas, and memory that is shared or bound."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from aicf import _native
from aicf.arrays import host_tensor, is_foreign
from aicf.dtypes import numpy_dtype
from aicf.errors import InvalidArgument
from aicf.exclusive import Exclusive, exclusive
from aicf.memory import SharedTensor, memory_of

_DEFAULT_STREAM = 1  # DLPack's number for CUDA's legacy default stream


class SessionTensors(Exclusive):
    """What :class:`aicf.Session` does with single tensors."""

    _native: _native.NativeSession
    _asynchronous: bool
    _stream: int

    @property
    def inputs(self) -> list[_native.TensorInfo]:
        """Inputs of the selected entry point."""
        return self._native.entry.inputs

    @property
    def outputs(self) -> list[_native.TensorInfo]:
        """Outputs of the selected entry point."""
        return self._native.entry.outputs

    @property
    def metas(self) -> list[_native.TensorInfo]:
        """Metas of the selected entry point: small inputs that are rewritten before a run, such as positions,
        lengths and page tables."""
        return self._native.entry.metas

    @property
    def states(self) -> list[_native.TensorInfo]:
        """What lives across runs, the same for all entry points; in no list of inputs or outputs. All are
        zero in a new session."""
        return self._native.states

    # Copies in and out.

    @exclusive
    def set_input(self, name: str, value: Any) -> None:
        """Copies one input in: a host tensor of its dtype, and of the shape that :meth:`input_shape` says.
        Raises InvalidArgument naming expected and found; nothing is changed then."""
        self._give("input", name, value, self.inputs)

    @exclusive
    def set_meta(self, name: str, value: Any) -> None:
        """Writes a meta of the selected entry point: a host tensor of exactly its dtype and shape. The next
        run hands all metas over in one copy. They are zero until set, also after another entry point was
        selected. Raises InvalidArgument naming expected and found; nothing is changed then."""
        self._give("meta", name, value, self.metas)

    @exclusive
    def reset_states(self) -> None:
        """Gives every state its seed: zeros, or what :meth:`seed_state` said."""
        self._native.reset_states()

    @exclusive
    def seed_state(self, name: str, value: Any) -> None:
        """What :meth:`reset_states` gives this state from now on: a host tensor of exactly its dtype and
        shape. The state itself keeps its value until then. Raises InvalidArgument."""
        self._give("seed", name, value, self.states)

    @exclusive
    def import_state(self, name: str, value: Any) -> None:
        """Copies a host tensor of exactly the state's dtype and shape into the state. Raises InvalidArgument,
        also while a run is under way; nothing is changed then."""
        self._give("state", name, value, self.states)

    @exclusive
    def export_state(
        self, name: str, out: np.ndarray[Any, Any] | None = None
    ) -> np.ndarray[Any, Any]:
        """Copies a state out, of exactly its dtype and shape, into `out` (dense, writable) or a new array.
        What was exported and imported again, in any session of the program, goes on bit for bit. Raises
        InvalidArgument, also while a run is under way."""
        info = self._info(self.states, name, "state")
        return self._take("state", info, tuple(info.shape), out)

    # Memory without copies.

    @exclusive
    def input(self, name: str) -> SharedTensor:
        """The memory of an input as a DLPack tensor, without a copy: on a GPU device memory, for example
        ``torch.from_dlpack(session.input("x")).copy_(batch)``.

        It has the entry point's whole shape, padding included. On a GPU make the session with
        transfers=False: otherwise a run uploads what set_input was given. Writing there is ordered before a
        run only on the session's `stream`. Raises InvalidArgument for an unknown name.
        """
        return self._shared("input", name, self.inputs)

    @exclusive
    def output(self, name: str) -> SharedTensor:
        """The memory of an output; see :meth:`input`. The next run overwrites it."""
        return self._shared("output", name, self.outputs)

    @exclusive
    def state(self, name: str) -> SharedTensor:
        """The memory of a state, for all entry points; see :meth:`input`. Runs change it."""
        return self._shared("state", name, self.states)

    @exclusive
    def bind(
        self,
        *,
        inputs: Mapping[str, Any] | None = None,
        outputs: Mapping[str, Any] | None = None,
        states: Mapping[str, Any] | None = None,
    ) -> None:
        """Makes runs use the caller's memory for inputs and outputs of the selected entry point and for
        states, without copies: of all given tensors, or of none after an error.

        Each value is a tensor of exactly the dtype and the whole shape of the :class:`aicf.TensorInfo`, dense
        and row-major, in memory of the session's device: on the CPU numpy arrays (64-byte aligned, see
        :func:`aicf.aligned_array`) and host tensors of any library with DLPack, on a GPU tensors with DLPack
        on it (256-byte aligned, as torch's allocations are). None: the session's own memory again.

        The session keeps the tensors alive. The caller reads and writes them himself, between runs:
        set_input and get_output refuse them, and :meth:`run` returns bound outputs as the tensors that were
        bound. On a GPU, work that other libraries enqueued on the tensors so far is ordered before later
        runs; work enqueued afterwards only on the session's `stream`.

        Cost: on a GPU the entry point's graph is captured again (of a state: every entry point's), so bind
        everything in one call and not for every run; a run stays one graph launch.
        Raises InvalidArgument for an unknown name, another dtype, shape or device, memory that is read-only,
        overlaps or is not aligned, or while a run is under way.
        """
        rows = []
        for what, given in (("input", inputs), ("output", outputs), ("state", states)):
            for name, value in (given or {}).items():
                info = self._info(getattr(self, what + "s"), name, what)
                rows.append((what, name, self._memory(what, info, value), value))
        if self._native.on_cuda and not self._stream and any(row[2] is not None for row in rows):
            self._native.await_default_stream()
        self._native.bind(rows)

    # Internal.

    def _memory(self, what: str, info: _native.TensorInfo, value: Any) -> Any:
        if value is None:
            return None
        device = tuple(self._native.dlpack_device)
        return memory_of(value, info, what, device, self._stream or _DEFAULT_STREAM)

    def _finish_for(self, stream: int | None) -> None:
        """Waits for a run under way, unless what comes next is in the runs' own stream."""
        if self._asynchronous and not (self._stream and stream == self._stream):
            self._await_run()

    @exclusive
    def _await_run(self) -> None:
        self._native.wait()

    def _give(
        self, what: str, name: str, value: Any, infos: list[_native.TensorInfo]
    ) -> None:
        info = self._info(infos, name, "state" if what == "seed" else what)
        if is_foreign(value):
            self._native.set_foreign(what, name, value)
        else:
            self._native.set_bytes(what, *host_tensor(value, info))

    def _take(
        self,
        what: str,
        info: _native.TensorInfo,
        shape: tuple[int, ...],
        out: np.ndarray[Any, Any] | None,
    ) -> np.ndarray[Any, Any]:
        if out is None:
            out = np.empty(shape, numpy_dtype(info.dtype))
        elif not (out.flags.c_contiguous and out.flags.writeable):
            raise InvalidArgument(f"{what} '{info.name}': the array to fill is not dense and writable")
        name, dtype, given, raw = host_tensor(out, info)
        self._native.get_bytes(what, name, dtype, given, raw)
        return out

    def _shared(self, what: str, name: str, infos: list[_native.TensorInfo]) -> SharedTensor:
        info = self._info(infos, name, what)
        return SharedTensor(self, self._native.view(what, name), info)

    @staticmethod
    def _info(tensors: list[_native.TensorInfo], name: str, what: str) -> _native.TensorInfo:
        for tensor in tensors:
            if tensor.name == name:
                return tensor
        known = ", ".join(f"'{t.name}'" for t in tensors) or "none"
        raise InvalidArgument(f"no {what} is named '{name}'; the program has {known}")
