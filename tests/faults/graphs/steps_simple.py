"""Nodes that work on elements, and those that move them."""

import numpy as np


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def gelu(x):
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


UNARY = {"Relu": (lambda x: np.maximum(x, 0), {}), "Sigmoid": (sigmoid, {}), "Tanh": (np.tanh, {}),
         "Neg": (np.negative, {}), "Abs": (np.abs, {}), "Sin": (np.sin, {}), "Cos": (np.cos, {}),
         "Atan": (np.arctan, {}), "Asinh": (np.arcsinh, {}), "Identity": (lambda x: x, {}),
         "Softplus": (lambda x: np.log1p(np.exp(-np.abs(x))) + np.maximum(x, 0), {}),
         "Softsign": (lambda x: x / (1 + np.abs(x)), {}),
         "LeakyRelu": (lambda x: np.where(x < 0, 0.25 * x, x), {"alpha": 0.25}),
         "Elu": (lambda x: np.where(x < 0, np.expm1(np.minimum(x, 0)), x), {}),
         "HardSigmoid": (lambda x: np.clip(0.25 * x + 0.5, 0, 1), {"alpha": 0.25}),
         "HardSwish": (lambda x: x * np.clip(x / 6 + 0.5, 0, 1), {}),
         "Mish": (lambda x: x * np.tanh(np.log1p(np.exp(-np.abs(x))) + np.maximum(x, 0)), {})}
BINARY = {"Add": np.add, "Sub": np.subtract, "Mul": np.multiply, "Max": np.maximum, "Min": np.minimum}


def unary(g, x, v):
    op = g.choose(list(UNARY))
    function, attrs = UNARY[op]
    return g.add(op, [x], function, **attrs)


def broadcast(g, v):
    """An array that has the value's shape, or less of it."""
    first = 0 if g.batch is None else 1
    shape = [1 if k < first or g.chance(0.4) else d for k, d in enumerate(v.shape)]
    return g.numbers(shape[g.integer(0, v.ndim):])


def binary(g, x, v):
    op = g.choose(list(BINARY))
    if g.chance(0.5):
        return g.add(op, [x, g.choose([n for n, w in g.values.items() if w.shape == v.shape])], BINARY[op])
    inputs = [x, g.constant(broadcast(g, v))]
    return g.add(op, inputs[::-1] if g.chance(0.3) else inputs, BINARY[op])


def quotient(g, x, v):
    divisor = broadcast(g, v)
    return g.add("Div", [x, g.constant(np.float32(1.5) + divisor)], np.divide)


def power(g, x, v):
    exponent = g.choose((2.0, 3.0, 0.5, 1.0))
    base = g.add("Abs", [x], np.abs) if exponent == 0.5 else x
    if exponent == 0.5:
        base = g.add("Add", [base, g.constant(np.float32(0.5))], np.add)
    return g.add("Pow", [base, g.constant(np.float32(exponent))], lambda a, e: a**e)


def root(g, x, v):
    square = g.add("Mul", [x, x], np.multiply)
    shifted = g.add("Add", [square, g.constant(np.float32(0.5))], np.add)
    made = g.add("Sqrt", [shifted], np.sqrt)
    return g.add("Reciprocal", [made], lambda a: 1 / a) if g.chance(0.5) else made


def clip(g, x, v):
    low = float(g.rng.uniform(-1, 0))
    inputs = [x, g.constant(np.float32(low))]
    if g.chance(0.7):
        inputs.append(g.constant(np.float32(low + 1)))
    return g.add("Clip", inputs, lambda a, lo, hi=np.inf: np.clip(a, lo, hi))


def swish(g, x, v):
    gate = g.add("Sigmoid", [x], sigmoid)
    return g.add("Mul", [x, gate], np.multiply)


