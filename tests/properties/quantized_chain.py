"""A product between DequantizeLinear and QuantizeLinear, as quantised models have it: what a compiler may
multiply as the codes that are stored."""

from fractions import Fraction

import numpy as np

import domains
import extremes
import rational
from dtypes import limits
from windows import convolve, random_window

BYTES = (np.dtype(np.uint8), np.dtype(np.int8))
F32 = np.dtype(np.float32)
MOST_TERMS = (1 << 31) // 255**2  # products of two codes whose sum 32 bits hold


class Chain:
    """The nodes of one instance. A dequantised value is the name of a node's output."""

    def __init__(self, c):
        self.c = c
        # Scales of both operands: their product has float32's full precision, and so have weights alone.
        self.left = c.integer(-149, 99)
        self.right = c.integer(max(-118, -100 - self.left), min(99, 90 - self.left))
        self.powers = c.chance(0.6)
        # Every product of two codes is the largest there is, and there are so many that 32 bits do not hold
        # their sum.
        self.far = c.index % 16 == 15

    def scale(self, exponent, shape=(), spread=0):
        value = extremes.power(self.c, exponent, F32, shape, spread)
        value = value if self.powers else extremes.with_mantissa(self.c, value)
        return rational.fractions(self.c.input(value, constant=True)), self.c.order[-1]

    def operand(self, shape, exponent, constant, axis=None, spread=0):
        """(codes less zero points, scale, name of the dequantised value). axis: one scale for each position."""
        c = self.c
        dtype = c.choose(BYTES)
        codes = domains.whole_range(c.rng, shape, dtype)
        if self.far:
            codes = np.full(shape, limits(dtype)[1], dtype)
        codes = c.input(codes, constant=constant).astype(np.int64)
        data = c.order[-1]
        per = () if axis is None else (shape[axis],)
        scale, scale_name = self.scale(exponent, per, spread)
        inputs = [data, scale_name]
        zero = np.zeros(per, np.int64)
        if self.far or c.chance(0.8):
            zero = extremes.zero_points(c, per, dtype)
            if self.far:
                zero = np.full(per, limits(dtype)[0], dtype)
            zero = c.input(zero, constant=constant or None).astype(np.int64)
            inputs.append(c.order[-1])
        attributes = {} if axis is None else {"axis": axis - len(shape) if c.chance(0.4) else axis}
        output = c.node("DequantizeLinear", inputs, [f"d{len(c.nodes)}"], **attributes)[0]
        wide = [-1 if i == axis else 1 for i in range(len(shape))]
        return codes - (zero.reshape(wide) if axis is not None else zero), scale, output

    def bias(self, columns, unit):
        """Whole multiples of what a product of two codes of a column stands for."""
        multiples = self.c.rng.integers(-500, 500, (columns,))
        values = np.array([float(m * u) for m, u in zip(multiples, np.broadcast_to(unit, (columns,)))])
        return rational.fractions(self.c.input(values.astype(np.float32))), self.c.order[-1]

    def finish(self, values, magnitudes, terms):
        """QuantizeLinear of the result. values: fractions; magnitudes: sums of their terms' sizes."""
        c = self.c
        target = c.choose(BYTES)
        largest = max((abs(v) for v in values.reshape(-1)), default=1) or 1
        exponent = largest.numerator.bit_length() - largest.denominator.bit_length() - c.choose([6, 7, 8])
        scale, scale_name = self.scale(exponent)
        zero = c.input(extremes.zero_points(c, (), target))
        y = c.node("QuantizeLinear", ["y", scale_name, c.order[-1]], ["q"])[0]
        c.result(y.removeprefix(c.prefix))
        off = Fraction(0 if self.powers and not self.far else terms + 4, 1 << 24)
        return rational.requantized(values / scale, magnitudes / scale * off, zero, target)


def filter_product(c, chain):
    """Conv, with a filter's scales along axis 0."""
    spatial, window = random_window(c, 1, 2)
    group, take, per = c.choose([1, 1, 2, 3]), c.integer(1, 5), c.integer(1, 5)
    w_shape = (group * per, take, *window.kernel)
    x, x_scale, x_name = chain.operand((c.integer(1, 2), group * take, *spatial), chain.left, False)
    w, w_scale, w_name = chain.operand(w_shape, chain.right, c.chance(0.9), c.choose([None, 0]), 3)
    attributes = {**window.attributes(c, c.chance(0.5)), **({"group": group} if group > 1 else {})}
    totals, sizes = convolve(x, w, window, group), convolve(abs(x), abs(w), window, group)
    unit = np.reshape(x_scale * w_scale, -1)
    wide = unit.reshape(-1, *[1] * len(spatial))
    names = ["Conv", [x_name, w_name], attributes]
    return names, totals, sizes, unit, wide, w[0].size


def matrix_product(c, chain):
    """MatMul or Gemm, with a column's scales along the axis of columns."""
    m, k, n = c.integer(1, 9), c.choose([1, 3, 4, 16, 33]), c.integer(1, 20)
    if chain.far:
        m, k, n = 1, MOST_TERMS + 1, 1
    gemm = c.chance(0.5)
    across = gemm and c.chance(0.5)
    batch = () if gemm or chain.far else c.shape(0, 2, 6, zero=0)
    x, x_scale, x_name = chain.operand(batch + (m, k), chain.left, False)
    axis = c.choose([None, 0 if across else 1])
    w, w_scale, w_name = chain.operand((n, k) if across else (k, n), chain.right, c.chance(0.9), axis, 3)
    w = w.T if across else w
    unit = np.reshape(x_scale * w_scale, -1)
    names = ["Gemm" if gemm else "MatMul", [x_name, w_name], {"transB": 1} if across else {}]
    return names, x @ w, abs(x) @ abs(w), unit, unit, k


def scaled(sums, by):
    return rational.each(lambda s, f: int(s) * f, sums, by)


def product_between(c):
    chain = Chain(c)
    make = matrix_product if chain.far else c.choose([filter_product, matrix_product])
    (op, inputs, attributes), totals, sizes, unit, wide, terms = make(c, chain)
    values, magnitudes = scaled(totals, wide), scaled(sizes, wide)
    if op != "MatMul" and c.chance(0.5):
        columns = totals.shape[1]
        bias, name = chain.bias(columns, unit)
        inputs.append(name)
        bias = bias.reshape(-1, *[1] * (totals.ndim - 2))
        values, magnitudes = values + bias, magnitudes + abs(bias)
    c.node(op, inputs, ["y"], **attributes)
    return chain.finish(values, magnitudes, terms)
