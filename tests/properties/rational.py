"""Quantisation as the standard defines it, in whole numbers and fractions: the reference has no rounding of
its own, so a code that differs is a wrong one."""

from fractions import Fraction

import ml_dtypes
import numpy as np

from dtypes import limits
from tolerance import exact

# The last places of f32 in a product of codes: its sum, its factor and their product are rounded once each.
ROUNDINGS = Fraction(3, 1 << 24)


def each(function, *operands):
    """An array of what the function makes of every element of operands that broadcast."""
    operands = np.broadcast_arrays(*[np.asarray(o) for o in operands])
    found = np.empty(operands[0].shape, object)
    for at in np.ndindex(found.shape):
        found[at] = function(*[o[at] for o in operands])
    return found


def nearest(value, dtype):
    """The number of a float type next to a fraction, ties to even; infinite beyond the largest."""
    if value == 0:
        return 0.0
    info = ml_dtypes.finfo(np.dtype(dtype))
    size = abs(value)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    exponent -= Fraction(2) ** exponent > size  # bit lengths are one too many where the mantissa says so
    quantum = Fraction(2) ** (max(exponent, int(info.minexp)) - int(info.nmant))
    found = round(value / quantum) * quantum
    if abs(found) > Fraction(float(info.max)):
        return float("inf") if value > 0 else float("-inf")
    return float(found)


def quotient(x, scale, precision):
    """x / scale, rounded once to the type in which the division takes place."""
    if np.isinf(x):
        return float(x)
    return nearest(Fraction(float(x)) / Fraction(float(scale)), precision)


def quotients(x, scale, precision):
    return each(lambda v, s: quotient(v, s, precision), x, scale)


def code(value, zero, low, high):
    """The nearest whole number plus the zero point, saturated."""
    if isinstance(value, float) and np.isinf(value):
        return high if value > 0 else low
    return min(max(round(Fraction(value)) + int(zero), low), high)


def codes(values, zero, dtype):
    low, high = limits(dtype)
    return each(lambda v, z: code(v, z, low, high), values, zero).astype(np.int64).astype(dtype)


def quantized_linear(x, scale, zero, precision, dtype):
    """QuantizeLinear to an integer type. scale, zero: one per element, or ones that broadcast."""
    return codes(quotients(x, scale, precision), zero, dtype)


def dynamic_range(x):
    """Scale and zero point of DynamicQuantizeLinear, each operation rounded to float32. Of a range that
    has no scale, of zeros or next to it, the scale is 1."""
    low, high = min(0.0, float(x.min())), max(0.0, float(x.max()))
    scale = nearest(Fraction(nearest(Fraction(high) - Fraction(low), np.float32)) / 255, np.float32)
    scale = scale or 1.0
    return scale, min(max(round(Fraction(quotient(-low, scale, np.float32))), 0), 255)


def fractions(values):
    return each(lambda v: Fraction(float(v)), values)


def is_power(value):
    """Whether a product with it is exact."""
    return value.numerator & (value.numerator - 1) == 0 and value.denominator & (value.denominator - 1) == 0


def near_tie(value, slack):
    return abs(value % 1 - Fraction(1, 2)) < slack


def requantized(values, slack, zero, dtype):
    """Codes of fractions, of which each may be off by the slack: 0 where f32 computes without rounding.
    Where that reaches the middle between two whole numbers, either of the two codes is right."""
    expected = exact(codes(values, zero, dtype))
    expected.undecided = each(near_tie, values, slack).astype(bool)
    return expected


def scaled_product(totals, factor, zero, dtype):
    """Codes of whole sums times a factor, which is a fraction or an array of them."""
    values = each(lambda total, by: int(total) * by, totals, factor)

    def slack(total, by, value):
        return 0 if is_power(by) and abs(total) <= 1 << 24 else abs(value) * ROUNDINGS

    return requantized(values, each(slack, totals, factor, values), zero, dtype)
