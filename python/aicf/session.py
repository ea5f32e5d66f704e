"""Sessions: a program on a device, ready to be run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from aicf import _native
from aicf.arrays import is_foreign
from aicf.errors import InvalidArgument
from aicf.exclusive import exclusive
from aicf.tensors import SessionTensors

__all__ = ["Session"]


class Session(SessionTensors):
    """One executable instance of a program: memory, and on a GPU one captured graph per entry point.

    Made by :meth:`aicf.Program.session`. Different sessions run at once in different threads, since the
    interpreter's lock is released while they do. Two threads inside one session at once: the later call
    raises :class:`aicf.InvalidArgument` ("busy") and changes nothing. What a thread does by several calls,
    such as set_input, enqueue and get_output, others may come in between of: `run` is one call.

    States (a cache, a recurrent value) are the session's own and live across runs and entry points; a run
    never moves them. See :attr:`states`, :meth:`reset_states`, :meth:`export_state`, :meth:`fork`.
    """

    def __init__(self, native: _native.NativeSession, asynchronous: bool, stream: int = 0) -> None:
        super().__init__()
        self._native = native
        self._asynchronous = asynchronous
        self._stream = stream

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
    def memory(self) -> dict[str, int]:
        """Bytes: arena_bytes, weights_bytes (shared by a program's sessions), state_bytes, staging_bytes
        (pinned host memory), total_device_bytes."""
        return self._native.memory

    @exclusive
    def fork(self) -> Session:
        """A new session of the same program with the same options and a copy of the states and of their
        seeds. Inputs and metas are zero, nothing is bound, the first entry point is selected. On a GPU the
        states are copied on the device. Raises InvalidArgument while a run is under way, ResourceError."""
        return Session(self._native.fork(), self._asynchronous, self._stream)

    # Running.

    @exclusive
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
        begin with). Metas are given by name like inputs. An output that is bound comes back as the tensor
        that was bound for it.

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

    @exclusive
    def enqueue(self) -> None:
        """Runs once with the inputs as they are. With sync="event" or "none" it returns before the end of
        the run; :meth:`wait` waits for it."""
        self._native.run()

    def wait(self) -> None:
        """Waits for the last run."""
        self._await_run()

    @exclusive
    def get_output(self, name: str, out: np.ndarray[Any, Any] | None = None) -> np.ndarray[Any, Any]:
        """Copies one output of the last run out, into `out` or a new array."""
        info = self._info(self.outputs, name, "output")
        return self._take("output", info, self.output_shape(name), out)

    @exclusive
    def outputs_now(
        self, out: Mapping[str, np.ndarray[Any, Any]] | None = None
    ) -> dict[str, np.ndarray[Any, Any]]:
        """All outputs of the last run by name; `out` as for :meth:`run`."""
        given = out or {}
        for name in given:
            self._info(self.outputs, name, "output")
        results = {}
        for t in self.outputs:
            bound = self._native.bound_to("output", t.name)
            take = bound is None or t.name in given
            results[t.name] = self.get_output(t.name, given.get(t.name)) if take else bound
        return results

    # Shapes and entry points.

    @exclusive
    def select(self, shapes: Mapping[str, Sequence[int]]) -> None:
        """Selects the entry point that serves these input shapes. Inputs are zero again afterwards, unless
        it was selected already. Raises InvalidArgument listing the shapes that exist."""
        self._native.select_shapes([(name, list(shape)) for name, shape in shapes.items()])

    @exclusive
    def select_entry(self, name: str) -> None:
        """Selects an entry point by name, with its whole shapes."""
        self._native.select_entry(name)

    @exclusive
    def input_shape(self, name: str) -> tuple[int, ...]:
        """The shape that an input takes now."""
        return tuple(self._native.input_shape(name))

    @exclusive
    def output_shape(self, name: str) -> tuple[int, ...]:
        """The shape that the last run gave an output."""
        return tuple(self._native.output_shape(name))

    # Measuring.

    @exclusive
    def time_replays(self, iterations: int) -> list[float]:
        """Microseconds of each of so many runs back to back: device time on a GPU, else wall time."""
        return self._native.time_replays(iterations)

    @exclusive
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
        metas = {name: values[name] for name in values if name in {t.name for t in self.metas}}
        values = {name: value for name, value in values.items() if name not in metas}
        arrays = {}
        for name, value in values.items():
            if is_foreign(value):
                arrays[name] = value
            else:
                arrays[name] = np.asarray(value) if not hasattr(value, "shape") else value
        self._serve({name: list(array.shape) for name, array in arrays.items()})
        for name, value in values.items():
            self.set_input(name, value)
        for name, value in metas.items():
            self.set_meta(name, value)

    def _serve(self, shapes: dict[str, list[int]]) -> None:
        """Selects another entry point only where the selected one does not take the shapes."""
        known = {t.name for t in self.inputs}
        same = all(n in known and list(self.input_shape(n)) == s for n, s in shapes.items())
        if not same:
            self._native.select_shapes(list(shapes.items()))
