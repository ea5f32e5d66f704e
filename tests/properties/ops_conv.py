"""Convolutions of every kind."""

import numpy as np

import domains
import extremes
from ops_unary import sigmoid
from registry import op
from tolerance import near
from windows import convolve, random_window


def conv_shapes(c, spatial, window, largest=4):
    """x, w shapes and the group."""
    group = c.choose([1, 1, 1, 2, 3])
    take, per = c.integer(1, largest), c.integer(1, largest)
    if c.chance(0.2):  # depthwise
        group, take, per = c.integer(2, 6), 1, c.integer(1, 2)
    n = 0 if c.chance(0.03) else c.integer(1, 2)
    return (n, group * take, *spatial), (group * per, take, *window.kernel), group


@op("Conv", oldest=1)
def conv(c):
    spatial, window = random_window(c)
    x_shape, w_shape, group = conv_shapes(c, spatial, window)
    x, w = c.draw(x_shape), c.draw(w_shape)
    c.attr(**window.attributes(c, c.chance(0.5)), **({"group": group} if group > 1 else {}))
    y, scale = convolve(x, w, window, group), convolve(np.abs(x), np.abs(w), window, group)
    if c.chance(0.6):
        bias = c.draw((w_shape[0],)).reshape(-1, *[1] * len(spatial))
        y, scale = y + bias, scale + np.abs(bias)
    return near(y, scale)


@op("ConvInteger")
def conv_integer(c):
    spatial, window = random_window(c, 1, 2)
    x_shape, w_shape, group = conv_shapes(c, spatial, window)
    x = c.draw(x_shape, "T1", domain=domains.whole_range).astype(np.int64)
    w = c.draw(w_shape, "T2", domain=domains.whole_range).astype(np.int64)
    c.attr(**window.attributes(c, c.chance(0.5)), **({"group": group} if group > 1 else {}))
    if c.chance(0.7):
        x = x - c.input(extremes.zero_points(c, (), c.dtype("T1"))).astype(np.int64)
        if c.chance(0.7):
            per = () if c.chance(0.6) else (w_shape[0],)
            zero = c.input(extremes.zero_points(c, per, c.dtype("T2"))).astype(np.int64)
            w = w - zero.reshape(zero.shape + (1,) * (w.ndim - 1) if zero.ndim else ())
    return convolve(x, w, window, group).astype(np.int32)


@op("ConvTranspose", oldest=1)
def conv_transpose(c):
    spatial, window = random_window(c, auto=False)
    group = c.choose([1, 1, 2])
    take, per = c.integer(1, 3), c.integer(1, 3)
    x = c.draw((c.integer(1, 2), group * take, *spatial))
    w = c.draw((group * take, per, *window.kernel))
    # Beside a stride or a dilation of 1 an added row would hold nothing.
    extra = [c.integer(0, max(s, d) - 1) if c.chance(0.4) else 0
             for s, d in zip(window.strides, window.dilations)]
    out = [(s - 1) * t + e + r - b - f for s, t, e, r, b, f in
           zip(spatial, window.strides, extra, window.reach, window.begin, window.end)]
    if min(out) < 1:
        window.begin = window.end = [0] * len(spatial)
        out = [(s - 1) * t + e + r for s, t, e, r in zip(spatial, window.strides, extra, window.reach)]
    attrs = window.attributes(c, c.chance(0.5))
    mode = c.choose(["pads"] * 4 + ["shape", "SAME_UPPER", "SAME_LOWER"])
    if mode.startswith("SAME") and any(r + e < t for r, e, t in zip(window.reach, extra, window.strides)):
        mode = "pads"  # the standard does not say where a negative total padding goes
    if mode != "pads":
        out = conv_transpose_padded(c, mode, window, spatial, extra, attrs)
    c.attr(**attrs, **({"group": group} if group > 1 else {}))
    if any(extra):
        c.attr(output_padding=extra)
    y, scale = (transposed(a, b, window, group, out) for a, b in ((x, w), (np.abs(x), np.abs(w))))
    if c.chance(0.5):
        bias = c.draw((group * per,)).reshape(-1, *[1] * len(spatial))
        y, scale = y + bias, scale + np.abs(bias)
    return near(y, scale)


