"""Ops of two or more operands, element by element, with broadcasting."""

import numpy as np

import domains
from dtypes import is_float, limits
from ops_unary import maybe, sigmoid
from registry import op
from tolerance import exact, near, rounded



def two_shapes(c):
    """Shapes that broadcast with each other; either may be the larger one."""
    if c.has_attribute("broadcast"):
        return older_shapes(c)
    full = c.shape(0, 5, 300)
    shapes = [full, c.broadcast_of(full)]
    if c.chance(0.2):  # both are broadcast
        shapes = [c.broadcast_of(full), c.broadcast_of(full)]
    return shapes[::-1] if c.chance(0.5) else shapes


def older_shapes(c):
    """Before opset 7 the second operand has neighbouring axes of the first, the last ones by default."""
    full = c.shape(1, 4, 200, zero=0)
    if c.chance(0.3):
        return full, full
    low = c.integer(0, len(full) - 1)
    high = c.integer(low + 1, len(full)) if c.chance(0.6) else len(full)
    c.attr(broadcast=1, **({"axis": low} if high < len(full) or c.chance(0.4) else {}))
    c.second = full[low:high] + (1,) * (len(full) - high)
    return full, full[low:high]


def aligned(c, second):
    """The second operand as numpy broadcasts it."""
    return second.reshape(c.second) if hasattr(c, "second") else second


def wrap(values, dtype):
    """Integer arithmetic modulo 2^n is what no generator here relies on: values are small."""
    return np.asarray(values).astype(dtype)


def arithmetic(name, function):
    @op(name, oldest=1)
    def make(c):
        a_shape, b_shape = two_shapes(c)
        if name == "Sub" and not is_float(c.dtype()) and limits(c.dtype())[0] == 0:
            a = c.draw(a_shape, domain=domains.between, low=50, high=90)
            b = aligned(c, c.draw(b_shape, domain=domains.between, low=0, high=50))
            return exact(wrap(a - b, c.dtype()))
        special = is_float(c.dtype()) and c.chance(0.2)
        domain = domains.special if special else domains.ordinary
        a, b = c.draw(a_shape, domain=domain), aligned(c, c.draw(b_shape, domain=domain))
        if special:
            with np.errstate(all="ignore"):
                return rounded(function(a, b))
        return rounded(function(a, b)) if is_float(c.dtype()) else exact(wrap(function(a, b), c.dtype()))


for _name, _function in {"Add": np.add, "Sub": np.subtract, "Mul": np.multiply}.items():
    arithmetic(_name, _function)