def gelu_written_out(g, x, v):
    cube = g.add("Pow", [x, g.constant(np.float32(3))], lambda a, e: a**e)
    inner = g.add("Add", [x, g.add("Mul", [cube, g.constant(np.float32(0.044715))], np.multiply)], np.add)
    inner = g.add("Tanh", [g.add("Mul", [inner, g.constant(np.float32(0.7978845608))], np.multiply)], np.tanh)
    half = g.add("Mul", [x, g.constant(np.float32(0.5))], np.multiply)
    return g.add("Mul", [half, g.add("Add", [inner, g.constant(np.float32(1))], np.add)], np.multiply)


def total(g, x, v):
    same = [n for n, w in g.values.items() if w.shape == v.shape]
    names = [x] + [g.choose(same) for _ in range(g.integer(0, 4))]
    if g.chance(0.5):
        return g.add("Sum", names, lambda *a: sum(a))
    return g.add("Mean", names, lambda *a: sum(a) / len(a))


def where(g, x, v):
    """By a constant mask, or by a comparison with a number far from all elements."""
    other = g.choose([n for n, w in g.values.items() if w.shape == v.shape])
    if g.chance(0.5):
        mask = g.constant(broadcast(g, v) > 0)
    else:
        name = g.choose([n for n, w in g.values.items() if w.shape == v.shape])
        ordered = np.sort(g.values[name], axis=None)
        gaps = np.diff(ordered)
        if not gaps.size or gaps.max() < 0.01 or g.changes:
            return None
        at = int(gaps.argmax())
        g.smooth = False
        limit = g.constant(np.float32((ordered[at] + ordered[at + 1]) / 2))
        mask = g.add("Greater", [name, limit], np.greater, hidden=True)
        if g.chance(0.3):
            mask = g.add("Not", [mask], np.logical_not, hidden=True)
    return g.add("Where", [mask, x, other], np.where)


def cast(g, x, v):
    """Through booleans of constants, or through f64 and back, which changes nothing."""
    wide = g.add("Cast", [x], lambda a: a, hidden=True, to=11)
    return g.add("Cast", [wide], lambda a: a, to=1)


def transpose(g, x, v):
    first = 0 if g.batch is None else 1
    perm = list(range(first)) + [first + int(p) for p in g.rng.permutation(v.ndim - first)]
    return g.add("Transpose", [x], lambda a: a.transpose(perm), perm=perm)


