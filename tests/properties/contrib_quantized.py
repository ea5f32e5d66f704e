"""com.microsoft: ops on quantised values. The references compute with the numbers that the codes stand
for; scales are powers of two unless a function stands between them."""

import numpy as np

import extremes
import rational
from foreign import contrib
from ops_norm import softmax
from ops_pool import pool_window, windows_of
from ops_unary import sigmoid
from tolerance import near, quantized

CODES = ["uint8", "int8"]
F32 = np.dtype(np.float32)


def codes(c, shape, scale=None):
    """Codes, scale, zero point as three operands; the numbers they stand for."""
    dtype = c.dtype()
    info = np.iinfo(dtype)
    x = c.input(c.rng.integers(info.min, info.max, shape, endpoint=True).astype(dtype))
    scale = c.input(np.float32(scale or 2.0 ** c.integer(-6, -3)))
    zero = c.input(extremes.zero_points(c, (), dtype))
    return (x.astype(np.float64) - zero) * scale


def result(c, values, scale=None):
    """The result's scale and zero point as operands; the codes."""
    scale = c.input(np.float32(scale or 2.0 ** c.integer(-4, -2)))
    zero = c.input(extremes.zero_points(c, (), c.dtype()))
    return quantized(values / scale + int(zero), c.dtype())


def magnitude(c, low=-145, high=95):
    """A power of two anywhere among float32's, which scales are taken from."""
    return c.integer(low, high)


def near_power(c, exponent, most=4):
    """A power of two at or above this one."""
    return 2.0 ** (exponent + c.integer(0, most))


@contrib("QLinearAdd", CODES, weight=2)
def qlinear_add(c):
    """Of one magnitude, so that float32 rounds no sum of theirs."""
    shape, exponent = c.shape(0, 4, 200), magnitude(c)
    a = codes(c, shape, near_power(c, exponent))
    return result(c, a + codes(c, c.broadcast_of(shape), near_power(c, exponent)), near_power(c, exponent))


@contrib("QLinearMul", CODES, weight=2)
def qlinear_mul(c):
    """The product is a multiple of 2^-149, which float32 has, or rounds to 0 beside any scale of the result's."""
    shape, left, right, scale = c.shape(0, 4, 200), *extremes.product_exponents(c, F32, 7)
    if left + right < -149:
        left, right = -140, 30
    a = codes(c, shape, 2.0 ** left)
    return result(c, a * codes(c, c.broadcast_of(shape), 2.0 ** right), 2.0 ** scale)


@contrib("QLinearSigmoid", CODES)
def qlinear_sigmoid(c):
    return result(c, sigmoid(codes(c, c.shape(1, 4))), 1 / 256)


@contrib("QLinearLeakyRelu", CODES)
def qlinear_leaky_relu(c):
    exponent = magnitude(c)
    x = codes(c, c.shape(1, 4), near_power(c, exponent))
    alpha = float(np.float32(c.uniform(0.05, 0.5)))
    c.attr(alpha=alpha)
    return result(c, np.where(x < 0, alpha * x, x), near_power(c, exponent))


@contrib("QLinearSoftmax", CODES)
def qlinear_softmax(c):
    shape = c.shape(1, 4, zero=0)
    x = codes(c, shape)
    axis = c.axis(len(shape))
    opset = c.choose([12, 13])
    c.attr(axis=axis, opset=opset)
    if opset == 12:
        flat = x.reshape(int(np.prod(shape[:axis % len(shape)])), -1)
        return result(c, softmax(flat, 1).reshape(shape), 1 / 256)
    return result(c, softmax(x, axis), 1 / 256)


@contrib("QLinearGlobalAveragePool", CODES)
def qlinear_global_pool(c):
    last = c.chance(0.4)
    spatial = c.shape(1, 2, 60, zero=0)
    n, ch = c.integer(1, 3), c.integer(1, 4)
    exponent = magnitude(c, -126)
    x = codes(c, (n, *spatial, ch) if last else (n, ch, *spatial), near_power(c, exponent))
    c.attr(channels_last=int(last))
    axes = tuple(range(1, 1 + len(spatial)) if last else range(2, 2 + len(spatial)))
    return result(c, x.mean(axes, keepdims=True), near_power(c, exponent))


@contrib("QLinearAveragePool", CODES)
def qlinear_pool(c):
    spatial, window = pool_window(c, 1, 2, dilated=False)
    last = c.chance(0.4)
    n, ch = c.integer(1, 2), c.integer(1, 3)
    exponent = magnitude(c, -126)
    x = codes(c, (n, *spatial, ch) if last else (n, ch, *spatial), near_power(c, exponent))
    x = np.moveaxis(x, -1, 1) if last else x
    c.attr(**window.attributes(c), **({"channels_last": 1} if last else {}))
    out = window.outputs(spatial)
    total = windows_of(x, window, out, 0).sum(0) / windows_of(np.ones(x.shape), window, out, 0).sum(0)
    return result(c, np.moveaxis(total, 1, -1) if last else total, near_power(c, exponent))


