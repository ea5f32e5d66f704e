"""com.microsoft: activations, normalisations and products. onnx has no schemas for these: the few that
the generators need are stated here, with the types that both ONNX Runtime and the support table take."""

import numpy as np

import domains
import extremes
import rational
from foreign import contrib
from ops_conv import conv_shapes
from ops_norm import normalized
from ops_quantize import stretch
from ops_unary import gelu_erf, gelu_tanh, maybe, sigmoid
from tolerance import exact, near
from windows import convolve, random_window

FLOATS = ["float", "float16"]


@contrib("Gelu", FLOATS)
def gelu(c):
    x = c.draw(c.shape(), scale=2.0)
    return near(gelu_erf(x), np.abs(x))


@contrib("QuickGelu", FLOATS)
def quick_gelu(c):
    x = c.draw(c.shape(), scale=2.0)
    alpha = maybe(c, "alpha", float(np.float32(1.702)), 0.5, 2)
    return near(x * sigmoid(alpha * x), np.abs(x))


@contrib("FastGelu", FLOATS)
def fast_gelu(c):
    shape = c.shape(1, 4)
    x = c.draw(shape, scale=2.0)
    if c.chance(0.5):
        x = x + c.draw(shape[-1:])
    return near(gelu_tanh(x), 1 + np.abs(x))


@contrib("BiasGelu", FLOATS)
def bias_gelu(c):
    shape = c.shape(1, 4)
    x = c.draw(shape) + c.draw(shape[-1:])
    return near(gelu_erf(x), 1 + np.abs(x))


@contrib("BiasSplitGelu", FLOATS)
def bias_split_gelu(c):
    """ONNX Runtime has it for a few widths; the formula holds for every even one."""
    n, s, half = c.integer(1, 2), c.integer(1, 5), c.integer(1, 9)
    x = c.draw((n, s, 2 * half)) + c.draw((2 * half,))
    left, right = x[..., :half], x[..., half:]
    return near(left * gelu_erf(right), (1 + np.abs(left)) * (1 + np.abs(right)))


@contrib("BiasAdd", FLOATS)
def bias_add(c):
    shape = (c.integer(1, 2), c.integer(1, 5), c.integer(1, 9))
    x, bias, skip = c.draw(shape), c.draw(shape[-1:]), c.draw(shape)
    return near(x + bias + skip, np.abs(x) + np.abs(bias) + np.abs(skip))


def skip_norm(name, centred):
    @contrib(name, FLOATS)
    def make(c):
        # Lines are not short: where a variance is next to nothing, the tiny epsilon alone divides.
        shape = (c.integer(1, 3), c.integer(1, 4), c.integer(5, 17))
        x = c.draw(shape) + c.draw(shape)
        gamma = c.draw(shape[-1:])
        beta = np.zeros(())
        if centred:
            beta = c.draw(shape[-1:]) if c.chance(0.6) else (c.skip(), beta)[1]
        if c.chance(0.5):
            x = x + c.draw(shape[-1:])
        eps = maybe(c, "epsilon", float(np.float32(1e-12 if centred else 1e-5)), 1e-3, 0.1)
        y, size = normalized(x, (2,), eps, centred)
        result = near(y * gamma + beta, (1 + size) * (1 + np.abs(gamma)) + np.abs(beta))
        if c.chance(0.5):
            return result
        c.outputs(4)
        c.leave_out(1, 2)
        return [result, None, None, near(x, 3)]

    return make


skip_norm("SkipLayerNormalization", True)
skip_norm("SkipSimplifiedLayerNormalization", False)


@contrib("SimplifiedLayerNormalization", ["float", "double", "float16"], domain="")
def simplified_norm(c):
    shape = c.shape(1, 4, zero=0)
    x = c.draw(shape)
    axis = c.axis(len(shape))
    c.attr(**({"axis": axis} if axis != -1 or c.chance(0.4) else {}))
    axis %= len(shape)
    scale = c.draw(shape[axis:])
    eps = maybe(c, "epsilon", float(np.float32(1e-5)), 1e-4, 0.1)
    y, size = normalized(x, tuple(range(axis, len(shape))), eps, centred=False)
    return near(y * scale, np.broadcast_to(size, shape) * np.abs(scale))


def activated(c, y, scale):
    """An optional activation after a product."""
    name = c.choose(["", "Relu", "Sigmoid", "Tanh", "LeakyRelu"])
    alpha = 0.3
    if name:
        c.attr(activation=name)
    function = {"": lambda v: v, "Relu": lambda v: np.maximum(v, 0), "Sigmoid": sigmoid,
                "Tanh": np.tanh, "LeakyRelu": lambda v: np.where(v < 0, v * np.float32(alpha), v)}[name]
    return name, alpha, near(function(y), scale)