def conv_transpose_padded(c, mode, window, spatial, extra, attrs):
    """output_shape or auto_pad, which decide the pads: total_padding as the standard writes it."""
    attrs.pop("pads", None)
    full = [(s - 1) * t + e + r for s, t, e, r in zip(spatial, window.strides, extra, window.reach)]
    if mode == "shape":
        out = [max(1, f - c.integer(0, 2)) for f in full]
        attrs["output_shape"] = out
        upper = False
        if c.chance(0.4):
            attrs["auto_pad"], upper = "SAME_UPPER", True
    else:
        out = [s * t for s, t in zip(spatial, window.strides)]
        attrs["auto_pad"], upper = mode, mode == "SAME_UPPER"
    window.begin, window.end = [], []
    for i, (f, o) in enumerate(zip(full, out)):
        total = max(f - o, 0)
        less, more = total // 2, total - total // 2
        window.begin.append(less if upper else more)
        window.end.append(more if upper else less)
        out[i] = f - total
    if mode == "shape":
        attrs["output_shape"] = out
    return out


def transposed(x, w, window, group, out):
    """Every input element adds its weights to the output."""
    n, take, per = x.shape[0], x.shape[1] // group, w.shape[1]
    room = [(s - 1) * t + r for s, t, r in zip(x.shape[2:], window.strides, window.reach)]
    room = [max(r, b + o) for r, b, o in zip(room, window.begin, out)]
    full = np.zeros((n, group * per, *room))
    for at in window.positions():
        where = tuple(slice(a * d, a * d + (s - 1) * t + 1, t)
                      for a, d, s, t in zip(at, window.dilations, x.shape[2:], window.strides))
        for g in range(group):
            channels = slice(g * take, (g + 1) * take)
            full[(slice(None), slice(g * per, (g + 1) * per), *where)] += np.einsum(
                "nc...,cm->nm...", x[:, channels], w[(channels, slice(None), *at)])
    cut = tuple(slice(b, b + o) for b, o in zip(window.begin, out))
    return full[(slice(None), slice(None), *cut)]


@op("CausalConvWithState")
def causal_conv(c):
    n, ch, length, k = c.integer(1, 2), c.integer(1, 5), c.integer(1, 9), c.integer(1, 4)
    x, w = c.draw((n, ch, length)), c.draw((ch, 1, k))
    bias = np.zeros(ch)
    if c.chance(0.6):
        bias = c.draw((ch,))
    else:
        c.skip()
    state = np.zeros((n, ch, k - 1))
    if c.chance(0.6):
        state = c.draw((n, ch, k - 1))
    activation = c.choose(["none", "silu", "swish", None])
    c.attr(**({"activation": activation} if activation else {}))
    long = np.concatenate([state, x], -1)
    y, scale = np.zeros_like(x), np.zeros_like(x)
    for i in range(k):
        y += long[..., i:i + length] * w[:, 0, i][:, None]
        scale += np.abs(long[..., i:i + length] * w[:, 0, i][:, None])
    y, scale = y + bias[:, None], scale + np.abs(bias)[:, None]
    c.outputs(2)
    if activation in ("silu", "swish"):
        y = y * sigmoid(y)
    return [near(y, scale), near(long[..., long.shape[-1] - (k - 1):], 0)]


