"""Products, convolutions, pools, reductions, normalisations and attention."""

import numpy as np

from steps_simple import sigmoid


def matmul(g, x, v):
    if v.ndim < 2 or (g.batch is not None and v.ndim < 3 and g.chance(0.0)):
        return None
    weights = g.constant(g.numbers((v.shape[-1], g.integer(1, 8))))
    made = g.add("MatMul", [x, weights], np.matmul)
    if g.chance(0.4):
        bias = g.constant(g.numbers((g.values[made].shape[-1],)))
        made = g.add("Add", [made, bias], np.add)
    return made


def gemm(g, x, v):
    if v.ndim != 2:
        return None
    n, turned = g.integer(1, 8), g.integer(0, 1)
    weights = g.numbers((n, v.shape[1]) if turned else (v.shape[1], n))
    alpha, beta = g.choose((1.0, 0.5)), g.choose((1.0, 2.0))
    names = [x, g.constant(weights), g.constant(g.numbers((n,)))]
    return g.add("Gemm", names, lambda a, b, c: alpha * (a @ (b.T if turned else b)) + beta * c, transB=turned,
                 alpha=alpha, beta=beta)


def self_product(g, x, v):
    if v.ndim < (2 if g.batch is None else 3):
        return None
    perm = list(range(v.ndim - 2)) + [v.ndim - 1, v.ndim - 2]
    turned = g.add("Transpose", [x], lambda a: a.transpose(perm), perm=perm)
    return g.add("MatMul", [x, turned], np.matmul)


def value_product(g, x, v):
    """A product of two values, neither of which is known."""
    if v.ndim < (2 if g.batch is None else 3):
        return None
    fits = [n for n, w in g.values.items()
            if w.ndim == v.ndim and w.shape[:-2] == v.shape[:-2] and w.shape[-2] == v.shape[-1]]
    return g.add("MatMul", [x, g.choose(fits)], np.matmul) if fits else None


def windows(a, kernel, strides, dilations):
    spans = [(k - 1) * d + 1 for k, d in zip(kernel, dilations)]
    seen = np.lib.stride_tricks.sliding_window_view(a, spans, axis=(2, 3))
    return seen[:, :, ::strides[0], ::strides[1], ::dilations[0], ::dilations[1]]


