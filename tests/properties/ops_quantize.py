"""Conversions between types, and quantisation."""

import numpy as np

import domains
from dtypes import element, is_float, is_storage, largest, limits, name_of, numpy_type, precise
from registry import op
from tolerance import exact, rounded
from windows import convolve, random_window


def convertible(c, shape, source, target):
    """Values that the target type can take: what lies outside an integer type is undefined."""
    if is_storage(target) and is_float(target) and is_float(source) and c.chance(0.5):
        return domains.cast(c.rng.standard_normal(shape) * np.exp2(c.rng.uniform(-8, 10, shape)), source)
    if is_float(target) or target == np.bool_:
        return domains.ordinary(c.rng, shape, source, **({"scale": 3.0} if is_float(source) else {}))
    low, high = limits(target)
    if target.kind == "V" or not is_float(source):
        return domains.ordinary(c.rng, shape, source)
    low, high = max(low, -200), min(high, 200)
    return domains.between(c.rng, shape, source, low, high) if not is_storage(source) else \
        np.abs(domains.ordinary(c.rng, shape, np.float32)).astype(source)


def cast_types(c, parameter_in, parameter_out):
    source, target = c.dtype(parameter_in), c.choose(c.allowed(parameter_out))
    if c.chance(0.5):
        target = c.choose([t for t in c.allowed(parameter_out) if not is_storage(t)])
    return source, target


def saturated(values, target, saturate):
    """What the standard says of floats that 8 bits cannot hold: the largest value, or NaN / infinity."""
    result = values.astype(target)
    name = name_of(target)
    if not name.startswith("float8") and name != "float4e2m1":
        return result
    top = largest(target)
    values = values.astype(np.float64)
    if name == "float4e2m1" or saturate:
        return np.clip(values, -top, top).astype(target)
    return result


@op("Cast", storage=True, oldest=6)
def cast(c):
    source, target = cast_types(c, "T1", "T2")
    if "float8e8m0" in (name_of(source), name_of(target)):  # see test_cast_e8m0 in the standard's suite
        source = np.dtype(np.float32) if name_of(source) == "float8e8m0" else source
        target = np.dtype(np.float16) if name_of(target) == "float8e8m0" else target
        c.types["T1"] = source
    x = convertible(c, c.shape(), source, target)
    c.input(x)
    c.attr(to=element(target))
    return exact(converted(c, x, source, target))


def converted(c, x, source, target):
    saturate = 1
    if c.has_attribute("saturate") and name_of(target).startswith("float8") and c.chance(0.4):
        saturate = 0
        c.attr(saturate=0)
    values = precise(x)
    if is_float(source) and not is_float(target) and target != np.bool_:
        values = np.trunc(values)
        if is_storage(target):
            low, high = limits(target)
            values = values.astype(np.int64)
            return wrap(values, low, high).astype(target)
    if not is_float(source) and is_storage(target) and not is_float(target):
        low, high = limits(target)
        return wrap(x.astype(np.int64), low, high).astype(target)
    if is_storage(source) and not is_float(source):
        values = x.astype(np.int64)
    return saturated(values, target, saturate)


def wrap(values, low, high):
    """The low bits."""
    return (values - low) % (high - low + 1) + low


@op("CastLike", storage=True, oldest=15)
def cast_like(c):
    source, target = cast_types(c, "T1", "T2")
    if "float8e8m0" in (name_of(source), name_of(target)):
        source, target = np.dtype(np.float32), np.dtype(np.float16)
        c.types["T1"] = source
    x = convertible(c, c.shape(), source, target)
    c.input(x)
    c.input(domains.ordinary(c.rng, c.shape(0, 2), target))
    return exact(converted(c, x, source, target))


# ---- QuantizeLinear and DequantizeLinear