def reshape(g, x, v):
    first = 0 if g.batch is None else 1
    shape = list(v.shape)
    if len(shape) > first + 1 and g.chance(0.6):
        at = g.integer(first, len(shape) - 2)
        shape[at:at + 2] = [shape[at] * shape[at + 1]]
    elif len(shape) < 4:
        shape.insert(g.integer(first, len(shape)), 1)
    elif len(shape) > first:
        at = g.integer(first, len(shape) - 1)
        factors = [f for f in range(1, shape[at] + 1) if shape[at] % f == 0]
        factor = g.choose(factors)
        shape[at:at + 1] = [shape[at] // factor, factor]
    if len(shape) > 5:
        return None
    said = [0] * first + shape[first:]
    return g.add("Reshape", [x, g.integers(*said)], lambda a, s: a.reshape(list(a.shape[:first]) + shape[first:]))


def concat(g, x, v):
    axis = g.axis(v)
    if axis is None:
        return None
    fits = [n for n, w in g.values.items() if w.ndim == v.ndim
            and all(a == b for d, (a, b) in enumerate(zip(w.shape, v.shape)) if d != axis)]
    names = [x] + [g.choose(fits) for _ in range(g.integer(1, 2))]
    return g.add("Concat", names, lambda *a: np.concatenate(a, axis), axis=axis)


def cut(g, x, v):
    axis = g.axis(v)
    if axis is None or v.shape[axis] < 2:
        return None
    if g.chance(0.2):
        start, stop, step = v.shape[axis] - 1, -v.shape[axis] - 1, -1
        where_to = slice(None, None, -1)
    else:
        start, stop, step = g.integer(0, v.shape[axis] - 1), v.shape[axis], g.choose((1, 1, 2))
        where_to = slice(start, None, step)
    lists = [g.integers(n) for n in (start, stop, axis, step)]
    return g.add("Slice", [x, *lists], lambda a, *_: a[(slice(None),) * axis + (where_to,)])


def split(g, x, v):
    """Halves, both of which are used."""
    axis = g.axis(v)
    if axis is None or v.shape[axis] < 2:
        return None
    at = g.integer(1, v.shape[axis] - 1)
    parts = [lambda a, _: np.split(a, [at], axis)[0], lambda a, _: np.split(a, [at], axis)[1]]
    names = g.add_many("Split", [x, g.integers(at, v.shape[axis] - at)], parts, axis=axis)
    return g.choose(names)


def gated_halves(g, x, v):
    """SwiGLU: an activation of one half of the last axis times the other."""
    if v.ndim < 2 or v.shape[-1] % 2 or (g.batch is not None and v.ndim < 2):
        return None
    half = [lambda a: np.split(a, 2, -1)[0], lambda a: np.split(a, 2, -1)[1]]
    gate, value = g.add_many("Split", [x], half, axis=-1, num_outputs=2)
    return g.add("Mul", [swish(g, gate, g.values[gate]), value], np.multiply)


def pad(g, x, v):
    first = 0 if g.batch is None else 1
    pads = [0 if k < first else g.integer(0, 2) for _ in range(2) for k in range(v.ndim)]
    pairs = list(zip(pads[:v.ndim], pads[v.ndim:]))
    if np.prod([d + a + b for d, (a, b) in zip(v.shape, pairs)]) > 4000:
        return None
    mode = g.choose(("constant", "constant", "edge", "reflect"))
    if mode == "reflect" and any(max(p) >= d for p, d in zip(pairs, v.shape)):
        mode = "edge"
    if mode == "constant":
        value = g.constant(np.array(0.5, np.float32))
        return g.add("Pad", [x, g.integers(*pads), value], lambda a, *_: np.pad(a, pairs, constant_values=0.5))
    return g.add("Pad", [x, g.integers(*pads)], lambda a, _: np.pad(a, pairs, mode), mode=mode)


def expand(g, x, v):
    ones = [k for k in range(0 if g.batch is None else 1, v.ndim) if v.shape[k] == 1]
    if not ones:
        return None
    at, times = g.choose(ones), g.integer(2, 4)
    shape = [1] * v.ndim
    shape[at] = times
    return g.add("Expand", [x, g.integers(*shape)], lambda a, s: a * np.ones([int(d) for d in s]))


def tile(g, x, v):
    axis = g.axis(v)
    if axis is None or v.size > 1000:
        return None
    times = [1] * v.ndim
    times[axis] = g.integer(1, 3)
    return g.add("Tile", [x, g.integers(*times)], lambda a, _: np.tile(a, times))


def depth_to_space(g, x, v):
    if v.ndim != 4 or v.shape[1] % 4:
        return None

    def moved(a):
        n, c, h, w = a.shape
        return a.reshape(n, 2, 2, c // 4, h, w).transpose(0, 3, 4, 1, 5, 2).reshape(n, c // 4, h * 2, w * 2)

    return g.add("DepthToSpace", [x], moved, blocksize=2)


def upsample(g, x, v):
    if v.ndim != 4 or v.size > 800:
        return None
    scales = g.constant(np.array([1, 1, 2, 2], np.float32))
    return g.add("Resize", [x, "", scales], lambda a, _: a.repeat(2, 2).repeat(2, 3), mode="nearest",
                 coordinate_transformation_mode="asymmetric", nearest_mode="floor")


STEPS = (unary, unary, unary, binary, binary, binary, quotient, power, root, clip, swish, gelu_written_out, total, where,
         cast, transpose, transpose, reshape, reshape, concat, cut, split, gated_halves, pad, expand, tile,
         depth_to_space, upsample)