@op("Div", oldest=1)
def div(c):
    a_shape, b_shape = two_shapes(c)
    special = is_float(c.dtype()) and c.chance(0.2)
    a = c.draw(a_shape, domain=domains.special if special else domains.ordinary)
    b = aligned(c, c.draw(b_shape, domain=domains.special if special else domains.nonzero))
    if is_float(c.dtype()):
        with np.errstate(all="ignore"):
            return rounded(a / b)
    a, b = a.astype(np.int64), b.astype(np.int64)  # integers: towards zero
    return exact((np.sign(a) * np.sign(b) * (np.abs(a) // np.abs(b))).astype(c.dtype()))


@op("Mod")
def mod(c):
    a_shape, b_shape = two_shapes(c)
    # fmod=0 is for integers; for them fmod=1 is C's %.
    fmod = is_float(c.dtype()) or c.chance(0.4)
    if fmod or c.chance(0.4):
        c.attr(fmod=int(fmod))
    if is_float(c.dtype()):
        a = c.draw(a_shape, domain=domains.halves)
        return exact(np.fmod(a, c.draw(b_shape, domain=domains.between, low=0.6, high=3.0)))
    a, b = c.draw(a_shape), c.draw(b_shape, domain=domains.nonzero)
    return exact((np.fmod if fmod else np.mod)(a, b))


@op("Pow")
def power(c):
    a_shape, b_shape = two_shapes(c)
    base, exponent = c.dtype("T"), c.dtype("T1") if c.version > 7 else c.dtype("T")
    if is_float(base) and is_float(exponent):
        whole = c.chance(0.3)  # then a base may be negative
        a = c.draw(a_shape, domain=domains.nonzero if whole else domains.between,
                   **({} if whole else {"low": 0.1, "high": 4}))
        b = c.draw(b_shape, exponent, domain=domains.between, low=-3, high=3)
        b = c.rewrite(np.rint(b)) if whole else b
        return np.power(a, b)
    if is_float(base):
        a = c.draw(a_shape, domain=domains.nonzero)
        low = -3 if limits(exponent)[0] < 0 else 0
        b = c.draw(b_shape, exponent, domain=domains.between, low=low, high=3)
        return np.power(a, b.astype(np.float64))
    a = c.draw(a_shape, domain=domains.between, low=1, high=5)
    b = c.draw(b_shape, exponent, domain=domains.between, low=0, high=3)
    if is_float(exponent):  # a fractional power is truncated: next to a whole number by its last bit
        b = c.rewrite(np.rint(b))
    return exact(np.power(a.astype(np.float64), b.astype(np.float64)).astype(base))


def comparison(name, function):
    @op(name, oldest=1)
    def make(c):
        a_shape, b_shape = two_shapes(c)
        domain = domains.special if is_float(c.dtype()) and c.chance(0.3) else domains.ordinary
        return function(c.draw(a_shape, domain=domain), aligned(c, c.draw(b_shape, domain=domain)))


for _name, _function in {"Equal": np.equal, "Greater": np.greater, "Less": np.less,
                         "GreaterOrEqual": np.greater_equal, "LessOrEqual": np.less_equal}.items():
    comparison(_name, _function)


def logical(name, function):
    @op(name, oldest=1)
    def make(c):
        a_shape, b_shape = two_shapes(c)
        return function(c.draw(a_shape, np.bool_), aligned(c, c.draw(b_shape, np.bool_)))


for _name, _function in {"And": np.logical_and, "Or": np.logical_or, "Xor": np.logical_xor}.items():
    logical(_name, _function)


def bitwise(name, function):
    @op(name)
    def make(c):
        a_shape, b_shape = two_shapes(c)
        return function(c.draw(a_shape, domain=domains.whole_range),
                        c.draw(b_shape, domain=domains.whole_range))


for _name, _function in {"BitwiseAnd": np.bitwise_and, "BitwiseOr": np.bitwise_or,
                         "BitwiseXor": np.bitwise_xor}.items():
    bitwise(_name, _function)


@op("BitShift", also=(11,))
def bit_shift(c):
    a_shape, b_shape = two_shapes(c)
    a = c.draw(a_shape, domain=domains.whole_range)
    bits = 8 * c.dtype().itemsize
    signed = limits(c.dtype())[0] < 0
    # Opset 28 says what a shift by a negative number, or by all bits and more, gives; before it is open.
    low, high = (-2 if signed else 0, bits + 3) if c.version >= 28 else (0, bits - 1)
    b = c.draw(b_shape, domain=domains.between, low=low, high=high)
    direction = c.choose(["LEFT", "RIGHT"])
    c.attr(direction=direction)
    inside = (b >= 0) & (b < bits)
    by = np.where(inside, b, 0).astype(b.dtype)
    if direction == "LEFT":
        return np.where(inside, np.left_shift(a, by), np.zeros_like(a))
    return np.where(inside, np.right_shift(a, by), np.where(a < 0, ~np.zeros_like(a), np.zeros_like(a)))


def variadic(name, function, is_sum):
    @op(name)
    def make(c):
        full = c.shape(0, 4, 200)
        count = c.integer(1, 5)
        values = [c.draw(full if i == 0 else c.broadcast_of(full)) for i in range(count)]
        total = function(values)
        if is_sum:
            return near(total, sum(np.abs(v) for v in values))
        return exact(wrap(total, c.dtype()) if not is_float(c.dtype()) else total)


def fold(function):
    def apply(values):
        total = values[0]
        for value in values[1:]:
            total = function(total, value)
        return total
    return apply


variadic("Max", fold(np.maximum), False)
variadic("Min", fold(np.minimum), False)
variadic("Sum", fold(np.add), True)
variadic("Mean", lambda values: fold(np.add)(values) / len(values), True)


@op("Where")
def where(c):
    full = c.shape(0, 4, 200)
    condition = c.draw(c.broadcast_of(full), np.bool_)
    return exact(np.where(condition, c.draw(full), c.draw(c.broadcast_of(full))))


@op("PRelu")
def prelu(c):
    shape = c.shape(1, 4)
    x = c.draw(shape)
    slope = c.draw(c.broadcast_of(shape))
    values = np.where(x < 0, x * slope, x)
    return rounded(values) if is_float(c.dtype()) else exact(values.astype(c.dtype()))


@op("Clip", oldest=6)
def clip(c):
    scale = 3.0 if is_float(c.dtype()) else 1.0
    x = c.draw(c.shape(), scale=scale)
    low, high = sorted((c.uniform(-3, 3), c.uniform(-3, 3)))
    if c.has_attribute("min"):
        low = maybe(c, "min", -np.inf, low, low)
        return exact(np.minimum(np.maximum(x, low), maybe(c, "max", np.inf, high, high)))
    unsigned = not is_float(c.dtype()) and limits(c.dtype())[0] == 0
    if c.chance(0.15):
        low, high = high, low  # everything becomes the maximum
    bounds = [None, None]
    for i, bound in enumerate((low, high)):
        if c.chance(0.3):
            c.skip()
        else:
            value = abs(round(bound)) if unsigned else bound
            bounds[i] = c.input(np.array(value).astype(c.dtype()))
    x = x if bounds[0] is None else np.maximum(x, bounds[0])
    return exact(x if bounds[1] is None else np.minimum(x, bounds[1]))


@op("SwiGLU")
def swiglu(c):
    shape = c.shape(1, 4)
    a, b = c.draw(shape), c.draw(shape)
    alpha = maybe(c, "alpha", 1.0, 0.3, 3)
    return near(a * sigmoid(alpha * a) * b, np.abs(a * b))