@contrib("FusedGemm", ["float"])
def fused_gemm(c):
    m, k, n = c.integer(1, 9), c.integer(1, 20), c.integer(1, 9)
    ta, tb = c.chance(0.4), c.chance(0.4)
    a, b = c.draw((k, m) if ta else (m, k)), c.draw((n, k) if tb else (k, n))
    a, b = (a.T if ta else a), (b.T if tb else b)
    c.attr(**({"transA": 1} if ta else {}), **({"transB": 1} if tb else {}))
    alpha, beta = maybe(c, "alpha", 1.0, -2, 2), maybe(c, "beta", 1.0, -2, 2)
    bias = c.draw(c.choose([(m, n), (n,), (1,)])) if c.chance(0.6) else np.zeros(())
    name, slope, result = activated(c, alpha * (a @ b) + beta * bias,
                                    np.abs(alpha) * (np.abs(a) @ np.abs(b)) + np.abs(beta * bias))
    c.attr(**({"activation_alpha": slope} if name == "LeakyRelu" else {}))
    return result


def fused_matmul(name, activation):
    @contrib(name, FLOATS if not activation else ["float"])
    def make(c):
        batch = c.shape(0, 2, 6, zero=0)
        m, k, n = c.integer(1, 9), c.integer(1, 20), c.integer(1, 9)
        ta, tb = c.chance(0.4), c.chance(0.4)
        a, b = c.draw(batch + ((k, m) if ta else (m, k))), c.draw(batch + ((n, k) if tb else (k, n)))
        a, b = (a.swapaxes(-1, -2) if ta else a), (b.swapaxes(-1, -2) if tb else b)
        c.attr(**({"transA": 1} if ta else {}), **({"transB": 1} if tb else {}))
        alpha = maybe(c, "alpha", 1.0, -2, 2)
        y, scale = alpha * (a @ b), np.abs(alpha) * (np.abs(a) @ np.abs(b))
        if not activation:
            return near(y, scale)
        used = c.choose(["Relu", "Sigmoid", "Tanh"])
        c.attr(activation=used)
        function = {"Relu": lambda v: np.maximum(v, 0), "Sigmoid": sigmoid, "Tanh": np.tanh}[used]
        return near(function(y), scale)

    return make


fused_matmul("FusedMatMul", False)
fused_matmul("TransposeMatMul", False)
fused_matmul("FusedMatMulActivation", True)


@contrib("GemmFastGelu", FLOATS)
def gemm_fast_gelu(c):
    m, k, n = c.integer(1, 9), c.integer(1, 20), c.integer(1, 9)
    x, w = c.draw((m, k), scale=0.5), c.draw((k, n), scale=0.5)
    y, scale = x @ w, np.abs(x) @ np.abs(w)
    if c.chance(0.6):
        bias = c.draw((n,))
        y, scale = y + bias, scale + np.abs(bias)
    return near(gelu_tanh(y), 1 + scale)


@contrib("FusedConv", ["float"])
def fused_conv(c):
    spatial, window = random_window(c, 2, 2)
    x_shape, w_shape, group = conv_shapes(c, spatial, window)
    x, w = c.draw(x_shape), c.draw(w_shape)
    c.attr(**window.attributes(c), **({"group": group} if group > 1 else {}))
    y, scale = convolve(x, w, window, group), convolve(np.abs(x), np.abs(w), window, group)
    if c.chance(0.6):
        bias = c.draw((w_shape[0],)).reshape(-1, 1, 1)
        y, scale = y + bias, scale + np.abs(bias)
        if c.chance(0.5):
            z = c.draw(y.shape)
            y, scale = y + z, scale + np.abs(z)
    name, slope, result = activated(c, y, scale)
    c.attr(**({"activation_params": [slope]} if name == "LeakyRelu" else {}))
    return result


def quantized_parameters(c):
    """Shape and type of the codes, the axis, and the shape of their scales."""
    shape = c.shape(1, 3, 60)
    kind = np.dtype(c.choose([np.uint8, np.int8]))
    axis = c.axis(len(shape)) if c.chance(0.5) else None
    c.attr(**({} if axis is None else {"axis": axis}))
    return shape, kind, axis, () if axis is None else (shape[axis],)


@contrib("DequantizeLinear", ["float"], weight=2)
def dequantize(c):
    shape, kind, axis, s_shape = quantized_parameters(c)
    x = c.draw(shape, kind, domain=domains.whole_range).astype(np.float64)
    scale = c.input(extremes.scales(c, s_shape, np.float32))
    zero = c.input(extremes.zero_points(c, s_shape, kind)).astype(np.float64)
    return exact((x - stretch(zero, shape, axis, 0)) * stretch(scale, shape, axis, 0))


@contrib("QuantizeLinear", ["float"], weight=2)
def quantize(c):
    shape, kind, axis, s_shape = quantized_parameters(c)
    scale = extremes.scales(c, s_shape, np.float32)
    zero = extremes.zero_points(c, s_shape, kind)
    wide, middle = (stretch(v.astype(np.float64), shape, axis, 0) for v in (scale, zero))
    x = c.input(extremes.around_codes(c, wide, middle, np.float32, kind))
    c.input(scale), c.input(zero)
    return exact(rational.quantized_linear(x, wide, middle, np.float32, kind))
