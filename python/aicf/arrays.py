"""Arrays of the caller as the bytes of a tensor. Internal."""

from __future__ import annotations

from typing import Any

import numpy as np

from aicf import _native
from aicf.dtypes import dtype_name, numpy_dtype


def as_array(value: Any, expected: str) -> np.ndarray[Any, Any]:
    """`value` as a dense numpy array.

    What has a type of its own (an array, a numpy scalar) keeps it, so that a wrong one is found out;
    plain Python numbers and lists get the expected one.
    """
    if isinstance(value, (np.ndarray, np.generic)):
        return np.ascontiguousarray(value).reshape(np.shape(value))
    return np.asarray(value, dtype=numpy_dtype(expected), order="C")


def bits(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The bytes of a dense array, in one dimension, without a copy."""
    return array.reshape(-1).view(np.uint8)


def is_foreign(value: Any) -> bool:
    """Whether `value` is a tensor of another library, to be taken by DLPack."""
    return hasattr(value, "__dlpack__") and not isinstance(value, (np.ndarray, np.generic))


def host_tensor(
    value: Any, info: _native.TensorInfo
) -> tuple[str, str, list[int], np.ndarray[Any, Any]]:
    """(name, dtype, shape, bytes) of a value for the tensor that `info` describes."""
    if is_foreign(value):
        value = np.from_dlpack(value)
    array = as_array(value, info.dtype)
    return info.name, dtype_name(array.dtype, info.dtype), list(array.shape), bits(array)
