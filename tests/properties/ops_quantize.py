"""Conversions between types, and quantisation."""

import numpy as np

import domains
import extremes
import rational
from dtypes import element, is_float, is_storage, largest, limits, name_of, numpy_type, precise
from quantized_chain import product_between
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

AXES = [(rank, axis) for rank in range(1, 5) for axis in range(-rank, rank)]


def coded_shape(c):
    """A shape, and the axis that has scales of its own: in every fourth instance each axis in turn, from either
    end; in the others None, and parameters() decides."""
    if c.index % 4 != 1 or not c.has_attribute("axis"):
        return c.shape(0, 4, 200), None
    rank, axis = AXES[c.index // 4 % len(AXES)]
    return c.shape(rank, rank, 200), axis


def parameters(c, shape, axis):
    """Shape of scale and zero point, the axis, the block size: per tensor, per axis, or blocked. axis: from
    coded_shape()."""
    if axis is not None:
        c.attr(axis=axis)
        return (shape[axis],), axis, 0
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


TARGETS = ("uint8", "int8", "int16", "uint16", "int4", "uint4", "int2", "uint2", "float8e4m3fn", "float8e5m2",
           "float4e2m1")


def quantized_types(c):
    parameter = "T3" if len(c.schema.type_constraints) > 2 else "T2"
    return [numpy_type(n) for n in TARGETS if numpy_type(n) in c.allowed(parameter)]


def scale_type(c, x_type):
    """The data's type; where it may be another, float32 beside 16 bits now and then: then that divides."""
    own = len(c.schema.type_constraints) > 2
    return np.dtype(np.float32) if own and c.chance(0.3) else x_type


@op("QuantizeLinear", storage=True, oldest=10, weight=4)
def quantize(c):
    shape, axis = coded_shape(c)
    x_type = c.dtype("T1", among=lambda t: is_float(t))
    outs = quantized_types(c)
    target = outs[c.index % len(outs)]
    s_shape, axis, block = parameters(c, shape, axis)
    s_type = scale_type(c, x_type)
    scale = extremes.scales(c, s_shape, s_type)
    left_out = c.chance(0.2) and (target == np.uint8 or c.has_attribute("output_dtype"))
    zero = np.zeros(s_shape, target)
    if not left_out and not is_float(target):
        zero = extremes.zero_points(c, s_shape, target)
    wide = stretch(scale.astype(np.float64), shape, axis, block)
    middle = stretch(zero.astype(np.float64), shape, axis, block)
    x = c.input(extremes.around_codes(c, wide, middle, x_type, target))
    c.input(scale)
    if not left_out:
        c.input(zero)
    elif target != np.uint8:
        c.attr(output_dtype=element(target))
    if is_float(target):
        return exact(saturated(rational.quotients(x, wide, s_type).astype(np.float64), target, 1))
    return exact(rational.quantized_linear(x, wide, middle, s_type, target))


@op("DequantizeLinear", storage=True, oldest=10, weight=4)
def dequantize(c):
    """A difference of codes is exact in float32, so the product is all that rounds; 16 bits round once more."""
    if c.index % 4 == 3:
        return product_between(c)
    shape, axis = coded_shape(c)
    options = [t for t in c.allowed("T1" if len(c.schema.type_constraints) > 1 else "T")
               if name_of(t) not in ("float8e4m3fnuz", "float8e5m2fnuz", "float8e8m0")]
    source = options[c.index % len(options)]
    s_shape, axis, block = parameters(c, shape, axis)
    kinds = c.allowed("T2") if len(c.schema.type_constraints) > 1 else [np.dtype(np.float32)]
    kinds = [k for k in kinds if is_float(k) and not is_storage(k)]
    kind = c.choose(kinds or [np.dtype(np.float32)])
    x = c.input(domains.whole_range(c.rng, shape, source))
    scale = c.input(extremes.scales(c, s_shape, kind))
    zero = np.zeros(s_shape)
    if c.chance(0.7):
        value = np.zeros(s_shape, source)
        if not is_float(source) and source != np.int32:
            value = extremes.zero_points(c, s_shape, source)
        c.input(value)
        zero = value.astype(np.float64)
    c.types["T3"] = c.types["T2"] = kind
    x = x.astype(np.float32) if source == np.int32 else x  # 32 bits are rounded before they are scaled
    y = (x.astype(np.float64) - stretch(zero, shape, axis, block)) * stretch(scale, shape, axis, block)
    return exact(y) if name_of(kind) == "float" else rounded(y)


@op("DynamicQuantizeLinear", weight=2)
def dynamic_quantize(c):
    """Of any range: from denormal numbers to nearly the largest."""
    shape = c.shape(1, 3, zero=0)
    x = (c.rng.standard_normal(shape) + c.choose([0, 0, -9, 9])) * np.exp2(c.integer(-149, 120))
    x = c.input(np.zeros(shape, np.float32) if c.chance(0.1) else x.astype(np.float32))
    c.outputs(3)
    scale, zero = rational.dynamic_range(x)
    y = rational.quantized_linear(x, scale, zero, np.float32, np.uint8)
    return [exact(y), exact(np.float32(scale)), exact(np.uint8(zero))]


def quantized_operand(c, shape, parameter, exponent, scale_type, per=None):
    """Codes, scale, zero point as three operands; the codes less the zero point, and the scale as fractions.
    Half of the scales are powers of two, with which a product is exact."""
    dtype = c.dtype(parameter)
    x = c.draw(shape, parameter, domain=domains.whole_range)
    s_shape = () if per is None else (per,)
    scale = extremes.power(c, exponent, scale_type, s_shape, 0 if per is None else 3)
    if c.index % 2:
        scale = extremes.with_mantissa(c, scale)
    scale = c.input(scale)
    zero = c.input(extremes.zero_points(c, s_shape, dtype))
    return x.astype(np.int64), rational.fractions(scale), zero.astype(np.int64)


def result_operands(c, exponent, scale_type):
    """The result's scale and zero point as operands; the scale as a fraction."""
    scale = c.input(extremes.power(c, exponent, scale_type))
    zero = c.input(extremes.zero_points(c, (), c.dtype("T3")))
    return rational.fractions(scale)[()], int(zero)


def only_8_bits(t):
    return name_of(t) in ("int8", "uint8")


def by_row(values):
    return values.reshape(-1, 1) if values.ndim else values


@op("QLinearMatMul", oldest=10, weight=2)
def qlinear_matmul(c):
    m, k, n = c.integer(1, 9), c.choose([1, 4, 15, 33]), c.integer(1, 9)
    batch = c.shape(0, 2, 6, zero=0)
    for parameter in ("T1", "T2", "T3"):
        c.dtype(parameter, only_8_bits)
    scale_type = c.dtype("TS") if c.version >= 21 else np.dtype(np.float32)
    left, right, result = extremes.product_exponents(c, scale_type, 10)
    rows = m if not batch and c.chance(0.3) else None
    columns = n if c.chance(0.3) else None
    a, a_scale, a_zero = quantized_operand(c, batch + (m, k), "T1", left, scale_type, rows)
    b_shape = (() if columns else c.broadcast_of(batch)) + (k, n)
    b, b_scale, b_zero = quantized_operand(c, b_shape, "T2", right, scale_type, columns)
    scale, zero = result_operands(c, result, scale_type)
    totals = np.matmul(a - by_row(a_zero), b - b_zero)
    return rational.scaled_product(totals, by_row(a_scale) * b_scale / scale, zero, c.dtype("T3"))


@op("QLinearConv", oldest=10, weight=2)
def qlinear_conv(c):
    spatial, window = random_window(c, 1, 2)
    group, take, per = c.choose([1, 1, 2]), c.integer(1, 3), c.integer(1, 3)
    f32 = np.dtype(np.float32)
    left, right, result = extremes.product_exponents(c, f32, 9)
    x_shape = (c.integer(1, 2), group * take, *spatial)
    x, x_scale, x_zero = quantized_operand(c, x_shape, "T1", left, f32)
    channels = group * per
    w, w_scale, w_zero = quantized_operand(c, (channels, take, *window.kernel), "T2", right, f32,
                                           channels if c.chance(0.4) else None)
    wide = (-1,) + (1,) * (w.ndim - 1)
    totals = convolve(x - x_zero, w - (w_zero.reshape(wide) if w_zero.ndim else w_zero), window, group)
    scale, zero = result_operands(c, result, f32)
    if c.chance(0.5):
        bias = c.input(c.rng.integers(-500, 500, (channels,)).astype(np.int32))
        totals = totals + bias.astype(np.int64).reshape(-1, *[1] * len(spatial))
    c.attr(**window.attributes(c, c.chance(0.5)), **({"group": group} if group > 1 else {}))
    w_scale = w_scale.reshape(-1, *[1] * len(spatial)) if w_scale.ndim else w_scale
    return rational.scaled_product(totals, x_scale * w_scale / scale, zero, c.dtype("T3"))
