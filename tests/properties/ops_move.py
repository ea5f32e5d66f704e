"""Ops that move elements and compute nothing: every result is exact."""

import numpy as np
from onnx import numpy_helper

import domains
from dtypes import NAMES, element
from registry import op
from tolerance import exact




def int64s(c, values, constant=True):
    return c.input(np.asarray(values, np.int64), constant)


@op("Reshape", storage=True, oldest=5)
def reshape(c):
    shape = c.shape(1, 4, zero=0.1)
    x = c.draw(shape)
    allow_zero = c.has_attribute("allowzero") and c.chance(0.4)
    target = refactor(c, int(np.prod(shape)))
    values = list(target)
    if allow_zero:
        c.attr(allowzero=1)
    else:
        if 0 in shape:  # without allowzero a 0 copies the input's extent
            target, values = shape, [0 if c.chance(0.5) else d for d in shape]
        elif c.chance(0.4) and target and target[0] == shape[0]:
            values[0] = 0
        if values and 0 not in shape and c.chance(0.4):
            at = c.integer(0, len(values) - 1)
            values[at] = -1
    int64s(c, values)
    return exact(x.reshape(target))


def refactor(c, count):
    """A random shape with this many elements."""
    if count == 0:
        return c.choose([(0,), (0, 3), (2, 0, 5), (1, 0)])
    dims = []
    while count > 1 and len(dims) < 4:
        divisors = [d for d in range(1, count + 1) if count % d == 0]
        dims.append(c.choose(divisors))
        count //= dims[-1]
    return tuple(dims + ([count] if count > 1 or c.chance(0.4) else []))


@op("Flatten", storage=True, oldest=1)
def flatten(c):
    shape = c.shape(1, 5)
    axis = c.integer(0, len(shape))
    if c.version >= 11 and c.chance(0.4) and axis < len(shape):
        axis -= len(shape)
    c.attr(**({"axis": axis} if axis != 1 or c.chance(0.5) else {}))
    at = axis + len(shape) if axis < 0 else axis
    return exact(c.draw(shape).reshape(int(np.prod(shape[:at])), int(np.prod(shape[at:]))))


@op("Transpose", storage=True, oldest=1)
def transpose(c):
    x = c.draw(c.shape(0, 6, 500))
    perm = [int(p) for p in c.rng.permutation(x.ndim)]
    if c.chance(0.2) or not perm:
        return exact(np.transpose(x))
    c.attr(perm=perm)
    return exact(np.transpose(x, perm))


def axes_operand(c, axes):
    """Axes as an operand or, in older forms, an attribute."""
    axes = [int(a) for a in axes]
    if c.has_attribute("axes"):
        c.attr(axes=axes)
    else:
        int64s(c, axes)


@op("Squeeze", storage=True, oldest=1)
def squeeze(c):
    shape = list(c.shape(0, 3))
    ones = sorted(int(a) for a in c.rng.choice(len(shape) + 2, c.integer(0, 2), replace=False))
    for at in ones:
        shape.insert(min(at, len(shape)), 1)
    x = c.draw(tuple(shape))
    picked = [i for i, d in enumerate(shape) if d == 1 and c.chance(0.7)]
    if not picked or c.chance(0.2):
        return exact(np.squeeze(x))
    negative = c.version >= 11
    axes_operand(c, [a - len(shape) if negative and c.chance(0.4) else a for a in picked])
    return exact(np.squeeze(x, tuple(picked)))


@op("Unsqueeze", storage=True, oldest=1)
def unsqueeze(c):
    x = c.draw(c.shape(0, 3))
    rank = x.ndim + c.integer(1, 3)
    axes = c.rng.choice(rank, rank - x.ndim, replace=False)
    result = np.expand_dims(x, tuple(int(a) for a in axes))
    if c.version < 11:
        axes = sorted(axes)
    axes_operand(c, [a - rank if c.version >= 11 and c.chance(0.4) else a for a in axes])
    return exact(result)


