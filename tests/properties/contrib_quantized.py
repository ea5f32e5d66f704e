"""com.microsoft: ops on quantised values. The references compute with the numbers that the codes stand
for; scales are powers of two unless a function stands between them."""

import numpy as np

from foreign import contrib
from ops_norm import softmax
from ops_pool import pool_window, windows_of
from ops_unary import sigmoid
from tolerance import near, quantized

CODES = ["uint8", "int8"]


def codes(c, shape, scale=None):
    """Codes, scale, zero point as three operands; the numbers they stand for."""
    dtype = c.dtype()
    info = np.iinfo(dtype)
    x = c.input(c.rng.integers(info.min, info.max, shape, endpoint=True).astype(dtype))
    scale = c.input(np.float32(scale or 2.0 ** c.integer(-6, -3)))
    zero = c.input(c.rng.integers(info.min // 2, info.max // 2, ()).astype(dtype))
    return (x.astype(np.float64) - zero) * scale


def result(c, values, scale=None):
    """The result's scale and zero point as operands; the codes."""
    dtype = c.dtype()
    info = np.iinfo(dtype)
    scale = c.input(np.float32(scale or 2.0 ** c.integer(-4, -2)))
    zero = c.input(c.rng.integers(info.min // 2, info.max // 2, ()).astype(dtype))
    return quantized(values / scale + int(zero), dtype)


def binary(name, function):
    @contrib(name, CODES)
    def make(c):
        shape = c.shape(0, 4, 200)
        a = codes(c, shape)
        return result(c, function(a, codes(c, c.broadcast_of(shape))))


binary("QLinearAdd", np.add)
binary("QLinearMul", np.multiply)


@contrib("QLinearSigmoid", CODES)
def qlinear_sigmoid(c):
    return result(c, sigmoid(codes(c, c.shape(1, 4))), 1 / 256)


@contrib("QLinearLeakyRelu", CODES)
def qlinear_leaky_relu(c):
    x = codes(c, c.shape(1, 4))
    alpha = float(np.float32(c.uniform(0.05, 0.5)))
    c.attr(alpha=alpha)
    return result(c, np.where(x < 0, alpha * x, x))


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
    x = codes(c, (n, *spatial, ch) if last else (n, ch, *spatial))
    c.attr(channels_last=int(last))
    axes = tuple(range(1, 1 + len(spatial)) if last else range(2, 2 + len(spatial)))
    return result(c, x.mean(axes, keepdims=True))


@contrib("QLinearAveragePool", CODES)
def qlinear_pool(c):
    spatial, window = pool_window(c, 1, 2, dilated=False)
    last = c.chance(0.4)
    n, ch = c.integer(1, 2), c.integer(1, 3)
    x = codes(c, (n, *spatial, ch) if last else (n, ch, *spatial))
    x = np.moveaxis(x, -1, 1) if last else x
    c.attr(**window.attributes(c), **({"channels_last": 1} if last else {}))
    out = window.outputs(spatial)
    total = windows_of(x, window, out, 0).sum(0) / windows_of(np.ones(x.shape), window, out, 0).sum(0)
    return result(c, np.moveaxis(total, 1, -1) if last else total)


@contrib("QLinearConcat", CODES)
def qlinear_concat(c):
    shape = list(c.shape(1, 3, 60, zero=0))
    axis = c.axis(len(shape))
    c.attr(axis=axis)
    info = np.iinfo(c.dtype())
    scale = c.input(np.float32(2.0 ** c.integer(-4, -2)))
    zero = c.input(c.rng.integers(info.min // 2, info.max // 2, ()).astype(c.dtype()))
    parts = []
    for _ in range(c.integer(1, 4)):
        shape[axis] = c.integer(1, 5)
        parts.append(codes(c, tuple(shape)))
    return quantized(np.concatenate(parts, axis) / scale + int(zero), c.dtype())


@contrib("QGemm", CODES)
def qgemm(c):
    m, k, n = c.integer(1, 7), c.integer(1, 20), c.integer(1, 7)
    ta, tb = c.chance(0.4), c.chance(0.4)
    a, b = codes(c, (k, m) if ta else (m, k)), codes(c, (n, k) if tb else (k, n))
    a_scale, b_scale = (float(c.value(i)) for i in (1, 4))
    a, b = (a.T if ta else a), (b.T if tb else b)
    c.attr(**({"transA": 1} if ta else {}), **({"transB": 1} if tb else {}))
    y = a @ b
    if c.chance(0.6):
        bias = c.input(c.rng.integers(-900, 900, c.choose([(n,), (m, n)])).astype(np.int32))
        y = y + bias * (a_scale * b_scale)
    else:
        c.skip()
    if c.chance(0.7):
        return result(c, y)
    c.types["T"] = np.dtype(np.float32)
    return near(y, np.abs(a) @ np.abs(b) + np.abs(y))


@contrib("MatMulIntegerToFloat", CODES)
def matmul_integer_to_float(c):
    m, k, n = c.integer(1, 7), c.integer(1, 20), c.integer(1, 7)
    dtype = c.dtype()
    info = np.iinfo(dtype)
    a = c.draw((m, k), dtype).astype(np.float64)
    b = c.draw((k, n), dtype).astype(np.float64)
    a_scale = c.input(np.float32(c.uniform(0.1, 1)))
    columns = c.chance(0.4)
    b_scale = c.input(c.rng.uniform(0.1, 1, (n,) if columns else ()).astype(np.float32))
    if c.chance(0.6):
        a = a - c.input(c.rng.integers(info.min // 2, info.max // 2, ()).astype(dtype)).astype(np.float64)
        if c.chance(0.6):
            b = b - c.input(c.rng.integers(info.min // 2, info.max // 2, ()).astype(dtype)).astype(np.float64)
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
    """The data's range is a multiple of 255/64, so that no code is next to the middle of two."""
    m, k, n = c.integer(1, 7), c.integer(2, 20), c.integer(1, 7)
    dtype = c.dtype()
    x = c.rng.integers(-100, 101, (m, k)) / 64
    x[0, 0], x[0, 1] = 155 / 64, -100 / 64
    c.input(x.astype(np.float32))
    b = c.draw((k, n), dtype).astype(np.float64)
    b_scale = c.input(np.float32(c.uniform(0.1, 1)))
    if c.chance(0.6):
        b = b - c.draw((), dtype).astype(np.float64)
    else:
        c.skip()
    y, scale = x @ b * b_scale, np.abs(x) @ np.abs(b) * b_scale
    c.types["T"] = np.dtype(np.float32)
    if c.chance(0.5):
        bias = c.draw((n,), np.float32)
        y, scale = y + bias, scale + np.abs(bias)
    return near(y, scale)


@contrib("MatMulNBits", ["float", "float16"])
def matmul_nbits(c):
    bits, size = c.choose([2, 4, 8]), c.choose([16, 32])
    m, k, n = c.integer(1, 5), c.integer(1, 70), c.integer(1, 9)
    blocks = -(-k // size)
    x = c.draw((m, k))
    values = c.rng.integers(0, 1 << bits, (n, blocks, size))
    per = 8 // bits
    packed = sum(values[..., i::per] << (bits * i) for i in range(per))
    c.input(packed.astype(np.uint8))
    scale = c.draw((n, blocks))
    zero = np.full((n, blocks), 1 << (bits - 1))
    if c.chance(0.5):
        zero = c.rng.integers(0, 1 << bits, (n, blocks))
        padded = np.zeros((n, -(-blocks // per) * per), np.int64)
        padded[:, :blocks] = zero
        c.input(sum(padded[:, i::per] << (bits * i) for i in range(per)).astype(np.uint8))
    c.attr(K=k, N=n, bits=bits, block_size=size)
    w = ((values - zero[..., None]) * scale[..., None]).reshape(n, -1)[:, :k].T
    return near(x @ w, np.abs(x) @ np.abs(w))
