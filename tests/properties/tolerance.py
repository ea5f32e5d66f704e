"""How far a result may be from its reference, per element type. The one table of all properties.

A reference r is in float64. A result may differ by  ulps * ulp(r) + relative * scale,  where scale is the
magnitude of what was summed or subtracted on the way (given by the op's generator; 0 without sums).
Integers and booleans are equal.
"""

import ml_dtypes
import numpy as np

from dtypes import is_float, name_of

# The rounding of one operation; what a library function adds; the error of a sum, relative to the
# magnitude of its terms. float16 and bfloat16 are computed in float32 and rounded once, except where an
# op is a graph of smaller ones, whose intermediate results have its type.
#              round  function  relative
TABLE = {
    "float":    (1,   4,        1e-5),
    "double":   (1,   8,        1e-13),
    "float16":  (1,   1.5,      3e-3),
    "bfloat16": (1,   1.5,      2.4e-2),
}
KINDS = ("exact", "round", "function", "sum")


class Expected:
    """A reference: values, how they are compared, and the scale of a sum (see above). single: positions
    are computed in float32 whatever the data's type, so a double is as far off as a float."""

    def __init__(self, values, kind="function", scale=0.0, single=False):
        assert kind in KINDS
        self.values, self.kind, self.scale, self.single = np.asarray(values), kind, scale, single
        self.undecided = None


def exact(values):
    return Expected(values, "exact")


def rounded(values):
    return Expected(values, "round")


def near(values, scale):
    """scale: a number or an array that broadcasts to the values."""
    return Expected(values, "sum", scale)


def quantized(values, dtype):
    """Real numbers that are rounded to an integer type. Where one is next to the middle of two integers,
    either is right."""
    info = np.iinfo(dtype)
    expected = exact(np.clip(np.rint(values), info.min, info.max).astype(dtype))
    expected.undecided = np.abs(values - np.floor(values) - 0.5) < 1e-3
    return expected


def resampled(values, scale):
    """Like near, at positions that are computed in float32 (Resize's scales are float32)."""
    return Expected(values, "sum", scale, single=True)


def ulp(values, dtype):
    """Distance of neighbouring numbers of the type at each value."""
    info = ml_dtypes.finfo(np.dtype(dtype))
    smallest = float(info.smallest_subnormal)
    with np.errstate(all="ignore"):
        exponent = np.floor(np.log2(np.abs(values)))
        step = np.exp2(exponent - info.nmant)
    return np.where(np.isfinite(step), np.maximum(step, smallest), smallest)


def bound(expected, dtype):
    """Largest accepted |result - reference| per element."""
    one, function, relative = TABLE[name_of(dtype)]
    if expected.single:
        relative = max(relative, TABLE["float"][2])
    reference = expected.values.astype(np.float64)
    if expected.kind == "sum":
        scale = np.broadcast_to(np.asarray(expected.scale, np.float64), reference.shape)
        return function * ulp(reference, dtype) + relative * scale
    return (function if expected.kind == "function" else one) * ulp(reference, dtype)


def same(actual, wanted):
    """Equal, NaN included."""
    if is_float(actual.dtype):
        actual, wanted = actual.astype(np.float64), wanted.astype(np.float64)
        return (actual == wanted) | (np.isnan(actual) & np.isnan(wanted))
    return actual == wanted


def mismatches(actual, expected):
    """True where an element is not what was expected. REQUIRES: equal shapes."""
    with np.errstate(all="ignore"):
        wanted = expected.values.astype(actual.dtype)
        good = same(actual, wanted)
        if expected.undecided is not None:
            step = np.abs(actual.astype(np.int64) - wanted.astype(np.int64))
            good |= expected.undecided & (step <= 1)
        if expected.kind == "exact" or name_of(actual.dtype) not in TABLE:
            return ~good
        reference = expected.values.astype(np.float64)
        error = np.abs(actual.astype(np.float64) - reference)
        allowed = bound(expected, actual.dtype)
        largest = float(ml_dtypes.finfo(actual.dtype).max)
        overflow = np.isinf(actual.astype(np.float64)) & (np.abs(reference) + allowed > largest)
        overflow &= np.sign(reference) == np.sign(actual.astype(np.float64))
        return ~(good | (error <= allowed) | overflow)
