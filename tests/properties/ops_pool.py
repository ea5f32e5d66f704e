"""Pools, and what works on neighbouring channels or windows."""

import numpy as np

import domains
from dtypes import is_float
from registry import op
from tolerance import exact, near
from windows import random_window


def ceiling(c, window):
    """ceil_mode with auto_pad is not said clearly by the standard: only with explicit pads."""
    ceil = c.has_attribute("ceil_mode") and window.mode == "NOTSET" and c.chance(0.4)
    c.attr(**({"ceil_mode": 1} if ceil else {}))
    return ceil


def pool_window(c, *ranks, dilated=True):
    """Without windows that hold nothing but padding: their maximum and mean are not defined."""
    while True:
        spatial, window = random_window(c, *ranks, dilated=dilated and c.has_attribute("dilations"))
        ones = np.ones((1, 1, *spatial))
        if all(windows_of(ones, window, window.outputs(spatial, ceil), 0).sum(0).all()
               for ceil in (False, True)):
            return spatial, window


def windows_of(x, window, out, value):
    """(kernel positions, N, C, out...): every window's elements; outside stands `value`."""
    extra = [max((o - 1) * t + r - s - b - e, 0) for o, t, r, s, b, e in
             zip(out, window.strides, window.reach, x.shape[2:], window.begin, window.end)]
    padded = window.pad(x, value, extra)
    return np.stack([window.pick(padded, at, out) for at in window.positions()])


@op("AveragePool", oldest=1)
def average_pool(c):
    spatial, window = pool_window(c)
    x = c.draw((c.integer(1, 2), c.integer(1, 3), *spatial))
    ceil = ceiling(c, window)
    c.attr(**window.attributes(c))
    counted = c.has_attribute("count_include_pad") and c.chance(0.4)
    c.attr(**({"count_include_pad": 1} if counted else {}))
    out = window.outputs(spatial, ceil)
    ones = np.ones(x.shape)
    if counted:  # the pads count, what ceil_mode adds behind them does not
        inner = window.pad(ones, 1)
        saved = window.begin, window.end
        zeros = [0] * len(spatial)
        window.begin, window.end = zeros, zeros
        count = windows_of(inner, window, out, 0).sum(0)
        window.begin, window.end = saved
    else:
        count = windows_of(ones, window, out, 0).sum(0)
    return near(windows_of(x, window, out, 0).sum(0) / count,
                windows_of(np.abs(x), window, out, 0).sum(0) / count)


@op("MaxPool", oldest=1)
def max_pool(c):
    spatial, window = pool_window(c)
    x = c.draw((c.integer(1, 2), c.integer(1, 3), *spatial), domain=domains.distinct
               if np.prod(spatial) < 40 and c.dtype().itemsize > 1 else domains.ordinary)
    ceil = ceiling(c, window)
    c.attr(**window.attributes(c))
    out = window.outputs(spatial, ceil)
    low = -np.inf if is_float(c.dtype()) else np.iinfo(c.dtype()).min
    found = windows_of(x, window, out, low)
    if c.version < 8 or c.chance(0.5):
        return exact(found.max(0))
    order = "F" if c.has_attribute("storage_order") and c.chance(0.4) else "C"
    c.attr(**({"storage_order": 1} if order == "F" else {}))
    c.outputs(2)
    planes = np.arange(int(np.prod(x.shape[:2]))).reshape(*x.shape[:2], *[1] * len(spatial))
    flat = np.arange(int(np.prod(spatial))).reshape(spatial, order=order)
    where = windows_of(planes * flat.size + flat, window, out, -1)
    first = np.argmax(np.where(where >= 0, found.astype(np.float64), -np.inf), 0)
    return [exact(found.max(0)), np.take_along_axis(where, first[None], 0)[0].astype(np.int64)]


@op("LpPool", oldest=2)
def lp_pool(c):
    spatial, window = pool_window(c)
    x = c.draw((c.integer(1, 2), c.integer(1, 3), *spatial))
    p = c.integer(1, 3)
    c.attr(**({"p": p} if p != 2 or c.chance(0.5) else {}))
    ceil = ceiling(c, window)
    c.attr(**window.attributes(c))
    found = windows_of(np.abs(x), window, window.outputs(spatial, ceil), 0)
    y = (found ** p).sum(0) ** (1 / p)
    return near(y, y)


def global_pool(name, function):
    @op(name, oldest=1)
    def make(c):
        shape = (c.integer(1, 3), c.integer(1, 4)) + c.shape(1, 3, 200, zero=0)
        x = c.draw(shape)
        axes = tuple(range(2, len(shape)))
        y = function(x, axis=axes, keepdims=True)
        return exact(y) if name == "GlobalMaxPool" else near(y, np.mean(np.abs(x), axes, keepdims=True))


global_pool("GlobalAveragePool", np.mean)
global_pool("GlobalMaxPool", np.max)


@op("MaxUnpool")
def max_unpool(c):
    spatial = [c.integer(1, 5) for _ in range(c.integer(1, 2))]
    kernel = [c.integer(1, 3) for _ in spatial]
    strides = [c.integer(1, 3) for _ in spatial]
    out = [(s - 1) * t + k for s, t, k in zip(spatial, strides, kernel)]
    n, ch = c.integer(1, 2), c.integer(1, 3)
    x = c.draw((n, ch, *spatial), "T1")
    area, count = int(np.prod(out)), int(np.prod(spatial))
    # No two elements go to one place. Positions count in the smallest output, whatever output_shape says.
    at = np.stack([c.rng.choice(area, count, replace=False) + plane * area for plane in range(n * ch)])
    c.input(at.reshape(n, ch, *spatial).astype(np.int64))
    more = [0] * len(out)
    if c.chance(0.4):
        more = [c.integer(0, 2) for _ in out]
        c.input(np.asarray([n, ch, *[o + m for o, m in zip(out, more)]], np.int64), True)
    c.attr(kernel_shape=kernel, strides=strides)
    y = np.zeros(n * ch * area)
    y[at.reshape(-1)] = x.reshape(-1)
    return exact(np.pad(y.reshape(n, ch, *out), [(0, 0), (0, 0)] + [(0, m) for m in more]))


@op("LRN", oldest=1)
def lrn(c):
    shape = (c.integer(1, 2), c.integer(1, 7)) + c.shape(0, 3, 40, zero=0)
    if len(shape) < 3:
        shape += (3,)
    x = c.draw(shape)
    size = c.choose([1, 3, 5, 2, 4])
    values = {"alpha": float(np.float32(1e-4)), "beta": 0.75, "bias": 1.0}
    for key, (low, high) in {"alpha": (0.01, 0.5), "beta": (0.3, 1), "bias": (0.8, 2)}.items():
        if c.chance(0.6):
            values[key] = float(np.float32(c.uniform(low, high)))
            c.attr(**{key: values[key]})
    c.attr(size=size)
    total = np.zeros_like(x)
    for ch in range(shape[1]):
        low, high = ch - (size - 1) // 2, ch + -(-(size - 1) // 2)
        total[:, ch] = np.sum(x[:, max(low, 0):high + 1] ** 2, 1)
    y = x / (values["bias"] + values["alpha"] / size * total) ** values["beta"]
    return near(y, np.abs(y))