@op("DeformConv")
def deform_conv(c):
    spatial, window = random_window(c, 2, 2, auto=False)
    x_shape, w_shape, group = conv_shapes(c, spatial, window, 3)
    x_shape = (max(x_shape[0], 1), *x_shape[1:])
    groups = c.choose([g for g in (1, 2, 3) if x_shape[1] % g == 0])
    out, area = window.outputs(spatial), int(np.prod(window.kernel))
    x, w = c.draw(x_shape), c.draw(w_shape)
    offset = c.draw((x_shape[0], groups * area * 2, *out))
    bias, mask = np.zeros(w_shape[0]), np.ones((x_shape[0], groups * area, *out))
    if c.chance(0.5):
        bias = c.draw((w_shape[0],))
    else:
        c.skip()
    if c.chance(0.5):
        mask = c.draw(mask.shape)
    attrs = window.attributes(c, c.chance(0.5))
    c.attr(**attrs, **({"group": group} if group > 1 else {}),
           **({"offset_group": groups} if groups > 1 else {}))
    y = deformed(np.asarray(x), w, offset, mask, window, group, groups)
    # A coordinate's own rounding moves the sample by the slope of the data.
    scale = deformed(np.abs(x) + 8, np.abs(w), offset, np.abs(mask), window, group, groups) * 4
    return near(y + bias[:, None, None], np.abs(scale) + np.abs(bias)[:, None, None])


def deformed(x, w, offset, mask, window, group, groups):
    n, channels, height, width = x.shape
    out, area = window.outputs((height, width)), int(np.prod(window.kernel))
    y = np.zeros((n, w.shape[0], *out))
    take, per, share = channels // group, w.shape[0] // group, channels // groups
    rows, columns = np.indices(out)
    for b in range(n):
        for ch in range(channels):
            for index, (i, j) in enumerate(window.positions()):
                at = (ch // share) * area + index
                r = rows * window.strides[0] - window.begin[0] + i * window.dilations[0]
                q = columns * window.strides[1] - window.begin[1] + j * window.dilations[1]
                value = bilinear(x[b, ch], r + offset[b, 2 * at], q + offset[b, 2 * at + 1]) * mask[b, at]
                g = ch // take
                y[b, g * per:(g + 1) * per] += w[g * per:(g + 1) * per, ch % take, i, j][:, None, None] * value
    return y


def bilinear(plane, rows, columns):
    """Samples a plane that is zero outside."""
    padded = np.pad(plane, 1)
    r = np.clip(rows, -1, plane.shape[0]) + 1
    q = np.clip(columns, -1, plane.shape[1]) + 1
    inside = (rows > -1) & (rows < plane.shape[0]) & (columns > -1) & (columns < plane.shape[1])
    r0, q0 = np.floor(r).astype(int), np.floor(q).astype(int)
    r0, q0 = np.minimum(r0, plane.shape[0]), np.minimum(q0, plane.shape[1])
    fr, fq = r - r0, q - q0
    return inside * ((1 - fr) * ((1 - fq) * padded[r0, q0] + fq * padded[r0, q0 + 1])
                     + fr * ((1 - fq) * padded[r0 + 1, q0] + fq * padded[r0 + 1, q0 + 1]))


@op("Col2Im")
def col2im(c):
    spatial, window = random_window(c, 1, 2, auto=False)
    n, ch = c.integer(1, 2), c.integer(1, 3)
    out = window.outputs(spatial)
    c.dtype("T", among=lambda t: t != np.bool_)  # the standard does not say what a sum of booleans is
    x = c.draw((n, ch * int(np.prod(window.kernel)), int(np.prod(out))))
    c.input(np.asarray(spatial, np.int64), True)
    c.input(np.asarray(window.kernel, np.int64), True)
    c.attr(**window.attributes(c, False))

    def collect(values):
        room = [s + b + e for s, b, e in zip(spatial, window.begin, window.end)]
        y = np.zeros((n, ch, *room), values.dtype)
        columns = values.reshape(n, ch, -1, *out)
        for index, at in enumerate(window.positions()):
            piece = window.pick(y, at, out)
            piece += columns[:, :, index]
        cut = tuple(slice(b, b + s) for b, s in zip(window.begin, spatial))
        return y[(slice(None), slice(None), *cut)]

    y = collect(x)
    return near(y, collect(np.abs(x))) if y.dtype == np.float64 else y.astype(c.dtype())


