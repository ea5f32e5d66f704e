"""Element types of aicf in numpy.

numpy has no bfloat16, float8 or 4-bit types; the package ml_dtypes adds them. Where it is not installed,
tensors of these types are arrays of their bits (bfloat16 as uint16, the others as uint8), and so are
arrays of such bits taken.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from aicf.errors import InvalidArgument

_PLAIN = {
    "f32": np.float32,
    "f64": np.float64,
    "f16": np.float16,
    "i8": np.int8,
    "i16": np.int16,
    "i32": np.int32,
    "i64": np.int64,
    "u8": np.uint8,
    "u16": np.uint16,
    "u32": np.uint32,
    "u64": np.uint64,
    "bool": np.bool_,
}

# By aicf's name: that of ml_dtypes, and the type of the bits.
_ADDED = {
    "bf16": ("bfloat16", np.uint16),
    "i4": ("int4", np.int8),
    "u4": ("uint4", np.uint8),
    "i2": ("int2", np.int8),
    "u2": ("uint2", np.uint8),
    "f8e4m3fn": ("float8_e4m3fn", np.uint8),
    "f8e4m3fnuz": ("float8_e4m3fnuz", np.uint8),
    "f8e5m2": ("float8_e5m2", np.uint8),
    "f8e5m2fnuz": ("float8_e5m2fnuz", np.uint8),
    "f8e8m0": ("float8_e8m0fnu", np.uint8),
    "f4e2m1": ("float4_e2m1fn", np.uint8),
}


@functools.cache
def _added_type(name: str) -> np.dtype[Any] | None:
    try:
        import ml_dtypes
    except ImportError:
        return None
    scalar = getattr(ml_dtypes, name, None)
    return None if scalar is None else np.dtype(scalar)


def numpy_dtype(name: str) -> np.dtype[Any]:
    """numpy's type for an aicf element type ("f32", "bf16", ...).

    For a type that only ml_dtypes has and without that package: the type of its bits.
    Raises InvalidArgument for a name that is no element type.
    """
    if name in _PLAIN:
        return np.dtype(_PLAIN[name])
    if name not in _ADDED:
        raise InvalidArgument(f"'{name}' is no dtype")
    added, bits = _ADDED[name]
    return _added_type(added) or np.dtype(bits)


def dtype_name(array_dtype: np.dtype[Any], expected: str) -> str:
    """aicf's name for the type of an array that is meant as a tensor of `expected` type.

    Bits of an ml_dtypes type count as that type where it is expected. Raises InvalidArgument for a
    type that aicf does not have.
    """
    if expected in _ADDED:
        added, bits = _ADDED[expected]
        if array_dtype in (_added_type(added), np.dtype(bits)):
            return expected
    for name, scalar in _PLAIN.items():
        if array_dtype == np.dtype(scalar):
            return name
    for name, (added, _) in _ADDED.items():
        if array_dtype == _added_type(added):
            return name
    raise InvalidArgument(f"numpy type {array_dtype} has no counterpart in aicf (expected {expected})")
