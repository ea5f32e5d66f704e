"""Scales from the smallest denormal number to 1e30, zero points at both ends of their type, and numbers that
lie where rounding decides."""

import numpy as np

from dtypes import is_float, largest, limits, name_of

# Powers of two that are scales: from a type's smallest number on; for the wide types up to about 1e30.
EXPONENTS = {"float": (-149, 99), "float16": (-24, 15), "bfloat16": (-133, 99)}


def exponent_range(dtype):
    return EXPONENTS[name_of(dtype)]


def scales(c, shape, dtype, powers=None):
    """Each of another magnitude; powers of two only, or any mantissa."""
    low, high = exponent_range(dtype)
    exponents = c.rng.integers(low, high, shape, endpoint=True)
    powers = c.chance(0.5) if powers is None else powers
    mantissas = np.ones(shape) if powers else c.rng.uniform(1, 2, shape)
    return (mantissas * np.exp2(exponents)).astype(dtype)


def power(c, exponent, dtype, shape=(), spread=0):
    """2^exponent, or numbers up to 2^spread beside it, within the type's scales."""
    low, high = exponent_range(dtype)
    exponents = exponent + c.rng.integers(-spread, spread, shape, endpoint=True)
    return np.exp2(np.clip(exponents, low, high)).astype(dtype)


def with_mantissa(c, values):
    """Numbers of the same magnitudes that are no powers of two."""
    return (values.astype(np.float64) * c.rng.uniform(1, 2, values.shape)).astype(values.dtype)


def product_exponents(c, dtype, gain):
    """Exponents of two operands' scales and of the result's: scale * scale / result is about 2^-gain where
    the type has such numbers, and where it has none, results saturate or vanish."""
    low, high = exponent_range(dtype)
    left, result = c.integer(low, high), c.integer(low, high)
    right = min(max(result - left - gain, low), high)
    return left, right, min(max(left + right + gain, low), high) if c.chance(0.9) else result


def zero_points(c, shape, dtype):
    """The least, the largest, or any."""
    low, high = limits(dtype)
    ends = np.where(c.rng.random(shape) < 0.5, low, high)
    any_one = c.rng.integers(low, high, shape, endpoint=True)
    return np.where(c.rng.random(shape) < 0.6, ends, any_one).astype(dtype)


def around_codes(c, scale, zero, dtype, target):
    """Numbers of `dtype` whose quotients by the scale lie in and beside the range of the target's codes, half of
    them in the middle between two whole numbers; some are 0, infinite, or the ends of the type."""
    shape = np.shape(scale)
    if is_float(target):
        low, high = -1.2 * largest(target), 1.2 * largest(target)
    else:
        low, high = (end - np.asarray(zero, np.float64) for end in limits(target))
    wanted = c.rng.uniform(low - 3, high + 3, shape)
    wanted = np.where(c.rng.random(shape) < 0.5, np.floor(wanted) + 0.5, wanted)
    with np.errstate(over="ignore"):
        values = (wanted * np.asarray(scale, np.float64)).astype(dtype)
    tiny = np.exp2(float(exponent_range(dtype)[0]))
    for index, value in enumerate((0.0, -0.0, np.inf, -np.inf, tiny, -tiny, largest(dtype))):
        values = np.where(c.rng.integers(0, 60, shape) == index, np.asarray(value).astype(dtype), values)
    return values.astype(dtype)