def conv(g, x, v):
    if v.ndim != 4:
        return None
    group = g.choose([d for d in range(1, v.shape[1] + 1) if v.shape[1] % d == 0])
    outs = group * g.integer(1, max(1, 6 // group))
    kernel = [g.choose((1, 2, 3)), g.choose((1, 3))]
    strides, dilations = [g.choose((1, 1, 2)) for _ in range(2)], [g.choose((1, 1, 2)) for _ in range(2)]
    pads = [g.integer(0, 2) for _ in range(4)]
    if any(v.shape[2 + k] + pads[k] + pads[k + 2] < (kernel[k] - 1) * dilations[k] + 1 for k in range(2)):
        return None
    names = [x, g.constant(g.numbers((outs, v.shape[1] // group, *kernel)))]
    if g.chance(0.5):
        names.append(g.constant(g.numbers((outs,))))

    def convolved(a, w, bias=None):
        padded = np.pad(a, ((0, 0), (0, 0), (pads[0], pads[2]), (pads[1], pads[3])))
        seen = windows(padded, kernel, strides, dilations)
        n, c, h, wide = seen.shape[:4]
        seen = seen.reshape(n, group, c // group, h, wide, *kernel)
        parts = w.reshape(group, outs // group, c // group, *kernel)
        value = np.einsum("ngchwij,gocij->ngohw", seen, parts).reshape(n, outs, h, wide)
        return value if bias is None else value + bias[:, None, None]

    return g.add("Conv", names, convolved, pads=pads, strides=strides, dilations=dilations, group=group)


def conv_transposed(g, x, v):
    if v.ndim != 4 or v.size > 300:
        return None
    outs, kernel, strides = g.integer(1, 4), [g.integer(1, 3), g.integer(1, 3)], [g.integer(1, 2), g.integer(1, 2)]
    weights = g.constant(g.numbers((v.shape[1], outs, *kernel)))

    def spread(a, w):
        n, _, h, wide = a.shape
        out = np.zeros((n, outs, (h - 1) * strides[0] + kernel[0], (wide - 1) * strides[1] + kernel[1]))
        for i in range(kernel[0]):
            for j in range(kernel[1]):
                part = np.einsum("nchw,co->nohw", a, w[:, :, i, j])
                out[:, :, i:i + (h - 1) * strides[0] + 1:strides[0], j:j + (wide - 1) * strides[1] + 1:strides[1]] += part
        return out

    return g.add("ConvTranspose", [x, weights], spread, strides=strides)


def pool(g, x, v):
    if v.ndim != 4:
        return None
    kernel = [g.integer(1, min(3, v.shape[2])), g.integer(1, min(3, v.shape[3]))]
    strides, ones = [g.integer(1, 2), g.integer(1, 2)], [1, 1]
    if g.chance(0.5):
        return g.add("MaxPool", [x], lambda a: windows(a, kernel, strides, ones).max((-2, -1)), kernel_shape=kernel,
                     strides=strides)
    return g.add("AveragePool", [x], lambda a: windows(a, kernel, strides, ones).mean((-2, -1)), kernel_shape=kernel,
                 strides=strides)


def global_pool(g, x, v):
    if v.ndim != 4:
        return None
    return g.add("GlobalAveragePool", [x], lambda a: a.mean((2, 3), keepdims=True))


def excited(g, x, v):
    """Squeeze and excitation, as exporters write it out."""
    if v.ndim != 4:
        return None
    channels, hidden = v.shape[1], g.integer(1, 4)
    mean = global_pool(g, x, v)
    first = g.add("Conv", [mean, g.constant(g.numbers((hidden, channels, 1, 1)))],
                  lambda a, w: np.einsum("nchw,oc->nohw", a, w[:, :, 0, 0]))
    first = g.add("Relu", [first], lambda a: np.maximum(a, 0))
    gate = g.add("Conv", [first, g.constant(g.numbers((channels, hidden, 1, 1)))],
                 lambda a, w: np.einsum("nchw,oc->nohw", a, w[:, :, 0, 0]))
    return g.add("Mul", [x, g.add("Sigmoid", [gate], sigmoid)], np.multiply)


def reduce(g, x, v):
    axis, keep = g.axis(v), bool(g.integer(0, 1))
    if axis is None or (v.ndim == 1 and not keep):
        return None
    op, function = g.choose((("ReduceMean", np.mean), ("ReduceMax", np.max), ("ReduceSum", np.sum), ("ReduceMin", np.min),
                             ("ReduceL1", lambda a, d, keepdims: np.abs(a).sum(d, keepdims=keepdims)),
                             ("ReduceSumSquare", lambda a, d, keepdims: (a * a).sum(d, keepdims=keepdims)),
                             ("ReduceLogSumExp",
                              lambda a, d, keepdims: np.log(np.exp(a).sum(d, keepdims=keepdims)))))
    return g.add(op, [x, g.integers(axis)], lambda a, _: function(a, axis, keepdims=keep), keepdims=int(keep))


def soft(a, axis):
    e = np.exp(a - a.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def softmax(g, x, v):
    axis = g.axis(v)
    if axis is None:
        return None
    if g.chance(0.2):
        return g.add("LogSoftmax", [x], lambda a: np.log(soft(a, axis)), axis=axis)
    return g.add("Softmax", [x], lambda a: soft(a, axis), axis=axis)


def normal(g, a, axes, epsilon=0.25):
    # A mean is rounded, too: what is left of equal elements is a rounding, which a loop behind may take anywhere.
    centred = a - g.rounded(a.mean(axes, keepdims=True))
    return centred / np.sqrt((centred**2).mean(axes, keepdims=True) + epsilon)


def layer_norm(g, x, v):
    if g.batch is not None and v.ndim < 2:
        return None
    scale = g.constant(g.numbers((v.shape[-1],)))
    return g.add("LayerNormalization", [x, scale], lambda a, s: normal(g, a, -1) * s, epsilon=0.25)


def layer_norm_written_out(g, x, v):
    if g.batch is not None and v.ndim < 2:
        return None
    last = g.integers(-1)

    def mean(name):
        return g.add("ReduceMean", [name, last], lambda a, _: a.mean(-1, keepdims=True), keepdims=1)

    centred = g.add("Sub", [x, mean(x)], np.subtract)
    square = g.add("Pow", [centred, g.constant(np.float32(2))], lambda a, e: a**e)
    spread = g.add("Add", [mean(square), g.constant(np.float32(0.25))], np.add)
    made = g.add("Div", [centred, g.add("Sqrt", [spread], np.sqrt)], np.divide)
    return g.add("Mul", [made, g.constant(g.numbers((v.shape[-1],)))], np.multiply)


def rms_norm_written_out(g, x, v):
    if g.batch is not None and v.ndim < 2:
        return None
    square = g.add("Mul", [x, x], np.multiply)
    mean = g.add("ReduceMean", [square, g.integers(-1)], lambda a, _: a.mean(-1, keepdims=True), keepdims=1)
    spread = g.add("Add", [mean, g.constant(np.float32(0.25))], np.add)
    factor = g.add("Reciprocal", [g.add("Sqrt", [spread], np.sqrt)], lambda a: 1 / a)
    made = g.add("Mul", [x, factor], np.multiply)
    return g.add("Mul", [made, g.constant(g.numbers((v.shape[-1],)))], np.multiply)


def normed_products(g, x, v):
    """Products between which rows are normalised and added to, as in a transformer. The rows are as long, and mostly as
    many, as kernels for GPUs want them that store the moments of what they make."""
    if v.ndim < (2 if g.batch is None else 3):
        return None
    if g.chance(0.8):
        times = -(-g.integer(9, 24) // v.shape[-2])
        x = g.add("Concat", [x] * times, lambda *parts: np.concatenate(parts, -2), axis=v.ndim - 2)

    def product(name, terms, columns):
        weights = g.numbers((terms, columns)) / np.float32(np.sqrt(terms))
        return g.add("MatMul", [name, g.constant(weights)], np.matmul)

    width = 64 * g.integer(1, 2)
    start = product(x, v.shape[-1], width)
    rows = product(start, width, width)
    if g.chance(0.5):
        rows = g.add("Add", [rows, start], np.add)
    norm = g.choose((layer_norm, rms_norm_written_out, rms_norm_written_out))
    made = product(norm(g, rows, g.values[rows]), width, 8 * g.integer(1, 8))
    if g.chance(0.4):
        made = g.add("Sigmoid", [made], sigmoid)
    if g.chance(0.5):
        return made
    return g.add("Add", [rows, product(made, g.values[made].shape[-1], width)], np.add)


def instance_norm(g, x, v):
    if v.ndim != 4:
        return None
    names = [x, g.constant(g.numbers((v.shape[1],))), g.constant(g.numbers((v.shape[1],)))]
    return g.add("InstanceNormalization", names,
                 lambda a, s, b: normal(g, a, (2, 3)) * s[:, None, None] + b[:, None, None], epsilon=0.25)


def batch_norm(g, x, v):
    if v.ndim < 2:
        return None
    c = v.shape[1]
    names = [x, g.constant(g.numbers((c,))), g.constant(g.numbers((c,))), g.constant(g.numbers((c,))),
             g.constant(g.numbers((c,), 0.5, 1.5))]
    along = (slice(None),) + (None,) * (v.ndim - 2)
    return g.add("BatchNormalization", names,
                 lambda a, s, b, m, w: (a - m[along]) / np.sqrt(w[along] + 0.25) * s[along] + b[along], epsilon=0.25)


def attention(g, x, v):
    """softmax(scale q k^T + mask) v of three products of one value, heads split and joined."""
    if v.ndim != 3 or v.shape[1] < 2:
        return None
    heads, size = g.integer(1, 3), g.integer(1, 4)
    time, width = v.shape[1], heads * size

    def part(perm):
        made = g.add("MatMul", [x, g.constant(g.numbers((v.shape[2], width)))], np.matmul)
        made = g.add("Reshape", [made, g.integers(0, time, heads, size)],
                     lambda a, s: a.reshape(a.shape[0], time, heads, size))
        return g.add("Transpose", [made], lambda a: a.transpose(perm), perm=perm)

    scores = g.add("MatMul", [part([0, 2, 1, 3]), part([0, 2, 3, 1])], np.matmul)
    scores = g.add("Mul", [scores, g.constant(np.float32(size**-0.5))], np.multiply)
    if g.chance(0.5):
        seen = np.tri(time, dtype=bool) if g.chance(0.5) else g.rng.random((time, time)) < 0.7
        seen |= np.eye(time, dtype=bool)
        mask = np.where(seen, 0, -1e4).astype(np.float32)
        scores = g.add("Add", [scores, g.constant(mask[None, None])], np.add)
        # The sum with so large a number is no value for others to take.
        g.known[scores] = g.values.pop(scores)
    weights = g.add("Softmax", [scores], lambda a: soft(a, -1), axis=-1)
    out = g.add("MatMul", [weights, part([0, 2, 1, 3])], np.matmul)
    out = g.add("Transpose", [out], lambda a: a.transpose(0, 2, 1, 3), perm=[0, 2, 1, 3])
    return g.add("Reshape", [out, g.integers(0, time, width)], lambda a, s: a.reshape(a.shape[0], time, width))


def einsum(g, x, v):
    if v.ndim != 3:
        return None
    weights = g.constant(g.numbers((v.shape[2], g.integer(1, 5))))
    equation = g.choose(("abc,cd->abd", "abc,cd->adb", "abc,cd->ab"))
    return g.add("Einsum", [x, weights], lambda a, w: np.einsum(equation, a, w), equation=equation)


STEPS = (matmul, matmul, matmul, gemm, self_product, value_product, conv, conv, conv, conv_transposed, pool, global_pool,
         excited, reduce, reduce, softmax, softmax, layer_norm, layer_norm_written_out, rms_norm_written_out,
         normed_products, instance_norm, batch_norm, attention, attention, einsum)