@contrib("QLinearConcat", CODES)
def qlinear_concat(c):
    shape = list(c.shape(1, 3, 60, zero=0))
    axis = c.axis(len(shape))
    c.attr(axis=axis)
    exponent = magnitude(c)
    scale = c.input(np.float32(near_power(c, exponent)))
    zero = c.input(extremes.zero_points(c, (), c.dtype()))
    parts = []
    for _ in range(c.integer(1, 4)):
        shape[axis] = c.integer(1, 5)
        parts.append(codes(c, tuple(shape), near_power(c, exponent)))
    return quantized(np.concatenate(parts, axis) / scale + int(zero), c.dtype())


def product_magnitudes(c):
    """Scales of both operands, whose product is a normal number of float32, and one of the result's codes."""
    left = c.integer(-149, 99)
    right = c.integer(max(-149, -115 - left), min(99, 90 - left))
    return 2.0 ** left, 2.0 ** right, 2.0 ** (left + right + 10)


@contrib("QGemm", CODES)
def qgemm(c):
    m, k, n = c.integer(1, 7), c.integer(1, 20), c.integer(1, 7)
    ta, tb = c.chance(0.4), c.chance(0.4)
    left, right, scale = product_magnitudes(c)
    a = codes(c, (k, m) if ta else (m, k), left)
    b = codes(c, (n, k) if tb else (k, n), right)
    a, b = (a.T if ta else a), (b.T if tb else b)
    c.attr(**({"transA": 1} if ta else {}), **({"transB": 1} if tb else {}))
    y = a @ b
    if c.chance(0.6):
        bias = c.input(c.rng.integers(-900, 900, c.choose([(n,), (m, n)])).astype(np.int32))
        y = y + bias * (left * right)
    else:
        c.skip()
    if c.chance(0.7):
        return result(c, y, scale)
    c.types["T"] = np.dtype(np.float32)
    return near(y, np.abs(a) @ np.abs(b) + np.abs(y))


@contrib("MatMulIntegerToFloat", CODES)
def matmul_integer_to_float(c):
    m, k, n = c.integer(1, 7), c.integer(1, 20), c.integer(1, 7)
    dtype = c.dtype()
    a = c.draw((m, k), dtype).astype(np.float64)
    b = c.draw((k, n), dtype).astype(np.float64)
    left, right, _ = product_magnitudes(c)
    a_scale = c.input(np.float32(left * c.uniform(1, 2)))
    columns = c.chance(0.4)
    b_scale = c.input((right * c.rng.uniform(1, 2, (n,) if columns else ())).astype(np.float32))
    if c.chance(0.6):
        a = a - c.input(extremes.zero_points(c, (), dtype)).astype(np.float64)
        if c.chance(0.6):
            b = b - c.input(extremes.zero_points(c, (), dtype)).astype(np.float64)
        else:
            c.skip()
    else:
        c.skip(), c.skip()
    y, scale = a @ b * (a_scale * b_scale), np.abs(a) @ np.abs(b) * (a_scale * b_scale)
    c.types["T"] = np.dtype(np.float32)
    if c.chance(0.5):
        bias = c.draw((n,), np.float32)
        y, scale = y + bias, scale + np.abs(bias)
    return near(y, scale)


@contrib("DynamicQuantizeMatMul", CODES)
def dynamic_quantize_matmul(c):
    """Data of any range that has scales, each operation on them rounded to float32."""
    m, k, n = c.integer(1, 7), c.integer(2, 20), c.integer(1, 7)
    dtype, exponent = c.dtype(), c.integer(-118, 110)
    x = c.input((c.rng.standard_normal((m, k)) * 2.0 ** exponent).astype(np.float32))
    scale, zero = rational.dynamic_range(x)
    x = (rational.quantized_linear(x, scale, zero, np.float32, np.uint8).astype(np.float64) - zero) * scale
    b = c.draw((k, n), dtype).astype(np.float64)
    b_scale = c.input(np.float32(2.0 ** c.integer(max(-149, -110 - exponent), min(99, 90 - exponent))))
    if c.chance(0.6):
        b = b - c.input(extremes.zero_points(c, (), dtype)).astype(np.float64)
    else:
        c.skip()
    y, scale = x @ b * b_scale, np.abs(x) @ np.abs(b) * b_scale
    c.types["T"] = np.dtype(np.float32)
    if c.chance(0.5):
        bias = c.draw((n,), np.float32)
        y, scale = y + bias, scale + np.abs(bias)
    return near(y, scale)


def quantised_product(x, w, w_zero, w_scale):
    """Of data that are quantised by their own range, and weights that are codes; in float64."""
    scale, zero = rational.dynamic_range(x)
    x = rational.quantized_linear(x, scale, zero, np.float32, np.uint8).astype(np.float64) - zero
    return x @ (w - w_zero) * (scale * w_scale)


