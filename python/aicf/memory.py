"""Tensors shared between a session and other libraries without copies, by DLPack."""

from __future__ import annotations

from typing import Any

import numpy as np

from aicf import _native
from aicf.arrays import bits, is_foreign
from aicf.dtypes import dtype_name, numpy_dtype
from aicf.errors import InvalidArgument

__all__ = ["SharedTensor", "aligned_array"]

_CUDA = 2  # DLPack's number for memory of a CUDA device
_ALIGNMENT = 256  # what a session may ask of bound memory, on every device


class SharedTensor:
    """Memory that a session uses for a tensor, offered to other libraries by DLPack, without a copy:
    ``np.from_dlpack(t)`` on the CPU, ``torch.from_dlpack(t)`` anywhere. It stays valid as long as it or
    what was made from it is referred to.

    Made by :meth:`aicf.Session.input`, :meth:`aicf.Session.output` and :meth:`aicf.Session.state`.
    """

    def __init__(self, session: Any, view: Any, info: _native.TensorInfo) -> None:
        self._session = session
        self._view = view
        self._info = info

    def __repr__(self) -> str:
        return f"SharedTensor({self._info.name!r}, {self.dtype}, {self.shape})"

    @property
    def shape(self) -> tuple[int, ...]:
        """The whole shape, padding included."""
        return self._info.shape

    @property
    def dtype(self) -> str:
        """aicf's name of the element type: "f32", "bf16", ..."""
        return self._info.dtype

    def __dlpack_device__(self) -> tuple[int, int]:
        """DLPack's type and number of the device: (1, 0) for the host, (2, N) for cuda:N."""
        return self._view.__dlpack_device__()

    def __dlpack__(
        self,
        *,
        stream: int | None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """The tensor's capsule.

        stream: on a GPU the consumer's stream as DLPack numbers it (None and 1: the legacy default stream,
            2: the per-thread one, -1: no ordering is wanted, above: a handle). What the consumer enqueues
            there sees the results of runs that this session was asked for before, since a run that may be
            under way is waited for, unless it is in that very stream. On the CPU: None.

        Raises ValueError for another stream, BufferError for a copy or another device.
        """
        if copy:
            raise BufferError("the session's memory is shared, a copy is not made here")
        if dl_device is not None and tuple(dl_device) != self.__dlpack_device__():
            raise BufferError(f"the memory is on device {self.__dlpack_device__()}, not {dl_device}")
        self._check_stream(stream)
        if stream != -1:
            self._session._finish_for(stream)
        return self._view.__dlpack__(max_version=max_version)

    def _check_stream(self, stream: int | None) -> None:
        if stream is None:
            return
        if self.__dlpack_device__()[0] != _CUDA:
            raise ValueError(f"stream: expected None for memory of the host, got {stream}")
        if stream == 0 or stream < -1:
            raise ValueError(f"stream: {stream} is no stream of a CUDA device; 1 is the default one")


def aligned_array(shape: tuple[int, ...], dtype: Any) -> np.ndarray[Any, Any]:
    """An array of zeros whose memory is aligned as :meth:`aicf.Session.bind` asks.

    dtype: numpy's, or aicf's name of one ("f32", "bf16", ...), as in ``aligned_array(t.shape, t.dtype)`` for
        a TensorInfo `t`.
    """
    element = numpy_dtype(dtype) if isinstance(dtype, str) else np.dtype(dtype)
    count = int(np.prod(shape, dtype=np.int64)) * element.itemsize
    memory = np.zeros(count + _ALIGNMENT, np.uint8)
    first = -memory.ctypes.data % _ALIGNMENT
    return memory[first : first + count].view(element).reshape(shape)


def memory_of(
    value: Any,
    info: _native.TensorInfo,
    what: str,
    device: tuple[int, int],
    stream: int,
) -> _native.ForeignTensor:
    """The memory of a caller's tensor, to be bound for the tensor that `info` describes.

    device: the session's, as DLPack numbers it; stream: the one that the tensor's library shall make its
    work visible to. Raises InvalidArgument for another dtype, shape or device, elements that are not dense
    and row-major, or memory that is read-only and would be written.
    """
    subject = f"{what} '{info.name}'"
    if is_foreign(value):
        found = tuple(value.__dlpack_device__())
        if found != device:
            raise InvalidArgument(f"{subject}: expected memory of device {device}, got {found}")
        source = _capsule(value, stream) if device[0] == _CUDA else value
        memory = _examine(source, what, subject)
        dtype, shape = memory.dtype, tuple(memory.shape)
    elif isinstance(value, np.ndarray):
        if device[0] == _CUDA:
            raise InvalidArgument(f"{subject}: expected memory of device {device}, got a numpy array")
        if not value.flags.c_contiguous:
            raise InvalidArgument(f"{subject}: the array is not dense and row-major")
        if what != "input" and not value.flags.writeable:
            raise InvalidArgument(f"{subject}: the array is read-only")
        memory = _native.examine(bits(value))
        dtype, shape = dtype_name(value.dtype, info.dtype), value.shape
    else:
        raise InvalidArgument(f"{subject}: expected an array or a tensor with DLPack, got {type(value)}")
    if dtype != info.dtype or shape != tuple(info.shape):
        raise InvalidArgument(
            f"{subject}: expected {info.dtype} {_text(info.shape)}, got {dtype} {_text(shape)}"
        )
    return memory


def _capsule(value: Any, stream: int) -> Any:
    try:
        return value.__dlpack__(stream=stream, max_version=(1, 0))
    except TypeError:  # a library from before DLPack 1.0
        return value.__dlpack__(stream=stream)


def _examine(source: Any, what: str, subject: str) -> _native.ForeignTensor:
    try:
        return _native.examine(source) if what == "input" else _native.examine_writable(source)
    except TypeError as error:
        raise InvalidArgument(f"{subject}: the memory is read-only, or no DLPack tensor") from error
    except InvalidArgument as error:
        raise InvalidArgument(f"{subject}: {error}") from error


def _text(shape: tuple[int, ...]) -> str:
    return "x".join(str(extent) for extent in shape) or "scalar"
