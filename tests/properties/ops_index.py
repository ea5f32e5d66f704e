"""Ops that select or place elements by indices."""

import numpy as np

import domains
from dtypes import is_float
from registry import op
from tolerance import exact, near


def indices(c, shape, size, parameter=None, unique=False, negative=True):
    """Random positions on an axis of `size`, some counted from the end; operand, then non-negative."""
    if unique:
        flat = c.rng.choice(size, int(np.prod(shape)), replace=False).reshape(shape)
    else:
        flat = c.rng.integers(0, max(size, 1), shape)
    given = np.where((c.rng.random(shape) < 0.3) & negative, flat - size, flat)
    kind = c.dtype(parameter) if parameter else np.dtype(np.int64)
    c.input(given.astype(kind))
    return flat


@op("Gather", oldest=1)
def gather(c):
    shape = c.shape(1, 4, 200, zero=0)
    x = c.draw(shape)
    axis = c.axis(len(shape)) if c.version >= 11 else c.integer(0, len(shape) - 1)
    at = indices(c, c.shape(0, 3, 30, zero=0.1), shape[axis], "Tind", negative=c.version >= 11)
    c.attr(**({"axis": axis} if axis or c.chance(0.5) else {}))
    return exact(np.take(x, at, axis))


@op("GatherElements")
def gather_elements(c):
    shape = c.shape(1, 4, 200, zero=0)
    x = c.draw(shape)
    axis = c.axis(len(shape))
    # Away from the axis the indices may cover less than the data.
    other = [c.integer(1, d) if c.chance(0.3) else d for d in shape]
    other[axis] = c.integer(0, 7)
    at = indices(c, tuple(other), shape[axis], "Tind")
    c.attr(**({"axis": axis} if axis or c.chance(0.5) else {}))
    part = x[tuple(slice(None) if i == axis % len(shape) else slice(d) for i, d in enumerate(other))]
    return exact(np.take_along_axis(part, at, axis))


@op("GatherND")
def gather_nd(c):
    shape = c.shape(1, 4, 200, zero=0)
    x = c.draw(shape)
    batch = c.integer(0, len(shape) - 1) if c.has_attribute("batch_dims") and c.chance(0.5) else 0
    depth = c.integer(1, len(shape) - batch)
    outer = c.shape(0 if batch else 1, 2, 12, zero=0.05)
    where = shape[:batch] + outer
    parts = [c.rng.integers(0, d, where) for d in shape[batch:batch + depth]]
    given = [np.where(c.rng.random(where) < 0.3, p - d, p) for p, d in zip(parts, shape[batch:])]
    c.input(np.stack(given, -1).astype(np.int64))
    if batch:
        c.attr(batch_dims=batch)
    lead = np.indices(where, sparse=True)[:batch]
    return exact(x[tuple(lead) + tuple(parts)])


def reductions(c):
    """A reduction that the version knows, and its function."""
    names = ["none"]
    if c.has_attribute("reduction"):
        names += ["add", "mul"] + (["max", "min"] if c.version >= 18 else [])
    name = c.choose(names)
    if name != "none":
        c.attr(reduction=name)
    return name, {"none": None, "add": np.add, "mul": np.multiply, "max": np.maximum,
                  "min": np.minimum}[name]


def scattered(c, name, y, scale):
    if not is_float(c.dtype()):
        return exact(y.astype(c.dtype()))
    return near(y, scale) if name in ("add", "mul") else exact(y)


def numeric(c):
    """Reductions are for numbers."""
    return c.dtype() != np.bool_


def place(y, at, updates, function):
    if function is None:
        y[at] = updates
    elif y.dtype == bool:
        function = {np.add: np.logical_or, np.multiply: np.logical_and}.get(function, function)
        function.at(y, at, updates)
    else:
        function.at(y, at, updates)