@contrib("DynamicQuantizeLSTM", CODES)
def dynamic_quantize_lstm(c):
    """Step by step; the hidden state is quantised as float32, in which a model has it."""
    steps, n, inputs, hidden = c.integer(1, 4), c.integer(1, 3), c.integer(1, 7), c.integer(1, 6)
    direction = c.choose(["forward", "reverse", "bidirectional"])
    both = 2 if direction == "bidirectional" else 1
    dtype = c.dtype()
    info = np.iinfo(dtype)
    f32 = np.dtype(np.float32)

    def weights(rows):
        return c.rng.integers(info.min, info.max, (both, rows, 4 * hidden), endpoint=True).astype(dtype)

    x = c.draw((steps, n, inputs), f32)
    w, r = c.input(weights(inputs)).astype(np.float64), c.input(weights(hidden)).astype(np.float64)
    zeros = np.zeros
    bias = c.draw((both, 8 * hidden), f32) if c.chance(0.6) else c.skip() or zeros((both, 8 * hidden))
    c.skip()  # sequence_lens
    h, cell = (c.draw((both, n, hidden), f32) if c.chance(0.5) else c.skip() or zeros((both, n, hidden))
               for _ in range(2))
    peep = c.draw((both, 3 * hidden), f32) if c.chance(0.3) else c.skip() or zeros((both, 3 * hidden))
    scales, offsets = [], []
    for _ in range(2):
        per = (both, 4 * hidden) if c.chance(0.4) else (both,)
        scales.append(c.input(c.rng.uniform(0.002, 0.02, per).astype(np.float32)))
        offsets.append(c.input(c.rng.integers(info.min // 2, info.max // 2, per).astype(dtype)).astype(np.float64))
    together = c.chance(0.3)
    c.attr(hidden_size=hidden, direction=direction, **({"input_forget": 1} if together else {}))
    c.types["T"] = f32
    c.outputs(3)
    y = zeros((steps, both, n, hidden))
    h, cell = h.copy(), cell.copy()
    for d in range(both):
        own = quantised_product(x.reshape(-1, inputs), w[d], offsets[0][d], scales[0][d]).reshape(steps, n, -1)
        own = own + bias[d, :4 * hidden] + bias[d, 4 * hidden:]
        for t in range(steps)[::-1 if direction == "reverse" or d == 1 else 1]:
            gates = own[t] + quantised_product(h[d].astype(np.float32), r[d], offsets[1][d], scales[1][d])
            i, o, f, g = np.split(gates, 4, 1)
            p_i, p_o, p_f = np.split(peep[d], 3)
            i = sigmoid(i + p_i * cell[d])
            f = 1 - i if together else sigmoid(f + p_f * cell[d])
            cell[d] = f * cell[d] + i * np.tanh(g)
            h[d] = sigmoid(o + p_o * cell[d]) * np.tanh(cell[d])
            y[t, d] = h[d]
    return [near(y, 8.0), near(h, 8.0), near(cell, 8.0 + np.abs(cell))]


def nbits_magnitude(c):
    """As far as a weight stays a normal number and a product finite."""
    return 2.0 ** (c.integer(-110, 90) if c.dtype() == np.float32 else c.integer(-6, 2))


@contrib("MatMulNBits", ["float", "float16"])
def matmul_nbits(c):
    blocks_stay = c.chance(0.6)  # constant weights that a format of blocks says exactly
    bits, size = c.choose([2, 4, 8]), c.choose([32, 64, 128] if blocks_stay else [16, 32])
    m, k, n = c.integer(1, 5), 32 * c.integer(1, 5) if blocks_stay else c.integer(1, 70), c.integer(1, 9)
    blocks = -(-k // size)
    constant = True if blocks_stay else None
    x = c.draw((m, k))
    values = c.rng.integers(0, 1 << bits, (n, blocks, size))
    per = 8 // bits
    packed = sum(values[..., i::per] << (bits * i) for i in range(per))
    c.input(packed.astype(np.uint8), constant=constant)
    magnitude = 2.0 ** c.integer(-10, 6) if blocks_stay and c.dtype() == np.float32 else nbits_magnitude(c)
    scale = c.rng.standard_normal((n, blocks)) * magnitude
    scale = c.input((scale.astype(np.float16) if blocks_stay else scale).astype(c.dtype()), constant=constant)
    zero = np.full((n, blocks), 1 << (bits - 1))
    if c.chance(0.5):
        zero = c.rng.integers(0, 1 << bits, (n, blocks))
        if c.chance(0.5):  # at both ends
            zero = np.where(zero >> (bits - 1), (1 << bits) - 1, 0)
        padded = np.zeros((n, -(-blocks // per) * per), np.int64)
        padded[:, :blocks] = zero
        c.input(sum(padded[:, i::per] << (bits * i) for i in range(per)).astype(np.uint8), constant=constant)
    c.attr(K=k, N=n, bits=bits, block_size=size)
    if c.chance(0.5):
        c.attr(accuracy_level=c.integer(0, 4))
    w = ((values - zero[..., None]) * scale[..., None]).reshape(n, -1)[:, :k].T
    return near(x @ w, np.abs(x) @ np.abs(w))
