"""Sessions: a program on a device, ready to be run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from aicf import _native
from aicf.arrays import host_tensor, is_foreign
from aicf.dtypes import numpy_dtype
from aicf.errors import InvalidArgument

__all__ = ["Session"]


class Session:
    """One executable instance of a program: memory, and on a GPU one captured graph per entry point.

    Made by :meth:`aicf.Program.session`. Different sessions run at once in different threads, since the
    interpreter's lock is released while they do. Two threads inside one session at once: the later call
    raises :class:`aicf.InvalidArgument` ("busy").
    """

    def __init__(self, native: _native.NativeSession, asynchronous: bool) -> None:
        self._native = native
        self._asynchronous = asynchronous

    def __repr__(self) -> str:
        return f"Session({self.device!r}, entry {self.entry.name!r})"

    # What it is.

    @property
    def device(self) -> str:
        """The device's name: "NVIDIA H200", or "cpu"."""
        return self._native.device_name

    @property
    def on_cuda(self) -> bool:
        """Whether it runs on a GPU, so that its tensors are in device memory."""
        return self._native.on_cuda

    @property
    def entry(self) -> _native.EntryPoint:
        """The selected entry point; the program's first to begin with."""
        return self._native.entry

    @property
    def inputs(self) -> list[_native.TensorInfo]:
        """Inputs of the selected entry point."""
        return self.entry.inputs

    @property
    def outputs(self) -> list[_native.TensorInfo]:
        """Outputs of the selected entry point."""
        return self.entry.outputs

    @property
    def memory(self) -> dict[str, int]:
        """Bytes: arena_bytes, weights_bytes (shared by a program's sessions), staging_bytes (pinned host
        memory), total_device_bytes."""
        return self._native.memory

    # Running.

    def run(
        self,
        *inputs: Any,
        out: Mapping[str, np.ndarray[Any, Any]] | None = None,
        **named: Any,
    ) -> dict[str, np.ndarray[Any, Any]]:
        """Sets inputs, runs once, waits, and returns the outputs by name.

        Inputs are given in the program's order, by keyword, or as one dict by name: numpy arrays, numbers
        and lists (which get the input's dtype), or host tensors of any library with DLPack. Of a program
        with buckets their shapes choose the entry point, and what is smaller is padded where the
        compiler proved that this changes nothing. An input that is not given keeps what it had (zeros to
        begin with).

        `out`: arrays that receive outputs in place of new ones: dense, writable, of the output's dtype and
        shape.

        Raises InvalidArgument for an unknown name, another dtype or shape (naming expected and found), or
        a busy session; DeviceError when the device failed.
        """
        self._set(self._gather(inputs, named))
        self._native.run()
        if self._asynchronous:
            self._native.wait()
        return self.outputs_now(out)

    def enqueue(self) -> None:
        """Runs once with the inputs as they are. With sync="event" or "none" it returns before the end of
        the run; :meth:`wait` waits for it."""
        self._native.run()

    def wait(self) -> None:
        """Waits for the last run."""
        self._native.wait()

    def set_input(self, name: str, value: Any) -> None:
        """Copies one input in: its dtype, and the shape that :meth:`input_shape` says. Raises
        InvalidArgument naming expected and found; nothing is changed then."""
        info = self._info(self.inputs, name, "input")
        if is_foreign(value):
            self._native.set_foreign(name, value)
            return
        self._native.set_bytes(*host_tensor(value, info))

    def get_output(self, name: str, out: np.ndarray[Any, Any] | None = None) -> np.ndarray[Any, Any]:
        """Copies one output of the last run out, into `out` or a new array."""
        info = self._info(self.outputs, name, "output")
        shape = self._native.output_shape(name)
        if out is None:
            out = np.empty(shape, numpy_dtype(info.dtype))
        elif not (out.flags.c_contiguous and out.flags.writeable):
            raise InvalidArgument(f"output '{name}': the array to fill is not dense and writable")
        _, dtype, given, raw = host_tensor(out, info)
        self._native.get_bytes(name, dtype, given, raw)
        return out

    def outputs_now(
        self, out: Mapping[str, np.ndarray[Any, Any]] | None = None
    ) -> dict[str, np.ndarray[Any, Any]]:
        """All outputs of the last run by name; `out` as for :meth:`run`."""
        given = out or {}
        for name in given:
            self._info(self.outputs, name, "output")
        return {t.name: self.get_output(t.name, given.get(t.name)) for t in self.outputs}

    # Shapes and entry points.

    def select(self, shapes: Mapping[str, Sequence[int]]) -> None:
        """Selects the entry point that serves these input shapes. Inputs are zero again afterwards, unless
        it was selected already. Raises InvalidArgument listing the shapes that exist."""
        self._native.select_shapes([(name, list(shape)) for name, shape in shapes.items()])

    def select_entry(self, name: str) -> None:
        """Selects an entry point by name, with its whole shapes."""
        self._native.select_entry(name)

    def input_shape(self, name: str) -> tuple[int, ...]:
        """The shape that an input takes now."""
        return tuple(self._native.input_shape(name))

    def output_shape(self, name: str) -> tuple[int, ...]:
        """The shape that the last run gave an output."""
        return tuple(self._native.output_shape(name))

    # The session's own memory.

    def input(self, name: str) -> Any:
        """The session's own memory for an input as a DLPack tensor, without a copy: on a GPU device memory,
        for example ``torch.from_dlpack(session.input("x")).copy_(batch)``.

        It has the entry point's whole shape, padding included, and stays valid as long as it is referred
        to. On a GPU make the session with transfers=False: otherwise a run uploads what set_input was
        given. Writing there is ordered before a run only on the session's `stream`.
        """
        return self._native.input_view(name)

    def output(self, name: str) -> Any:
        """The session's own memory for an output; see :meth:`input`. The next run overwrites it."""
        return self._native.output_view(name)

    # Measuring.

    def time_replays(self, iterations: int) -> list[float]:
        """Microseconds of each of so many runs back to back: device time on a GPU, else wall time."""
        return self._native.time_replays(iterations)

    def profile(self, iterations: int) -> list[tuple[int, float]]:
        """(step, median microseconds) of every step of the entry point."""
        return self._native.profile(iterations)

    def _gather(self, inputs: tuple[Any, ...], named: dict[str, Any]) -> dict[str, Any]:
        values: dict[str, Any] = {}
        if len(inputs) == 1 and isinstance(inputs[0], Mapping):
            values, inputs = dict(inputs[0]), ()
        infos = self.inputs
        if len(inputs) > len(infos):
            raise InvalidArgument(f"{len(inputs)} inputs are given, the program has {len(infos)}")
        for name, value in [*zip((t.name for t in infos), inputs), *named.items()]:
            if name in values:
                raise InvalidArgument(f"input '{name}' is given twice")
            values[name] = value
        return values

    def _set(self, values: dict[str, Any]) -> None:
        arrays = {}
        for name, value in values.items():
            if is_foreign(value):
                arrays[name] = value
            else:
                arrays[name] = np.asarray(value) if not hasattr(value, "shape") else value
        self._serve({name: list(array.shape) for name, array in arrays.items()})
        for name in values:
            self.set_input(name, values[name])

    def _serve(self, shapes: dict[str, list[int]]) -> None:
        """Selects another entry point only where the selected one does not take the shapes."""
        known = {t.name for t in self.inputs}
        same = all(n in known and list(self.input_shape(n)) == s for n, s in shapes.items())
        if not same:
            self._native.select_shapes(list(shapes.items()))

    @staticmethod
    def _info(tensors: list[_native.TensorInfo], name: str, what: str) -> _native.TensorInfo:
        for tensor in tensors:
            if tensor.name == name:
                return tensor
        known = ", ".join(f"'{t.name}'" for t in tensors) or "none"
        raise InvalidArgument(f"no {what} is named '{name}'; the program has {known}")