def parameters(c, shape):
    """Shape of scale and zero point, the axis, the block size: per tensor, per axis, or blocked."""
    forms = ["tensor", "tensor"]
    if c.has_attribute("axis") and len(shape) > 0:
        forms += ["axis", "axis"]
    if c.has_attribute("block_size") and len(shape) > 0:
        forms += ["block"]
    form = c.choose(forms)
    if form == "tensor":
        return (), None, 0
    axis = c.axis(len(shape))
    c.attr(**({"axis": axis} if axis != 1 or c.chance(0.5) or len(shape) == 1 else {}))
    if form == "axis":
        return (shape[axis],), axis, 0
    block = c.integer(1, max(shape[axis], 1))
    c.attr(block_size=block)
    dims = list(shape)
    dims[axis] = -(-shape[axis] // block)
    return tuple(dims), axis, block


def stretch(values, shape, axis, block):
    """Scale or zero point, one per element of the data."""
    if axis is None:
        return np.broadcast_to(values, shape)
    if block == 0:
        return np.broadcast_to(values.reshape([-1 if i == axis % len(shape) else 1
                                               for i in range(len(shape))]), shape)
    return np.take(np.repeat(values, block, axis), range(shape[axis]), axis)


def quantized_types(c, names):
    return [numpy_type(n) for n in names if numpy_type(n) in c.allowed(
        "T3" if len(c.schema.type_constraints) > 2 else "T2")]


@op("QuantizeLinear", storage=True, oldest=10)
def quantize(c):
    shape = c.shape(0, 4, 200)
    x_type = c.dtype("T1", among=lambda t: is_float(t))
    outs = quantized_types(c, ["uint8", "int8", "uint8", "int8", "int16", "uint16", "int4", "uint4",
                               "float8e4m3fn", "float8e5m2"])
    target = c.choose(outs)
    s_shape, axis, block = parameters(c, shape)
    exponents = c.rng.integers(-4, 1, s_shape)  # powers of two: the quotient has no rounding of its own
    scale = np.exp2(exponents)
    x = domains.cast(c.rng.integers(-400, 400, shape) / 64 * 1.0, x_type)
    c.input(x)
    # The scale has the data's type: a float32 scale beside float16 data has another precision rule.
    c.input(scale.astype(x_type))
    zero = np.zeros(s_shape, target)
    has_zero = c.chance(0.7) or target != np.uint8
    if has_zero:
        if not is_float(target):
            low, high = limits(target)
            zero = c.rng.integers(max(low, -20), min(high, 20), s_shape).astype(target)
        c.input(zero)
    q = precise(x) / stretch(scale, shape, axis, block)
    if is_float(target):
        return exact(saturated(q, target, 1))
    low, high = limits(target)
    q = np.rint(q) + stretch(zero.astype(np.int64), shape, axis, block)
    return exact(np.clip(q, low, high).astype(np.int64).astype(target))


@op("DequantizeLinear", storage=True, oldest=10)
def dequantize(c):
    shape = c.shape(0, 4, 200)
    options = [t for t in c.allowed("T1" if len(c.schema.type_constraints) > 1 else "T")
               if name_of(t) not in ("float8e4m3fnuz", "float8e5m2fnuz", "float8e8m0")]
    source = options[c.index % len(options)]
    s_shape, axis, block = parameters(c, shape)
    kinds = c.allowed("T2") if len(c.schema.type_constraints) > 1 else [np.dtype(np.float32)]
    kinds = [k for k in kinds if is_float(k) and not is_storage(k)]
    kind = c.choose(kinds or [np.dtype(np.float32)])
    x = domains.ordinary(c.rng, shape, source)
    c.input(x)
    scale = domains.between(c.rng, s_shape, kind, 0.1, 2)
    c.input(scale)
    zero = np.zeros(s_shape)
    if c.chance(0.6):
        value = np.zeros(s_shape, source)
        if not is_float(source) and source != np.int32:
            low, high = limits(source)
            value = c.rng.integers(max(low, -5), min(high, 6), s_shape).astype(source)
        c.input(value)
        zero = value.astype(np.float64)
    c.types["T3"] = c.types["T2"] = kind
    y = (x.astype(np.float64) - stretch(zero, shape, axis, block)) * stretch(
        scale.astype(np.float64), shape, axis, block)
    return rounded(y)


@op("DynamicQuantizeLinear")
def dynamic_quantize(c):
    """The range is a multiple of 255/64, so that no quotient is next to the middle of two integers."""
    shape = c.shape(1, 3, zero=0)
    x = c.rng.integers(-100, 101, shape) / 64
    flat = x.reshape(-1)
    flat[0] = 155 / 64
    if flat.size > 1:
        flat[1] = -100 / 64
    else:
        flat[0] = 255 / 64
    c.input(x.astype(np.float32))
    c.outputs(3)
    low, high = min(0, x.min()), max(0, x.max())
    scale = (high - low) / 255
    zero = np.clip(np.rint(-low / scale), 0, 255)
    y = np.clip(np.rint(x / scale) + zero, 0, 255).astype(np.uint8)
    return [y, exact(np.asarray(scale)), np.asarray(zero, np.uint8)]


def quantized_operand(c, shape, parameter, per=None):
    """x, scale, zero point as three operands; the values they stand for, as whole numbers and a scale.
    Scales are powers of two, which a product and a requantisation keep exact."""
    x = c.draw(shape, parameter, domain=domains.whole_range)
    s_shape = () if per is None else (per,)
    scale = c.input(np.exp2(c.rng.integers(-6, -2, s_shape)).astype(np.float32))
    zero = c.draw(s_shape, parameter)
    return x.astype(np.int64), scale, zero.astype(np.int64)


def requantize(c, values, parameter):
    """Output scale and zero point as operands; the rounded result."""
    scale = c.input(np.exp2(np.asarray(c.integer(-2, 3))).astype(np.float32))
    zero = c.draw((), parameter)
    dtype = c.dtype(parameter)
    low, high = limits(dtype)
    return np.clip(np.rint(values / scale) + zero, low, high).astype(dtype)


def only_8_bits(t):
    return name_of(t) in ("int8", "uint8")


@op("QLinearMatMul", oldest=10)
def qlinear_matmul(c):
    m, k, n = c.integer(1, 9), c.choose([1, 4, 15, 33]), c.integer(1, 9)
    batch = c.shape(0, 2, 6, zero=0)
    for parameter in ("T1", "T2", "T3"):
        c.dtype(parameter, only_8_bits)
    if c.version >= 21:
        c.types["TS"] = np.dtype(np.float32)
    a, a_scale, a_zero = quantized_operand(c, batch + (m, k), "T1")
    b, b_scale, b_zero = quantized_operand(c, c.broadcast_of(batch) + (k, n), "T2")
    total = np.matmul(a - a_zero, b - b_zero) * (a_scale * b_scale)
    return requantize(c, total, "T3")


@op("QLinearConv", oldest=10)
def qlinear_conv(c):
    spatial, window = random_window(c, 1, 2)
    group, take, per = c.choose([1, 1, 2]), c.integer(1, 3), c.integer(1, 3)
    x, x_scale, x_zero = quantized_operand(c, (c.integer(1, 2), group * take, *spatial), "T1")
    channels = group * per
    w, w_scale, w_zero = quantized_operand(c, (channels, take, *window.kernel), "T2",
                                           channels if c.chance(0.4) else None)
    wide = (-1,) + (1,) * (w.ndim - 1)
    w = w - (w_zero.reshape(wide) if w_zero.ndim else w_zero)
    total = convolve(x - x_zero, w, window, group)
    out_scale = c.input(np.exp2(np.asarray(c.integer(-2, 3))).astype(np.float32))
    zero = c.draw((), "T3")
    if c.chance(0.5):
        bias = c.input(c.rng.integers(-500, 500, (channels,)).astype(np.int32))
        total = total + bias.astype(np.int64).reshape(-1, *[1] * len(spatial))
    c.attr(**window.attributes(c, c.chance(0.5)), **({"group": group} if group > 1 else {}))
    scale = w_scale.reshape(-1, *[1] * len(spatial)) if w_scale.ndim else w_scale
    low, high = limits(c.dtype("T3"))
    y = np.rint(total * (x_scale * scale) / out_scale) + zero
    return np.clip(y, low, high).astype(c.dtype("T3"))


