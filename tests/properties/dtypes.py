"""Element types: their ONNX names, how the tools' .npy files carry them, and their limits."""

import ml_dtypes
import numpy as np
from onnx import helper

# ONNX's type string -> numpy type. What an expression computes with.
COMPUTE = {
    "float": np.float32, "double": np.float64, "float16": np.float16,
    "bfloat16": ml_dtypes.bfloat16, "int8": np.int8, "int16": np.int16, "int32": np.int32,
    "int64": np.int64, "uint8": np.uint8, "uint16": np.uint16, "uint32": np.uint32,
    "uint64": np.uint64, "bool": np.bool_,
}
# What is stored and converted only.
STORAGE = {
    "int4": ml_dtypes.int4, "uint4": ml_dtypes.uint4, "int2": ml_dtypes.int2,
    "uint2": ml_dtypes.uint2, "float8e4m3fn": ml_dtypes.float8_e4m3fn,
    "float8e4m3fnuz": ml_dtypes.float8_e4m3fnuz, "float8e5m2": ml_dtypes.float8_e5m2,
    "float8e5m2fnuz": ml_dtypes.float8_e5m2fnuz, "float8e8m0": ml_dtypes.float8_e8m0fnu,
    "float4e2m1": ml_dtypes.float4_e2m1fn,
}
NAMES = {np.dtype(t): name for name, t in {**COMPUTE, **STORAGE}.items()}
FLOATS = ("float", "double", "float16", "bfloat16")
SMALL_INTEGERS = ("int4", "uint4", "int2", "uint2")


def name_of(dtype):
    return NAMES[np.dtype(dtype)]


def element(dtype):
    """ONNX's number of the type."""
    return helper.np_dtype_to_tensor_dtype(np.dtype(dtype))


def numpy_type(name):
    return np.dtype(COMPUTE[name] if name in COMPUTE else STORAGE[name])


def is_float(dtype):
    return np.dtype(dtype).kind == "f" or "float" in np.dtype(dtype).name


def is_integer(dtype):
    return not is_float(dtype) and np.dtype(dtype).kind != "b"


def is_storage(dtype):
    return name_of(dtype) in STORAGE


def limits(dtype):
    """Least and largest value of an integer type."""
    info = ml_dtypes.iinfo(np.dtype(dtype))
    return int(info.min), int(info.max)


def largest(dtype):
    return float(ml_dtypes.finfo(np.dtype(dtype)).max)


def to_npy(array):
    """As the tools read it: what numpy lacks travels in a type of the same width."""
    name = name_of(array.dtype)
    if name == "bfloat16":
        return array.view(np.uint16)
    if name in SMALL_INTEGERS:
        return array.astype(np.uint8 if name.startswith("u") else np.int8)
    return array.view(np.uint8) if name in STORAGE else np.asarray(array, order="C")


def from_npy(array, name):
    """Inverse of to_npy for an output whose type has this ONNX name."""
    dtype = numpy_type(name)
    if name in SMALL_INTEGERS:
        return array.astype(dtype)
    return array.view(dtype) if name == "bfloat16" or name in STORAGE else array


def precise(array):
    """The same values in the precision references are computed in."""
    return array.astype(np.float64) if is_float(array.dtype) else array
