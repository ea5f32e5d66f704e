"""Random inputs. Each function takes the generator, a shape and a type, and gives values on which an op
is well defined: no overflow of an integer, no logarithm of a negative number, no ties unless asked for."""

import numpy as np

from dtypes import is_float, is_integer, limits, name_of


def cast(values, dtype):
    return np.asarray(values).astype(np.dtype(dtype))


def ordinary(rng, shape, dtype, scale=1.0):
    """Normal floats; small integers; booleans."""
    if is_float(dtype):
        return cast(rng.standard_normal(shape) * scale, dtype)
    if np.dtype(dtype).kind == "b":
        return cast(rng.integers(0, 2, shape), dtype)
    low, high = limits(dtype)
    return cast(rng.integers(max(low, -9), min(high, 9) + 1, shape), dtype)


def between(rng, shape, dtype, low, high):
    if is_float(dtype):
        return cast(rng.uniform(low, high, shape), dtype)
    return cast(rng.integers(int(np.ceil(low)), int(high) + 1, shape), dtype)


def whole_range(rng, shape, dtype):
    """Every value of an integer type; floats over many magnitudes."""
    if np.dtype(dtype).kind == "b":
        return ordinary(rng, shape, dtype)
    if is_integer(dtype):
        low, high = limits(dtype)
        kind = np.uint64 if low == 0 else np.int64
        return cast(rng.integers(low, high, shape, dtype=kind, endpoint=True), dtype)
    exponent = 4 if name_of(dtype) == "float16" or name_of(dtype).startswith("float8") else 20
    return cast(rng.standard_normal(shape) * np.exp2(rng.uniform(-exponent, exponent, shape)), dtype)


def distinct(rng, shape, dtype):
    """No two alike, so that an order is decided; small enough to be exact in every type."""
    count = int(np.prod(shape, dtype=np.int64))
    values = rng.permutation(count)
    if is_float(dtype):
        return cast((values - count // 2) / 8, dtype).reshape(shape)
    low = limits(dtype)[0] if is_integer(dtype) else 0
    return cast(values - (count // 2 if low < 0 else 0), dtype).reshape(shape)


def special(rng, shape, dtype):
    """Ordinary floats with infinities, NaN and both zeros among them."""
    values = ordinary(rng, shape, np.float64, 3.0)
    picks = rng.integers(0, 12, np.shape(values))
    for index, value in enumerate((np.inf, -np.inf, np.nan, 0.0, -0.0)):
        values = np.where(picks == index, value, values)
    return cast(values, dtype)


def extreme(rng, shape, dtype):
    """special, and numbers up to a thousand."""
    values = special(rng, shape, np.float64)
    return cast(np.where(rng.random(shape) < 0.5, values, rng.uniform(-1000, 1000, shape)), dtype)


def halves(rng, shape, dtype):
    """Whole numbers and those in the middle between two."""
    return cast(rng.integers(-15, 16, shape) / 2, dtype)


def away_from(rng, shape, dtype, points, gap=0.05):
    """Ordinary values none of which is near a point where the op jumps."""
    values = ordinary(rng, shape, np.float64, 3.0)
    for point in points:
        side = np.where(values < point, -1.5, 1.5)
        values = np.where(np.abs(values - point) < gap, point + gap * side, values)
    return cast(values, dtype)


def nonzero(rng, shape, dtype):
    """Integers and floats away from zero."""
    if is_float(dtype):
        return cast(rng.uniform(0.25, 4, shape) * rng.choice([-1, 1], shape), dtype)
    values = rng.integers(1, 10, shape)
    return cast(values * (rng.choice([-1, 1], shape) if limits(dtype)[0] < 0 else 1), dtype)