@op("Concat", storage=True, oldest=4)
def concat(c):
    shape = list(c.shape(1, 4, 150))
    axis = c.axis(len(shape)) if c.version >= 11 else c.integer(0, len(shape) - 1)
    c.attr(axis=axis)
    parts = []
    for _ in range(c.integer(1, 6)):
        shape[axis] = c.integer(0, 6)
        parts.append(c.draw(tuple(shape)))
    return exact(np.concatenate(parts, axis))


@op("Split", storage=True, oldest=2)
def split(c):
    shape = list(c.shape(1, 4, 200, zero=0))
    axis = c.axis(len(shape)) if c.version >= 11 else c.integer(0, len(shape) - 1)
    count = c.integer(1, 4)
    sizes = [c.integer(0, 5) for _ in range(count)]
    form = c.choose(["sizes", "count", "sizes"])
    if form == "count":  # equal parts; from opset 18 the last may be smaller
        part = c.integer(1, 4)
        last = c.integer(1, part) if c.has_attribute("num_outputs") else part
        sizes = [part] * (count - 1) + [last]
    shape[axis] = sum(sizes)
    if form == "count" and c.has_attribute("num_outputs"):
        part = -(-sum(sizes) // count)  # what the standard computes from the number of outputs
        sizes = [part] * (count - 1) + [sum(sizes) - part * (count - 1)]
        if sizes[-1] < 0:
            sizes = [part] * count
            shape[axis] = part * count
    x = c.draw(tuple(shape))
    c.attr(axis=axis)
    c.outputs(count)
    if form == "count":
        c.attr(**({"num_outputs": count} if c.has_attribute("num_outputs") else {}))
    elif c.has_attribute("split"):
        c.attr(split=sizes)
    else:
        int64s(c, sizes)
    return [exact(p) for p in np.split(x, np.cumsum(sizes)[:-1], axis)]


@op("Slice", storage=True, oldest=1)
def slice_(c):
    shape = c.shape(1, 4, zero=0.05)
    x = c.draw(shape)
    axes = [int(a) for a in c.rng.permutation(len(shape))[:c.integer(1, len(shape))]]
    old = c.has_attribute("starts")
    steps = [c.choose([1, 1, 1, 2, 3]) if old else c.choose([1, 1, 2, 3, -1, -2, 7]) for _ in axes]
    steps = [1] * len(axes) if old else steps
    starts, ends, where = [], [], [slice(None)] * len(shape)
    for axis, step in zip(axes, steps):
        size = shape[axis]
        start, end = c.integer(-size - 2, size + 2), c.integer(-size - 2, size + 2)
        if c.chance(0.2):  # as far as it goes
            end = (2 ** 63 - 1) if step > 0 else -(2 ** 63) + 1
        starts.append(start), ends.append(end)
        where[axis] = slice_of(start, end, step, size)
    if old:
        c.attr(starts=starts, ends=ends, axes=axes)
    else:
        axes_given = [a - len(shape) if c.version >= 11 and c.chance(0.4) else a for a in axes]
        kind = c.choose([np.int64, np.int32])
        if kind is np.int32:
            ends = [int(np.clip(e, -2 ** 31 + 1, 2 ** 31 - 1)) for e in ends]
        whole = axes == list(range(len(axes))) and c.chance(0.5)
        for values in (starts, ends):
            c.input(np.asarray(values, kind), True)
        if whole and set(steps) == {1}:
            pass
        elif whole:
            c.skip(), c.input(np.asarray(steps, kind), True)
        else:
            c.input(np.asarray(axes_given, kind), True)
            if set(steps) != {1} or c.chance(0.3):
                c.input(np.asarray(steps, kind), True)
    return exact(x[tuple(where)])


def slice_of(start, end, step, size):
    """The standard's clamping, which is not Python's for a negative step: -1 after clamping is 'before
    the first element'."""
    start, end = (v + size if v < 0 else v for v in (start, end))
    if step > 0:
        return slice(min(max(start, 0), size), min(max(end, 0), size), step)
    start, end = min(max(start, 0), size - 1) if size else -1, min(max(end, -1), size - 1)
    if size == 0:
        return slice(0, 0, 1)
    return slice(start, None if end < 0 else end, step)


@op("Pad", storage=True, oldest=2)
def pad(c):
    modes = ["constant", "edge", "reflect"] + (["wrap"] if c.version >= 19 else [])
    mode = c.choose(modes)
    shape = c.shape(1, 4, 200, zero=0.05 if mode == "constant" else 0)
    x = c.draw(shape)
    axes = list(range(len(shape)))
    if c.has_input(3) and c.chance(0.5):
        axes = [int(a) for a in c.rng.permutation(len(shape))[:c.integer(1, len(shape))]]
    most = {a: shape[a] - 1 if mode == "reflect" else max(shape[a], 1) if mode == "wrap" else 3 for a in axes}
    begins, ends = [[c.integer(0, min(3, most[a])) for a in axes] for _ in range(2)]
    cut = mode != "reflect" and c.chance(0.25)
    if cut:  # negative pads remove elements
        begins = [-c.integer(0, shape[a] // 2) if c.chance(0.5) and shape[a] > 2 else b
                  for a, b in zip(axes, begins)]
        if mode != "constant":
            begins = [max(b, 0) for b in begins]
    c.attr(mode=mode) if mode != "constant" or c.chance(0.3) else None
    value = pad_operands(c, axes, begins, ends, len(shape), mode)
    widths = [(0, 0)] * len(shape)
    for a, b, e in zip(axes, begins, ends):
        widths[a] = (b, e)
    crop = tuple(slice(max(-b, 0), None) for b, _ in widths)
    grown = [(max(b, 0), e) for b, e in widths]
    if mode == "constant":
        return exact(np.pad(x[crop], grown, constant_values=value))
    return exact(np.pad(x[crop], grown, mode=mode))


def pad_operands(c, axes, begins, ends, rank, mode):
    """The pads and the value, as operands or attributes; the value."""
    if not c.has_input(1):
        c.attr(pads=begins + ends)
        value = c.uniform(-2, 2) if mode == "constant" and c.chance(0.6) else 0.0
        c.attr(**({"value": value} if value else {}))
        return np.float64(np.asarray(value, np.float32).astype(c.dtype()))
    int64s(c, begins + ends)
    named = c.has_input(3) and axes != list(range(rank))
    value = np.zeros((), c.dtype())
    if mode == "constant" and c.chance(0.6):
        value = domains.ordinary(c.rng, (), c.dtype())
        c.input(value, c.chance(0.7))
    elif named:
        c.skip()
    if named:
        given = [a - rank if c.chance(0.4) else a for a in axes]
        c.input(np.asarray(given, c.choose([np.int64, np.int32])), True)
    return value


@op("Tile", oldest=6)
def tile(c):
    shape = c.shape(1, 4, 60)
    repeats = [c.choose([1, 1, 2, 3, 0]) if c.chance(0.9) else 4 for _ in shape]
    x = c.draw(shape)
    int64s(c, repeats)
    return exact(np.tile(x, repeats))


@op("Expand", oldest=8)
def expand(c):
    full = c.shape(0, 4, 300)
    x = c.draw(c.broadcast_of(full))
    # The given shape may itself be 1 where the input is larger, or shorter than the input.
    given = [1 if c.chance(0.2) and len(full) - i <= x.ndim and x.shape[i - len(full)] == d else d
             for i, d in enumerate(full)]
    int64s(c, given)
    return exact(np.broadcast_to(x, np.broadcast_shapes(x.shape, tuple(given))))


@op("DepthToSpace", oldest=1)
def depth_to_space(c):
    b = c.integer(1, 3)
    n, ch, h, w = c.integer(1, 2), c.integer(1, 3), c.integer(1, 5), c.integer(1, 5)
    x = c.draw((n, ch * b * b, h, w))
    c.attr(blocksize=b)
    mode = c.choose(["DCR", "CRD"]) if c.has_attribute("mode") else "DCR"
    if mode == "CRD" or (c.has_attribute("mode") and c.chance(0.5)):
        c.attr(mode=mode)
    if mode == "DCR":
        y = x.reshape(n, b, b, ch, h, w).transpose(0, 3, 4, 1, 5, 2)
    else:
        y = x.reshape(n, ch, b, b, h, w).transpose(0, 1, 4, 2, 5, 3)
    return exact(y.reshape(n, ch, h * b, w * b))


@op("SpaceToDepth", oldest=1)
def space_to_depth(c):
    b = c.integer(1, 3)
    n, ch, h, w = c.integer(1, 2), c.integer(1, 3), c.integer(1, 4), c.integer(1, 4)
    x = c.draw((n, ch, h * b, w * b))
    c.attr(blocksize=b)
    y = x.reshape(n, ch, h, b, w, b).transpose(0, 3, 5, 1, 2, 4)
    return exact(y.reshape(n, ch * b * b, h, w))


@op("Trilu")
def trilu(c):
    x = c.draw(c.shape(2, 4))
    upper = c.chance(0.5)
    c.attr(**({"upper": int(upper)} if not upper or c.chance(0.5) else {}))
    k = 0
    if c.chance(0.7):
        k = c.integer(-5, 5)
        c.input(np.array(k, np.int64), True)
    if x.size == 0:
        return exact(x)
    rows, columns = np.indices(x.shape[-2:])
    keep = columns - rows >= k if upper else columns - rows <= k
    return exact(np.where(keep, x, np.zeros((), x.dtype)))


@op("Shape", oldest=1, storage=True)
def shape_of(c):
    x = c.draw(c.shape(0, 5))
    start, end = None, None
    if c.has_attribute("start") and c.chance(0.7):
        start = c.integer(-x.ndim - 1, x.ndim + 1)
        c.attr(start=start)
    if c.has_attribute("end") and c.chance(0.6):
        end = c.integer(-x.ndim - 1, x.ndim + 1)
        c.attr(end=end)
    return np.asarray(x.shape, np.int64)[slice(start, end)]


@op("Size", oldest=1, storage=True)
def size_of(c):
    return np.asarray(c.draw(c.shape(0, 5)).size, np.int64)


@op("ConstantOfShape", oldest=9)
def constant_of_shape(c):
    shape = c.shape(0, 4)
    int64s(c, shape)
    if c.chance(0.15):
        return exact(np.zeros(shape, np.float32))
    value = domains.ordinary(c.rng, (1,), c.dtype("T2"))
    c.attr(value=numpy_helper.from_array(value))
    return exact(np.full(shape, value[0]))


@op("Constant", oldest=1)
def constant(c):
    """Its result is an output of the model as it is."""
    forms = [n for n in ("value", "value_float", "value_floats", "value_int", "value_ints")
             if c.has_attribute(n)]
    form = "value" if c.chance(0.6) else c.choose(forms)
    if form == "value":
        value = domains.ordinary(c.rng, c.shape(), c.dtype())
        c.attr(value=numpy_helper.from_array(value))
        return exact(value)
    kind = np.float32 if "float" in form else np.int64
    value = domains.ordinary(c.rng, c.shape(1, 1, zero=0) if form.endswith("s") else (), kind)
    c.attr(**{form: value.tolist()})
    return exact(value)


@op("EyeLike", oldest=9)
def eye_like(c):
    shape = c.shape(2, 2)
    c.draw(shape, "T1")
    dtype = c.dtype("T1")
    if c.chance(0.5):
        dtype = c.choose(c.allowed("T2"))
        c.attr(dtype=element(dtype))
    k = c.integer(-4, 4)
    c.attr(**({"k": k} if k else {}))
    return exact(np.eye(*shape, k=k, dtype=dtype))


@op("BitCast", oldest=26)
def bit_cast(c):
    array = domains.whole_range(c.rng, c.shape(), c.dtype("T1"))
    same = [t for t in c.allowed("T2") if t.itemsize == array.dtype.itemsize and NAMES[t] != "bool"]
    if NAMES[array.dtype] == "bool":
        same = [np.dtype(np.bool_), np.dtype(np.uint8), np.dtype(np.int8)]
    to = c.choose(same)
    c.input(array)
    c.attr(to=element(to))
    return exact(array.view(to))