def scatter_elements(c):
    shape = c.shape(1, 4, 120, zero=0)
    x = c.draw(shape, domain=domains.nonzero if numeric(c) else domains.ordinary)
    axis = c.axis(len(shape)) if c.version >= 11 else c.integer(0, len(shape) - 1)
    name, function = reductions(c) if numeric(c) else ("none", None)
    other = [c.integer(1, d) if c.chance(0.4) else d for d in shape]
    count = c.integer(1, min(shape[axis], 5)) if function is None else c.integer(1, 3)
    other[axis] = count
    # Equal positions have an order only with a reduction.
    lines = [c.rng.choice(shape[axis], count, replace=function is not None)
             for _ in range(int(np.prod(other)) // count)]
    flat = np.moveaxis(np.array(lines).reshape([d for i, d in enumerate(other) if i != axis % len(shape)]
                                               + [count]), -1, axis)
    negative = (c.rng.random(flat.shape) < 0.3) & (c.version >= 11)
    c.input(np.where(negative, flat - shape[axis], flat).astype(c.dtype("Tind")))
    domain = domains.between if numeric(c) else domains.ordinary
    updates = c.draw(flat.shape, domain=domain, **({"low": 1, "high": 2} if numeric(c) else {}))
    c.attr(**({"axis": axis} if axis or c.chance(0.5) else {}))
    at = list(np.indices(flat.shape, sparse=True))
    at[axis] = flat
    y, scale = x.copy(), np.abs(x.astype(np.float64))
    place(y, tuple(at), updates, function)
    if function:
        place(scale, tuple(at), np.abs(updates.astype(np.float64)), function)
    return scattered(c, name, y, scale)


op("ScatterElements", also=(16, 11))(scatter_elements)
op("Scatter")(scatter_elements)


@op("ScatterND", also=(16, 11))
def scatter_nd(c):
    shape = c.shape(1, 4, 120, zero=0)
    x = c.draw(shape, domain=domains.nonzero if numeric(c) else domains.ordinary)
    name, function = reductions(c) if numeric(c) else ("none", None)
    depth = c.integer(1, len(shape))
    cells = int(np.prod(shape[:depth]))
    outer = (c.integer(1, min(cells, 6)),) if c.chance(0.7) else (1, c.integer(1, min(cells, 5)))
    flat = c.rng.choice(cells, int(np.prod(outer)), replace=function is not None)
    parts = [p.reshape(outer) for p in np.unravel_index(flat, shape[:depth])]
    given = [np.where(c.rng.random(outer) < 0.3, p - d, p) for p, d in zip(parts, shape)]
    c.input(np.stack(given, -1).astype(np.int64))
    domain = domains.between if numeric(c) else domains.ordinary
    updates = c.draw(outer + shape[depth:], domain=domain,
                     **({"low": 1, "high": 2} if numeric(c) else {}))
    y, scale = x.copy(), np.abs(x.astype(np.float64))
    place(y, tuple(parts), updates, function)
    if function:
        place(scale, tuple(parts), np.abs(updates.astype(np.float64)), function)
    return scattered(c, name, y, scale)


@op("TensorScatter")
def tensor_scatter(c):
    shape = c.shape(2, 4, 200, zero=0)
    cache = c.draw(shape)
    axis = c.integer(1, len(shape) - 1)
    size = shape[axis]
    count = c.integer(1, size)
    updates = c.draw(shape[:axis] + (count,) + shape[axis + 1:])
    circular = c.chance(0.5)
    c.attr(mode="circular") if circular else (c.attr(mode="linear") if c.chance(0.5) else None)
    given = axis - len(shape) if c.chance(0.5) else axis
    c.attr(**({"axis": given} if given != -2 or c.chance(0.5) else {}))
    starts = np.zeros(shape[0], np.int64)
    if c.chance(0.7):
        starts = c.rng.integers(0, size + 1 if circular else size - count + 1, shape[0])
        c.input(starts.astype(np.int64))
    y = cache.copy()
    for batch, start in enumerate(starts):
        for i in range(count):
            to, source = [slice(None)] * len(shape), [slice(None)] * len(shape)
            to[0] = source[0] = batch
            to[axis], source[axis] = (start + i) % size, i
            y[tuple(to)] = updates[tuple(source)]
    return exact(y)


@op("OneHot", oldest=9)
def one_hot(c):
    where = c.shape(0, 3, 40, zero=0.05)
    depth = c.integer(1, 9)
    flat = c.rng.integers(-depth - 1, depth + 2, where)  # what lies outside is "off"
    kind = c.dtype("T1", among=lambda t: np.dtype(t).kind == "i" or is_float(t))
    if kind.kind not in "if" and not is_float(kind):
        flat = np.abs(flat)
    if c.version < 11:
        flat = np.abs(flat)
    c.input(flat.astype(kind))
    c.input(np.array(depth if c.chance(0.5) else [depth]).astype(c.choose(
        [t for t in c.allowed("T2") if t.kind in "iu"])), True)
    values = domains.distinct(c.rng, (2,), c.dtype("T3"))
    values = c.input(values)
    axis = c.integer(-len(where) - 1, len(where))
    c.attr(**({"axis": axis} if axis != -1 or c.chance(0.5) else {}))
    at = np.where(flat < 0, flat + depth, flat)
    hot = np.expand_dims(at, axis) == np.arange(depth).reshape(
        [depth if i == axis % (len(where) + 1) else 1 for i in range(len(where) + 1)])
    return exact(np.where(hot, values[1], values[0]))


@op("NonZero")
def non_zero(c):
    x = c.draw(c.shape(1, 4))
    x = c.rewrite(np.where(c.rng.random(x.shape) < 0.5, x, np.zeros_like(x)))
    return np.asarray(np.nonzero(x), np.int64).reshape(x.ndim, -1)


@op("Compress")
def compress(c):
    shape = c.shape(1, 4, 200, zero=0)
    x = c.draw(shape)
    axis = c.axis(len(shape)) if c.chance(0.7) else None
    if axis is not None and c.version < 11:
        axis %= len(shape)
    size = x.size if axis is None else shape[axis]
    condition = c.rng.random(c.integer(1, size)) < 0.6
    c.input(condition)
    if axis is not None:
        c.attr(axis=axis)
    return exact(np.compress(condition, x, axis))


@op("Unique")
def unique(c):
    shape = c.shape(1, 3, 60, zero=0)
    x = c.draw(shape)
    if is_float(c.dtype()):
        x = c.rewrite(np.rint(x))
    axis = c.axis(len(shape)) if c.chance(0.5) else None
    is_sorted = c.chance(0.6)
    c.attr(**({"axis": axis} if axis is not None else {}), **({} if is_sorted else {"sorted": 0}))
    values, first, inverse, counts = np.unique(x, True, True, True, axis=axis)
    inverse = inverse.reshape(-1)
    if not is_sorted:  # in the order of first appearance
        order = np.argsort(first)
        rank = np.argsort(order)
        values = np.take(values, order, 0 if axis is None else axis)
        first, counts, inverse = first[order], counts[order], rank[inverse]
    c.outputs(4)
    return [exact(values)] + [v.astype(np.int64) for v in (first, inverse, counts)]


@op("ReverseSequence")
def reverse_sequence(c):
    shape = c.shape(2, 4, 200, zero=0)
    time_axis = c.integer(0, 1)
    x = c.draw(shape)
    lengths = c.rng.integers(1, shape[time_axis] + 1, shape[1 - time_axis])
    c.input(lengths.astype(np.int64))
    c.attr(time_axis=time_axis, batch_axis=1 - time_axis)
    y = np.moveaxis(x.copy(), (time_axis, 1 - time_axis), (0, 1))
    for batch, length in enumerate(lengths):
        y[:length, batch] = y[:length, batch][::-1]
    return exact(np.moveaxis(y, (0, 1), (time_axis, 1 - time_axis)))


@op("CenterCropPad")
def center_crop_pad(c):
    shape = c.shape(1, 4, 200, zero=0)
    x = c.draw(shape)
    axes = list(range(len(shape)))
    if c.chance(0.6):
        axes = [int(a) for a in c.rng.permutation(len(shape))[:c.integer(1, len(shape))]]
        c.attr(axes=[a - len(shape) if c.chance(0.4) else a for a in axes])
    target = [c.integer(1, 12) for _ in axes]
    c.input(np.asarray(target, c.dtype("Tind")), True)
    y = x
    for axis, want in zip(axes, target):
        have = y.shape[axis]
        if want < have:
            start = (have - want) // 2
            y = np.take(y, range(start, start + want), axis)
        else:
            before = (want - have) // 2
            widths = [(0, 0)] * y.ndim
            widths[axis] = (before, want - have - before)
            y = np.pad(y, widths)
    return exact(y)


@op("Range")
def range_(c):
    dtype = c.dtype()
    limit = c.integer(1, 12)
    start, delta = c.integer(-9, 9), c.choose([1, 2, 3, -1, -2])
    if is_float(dtype):
        start, delta = start / 2, delta / 2
    end = start + delta * limit + (delta / 2 if is_float(dtype) else 0)
    if c.chance(0.1):
        end = start - delta  # nothing
    for value in (start, end, delta):
        c.input(np.array(value).astype(dtype), True)
    count = max(int(np.ceil((end - start) / delta)), 0)
    return exact((start + delta * np.arange(count)).astype(dtype))
