"""Ops that read between elements: resizing, grids, regions of interest, boxes."""

import itertools

import numpy as np

import domains
from dtypes import is_float
from reference import evaluate
from registry import op
from tolerance import exact, near, resampled


def coordinates(mode, size, out, scale, roi):
    """Where each output element lies in the input."""
    x = np.arange(out)
    if mode == "align_corners":
        return x * (size - 1) / (out - 1) if out > 1 else x * 0.0
    if mode == "asymmetric":
        return x / scale
    if mode == "pytorch_half_pixel":
        return (x + 0.5) / scale - 0.5 if out > 1 else x * 0.0
    if mode == "half_pixel_symmetric":
        adjust = out / (scale * size)
        return size / 2 * (1 - adjust) + (x + 0.5) / scale - 0.5
    if mode == "tf_crop_and_resize":
        if out > 1:
            return roi[0] * (size - 1) + x * (roi[1] - roi[0]) * (size - 1) / (out - 1)
        return 0.5 * (roi[0] + roi[1]) * (size - 1) + x * 0.0
    return (x + 0.5) / scale - 0.5


def decided(positions, nearest):
    """No coordinate is so near to where the nearest element changes that rounding decides."""
    shifted = positions + (0.5 if nearest.startswith("round") else 0)
    return bool(np.all(np.abs(shifted - np.rint(shifted)) > 1e-3))


MODES = ["half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel", "half_pixel_symmetric",
         "tf_crop_and_resize"]


@op("Resize", oldest=11)
def resize(c):
    """The evaluator in float64."""
    mode = c.choose(["nearest", "linear", "cubic"]) if is_float(c.dtype(first(c))) else "nearest"
    spatial = c.integer(1, 2) if mode != "linear" else c.integer(1, 3)
    if mode == "cubic":
        spatial = 2 if c.chance(0.6) else 1
    shape = [c.integer(1, 2), c.integer(1, 2)] + [c.integer(2, 6) for _ in range(spatial)]
    known = [m for m in MODES if c.version >= 19 or m != "half_pixel_symmetric"]
    transform = c.choose(known)
    if transform == "tf_crop_and_resize" and c.dtype(first(c)) == np.bool_:
        transform = "half_pixel"
    axes = list(range(len(shape)))
    named = c.has_attribute("axes") and c.chance(0.5)
    if named:
        axes = axes[2:]
    options(c, mode, transform)
    by_sizes, outs, scales, roi = choose_extents(c, shape, axes, transform, mode)
    c.draw(tuple(shape), first(c))
    if transform == "tf_crop_and_resize":
        c.input(np.asarray([r[0] for r in roi] + [r[1] for r in roi], np.float32), True)
    elif c.version < 13:
        c.input(np.zeros(0, np.float32), True)
    else:
        c.skip()
    if by_sizes:
        c.input(np.zeros(0, np.float32), True) if c.version < 13 else c.skip()
        c.input(np.asarray(outs, np.int64), True)
    else:
        c.input(np.asarray(scales, np.float32), True)
    c.attr(mode=mode, coordinate_transformation_mode=transform)
    c.attr(**({"axes": axes} if named else {}))
    data = next(iter({**c.feeds, **c.constants}.values()))
    # The evaluator has no booleans.
    y = evaluate(c, inputs={0: data.astype(np.uint8)} if data.dtype == bool else None)[0]
    size = np.max(np.abs(data.astype(np.float64)), initial=0)
    if mode == "nearest":
        return exact(y.astype(c.dtype(first(c))) if not is_float(c.dtype(first(c))) else y)
    return resampled(y, 4 * size)


def first(c):
    return "T1" if c.version >= 11 else "T"


def choose_extents(c, shape, axes, transform, mode):
    """Output extents or scales, and the roi, per named axis."""
    # Scales count in the roi's extent, which the evaluator leaves out.
    by_sizes = c.chance(0.5) or transform == "tf_crop_and_resize"
    outs, scales, roi = [], [], []
    for axis in axes:
        ratio, out, part = (1.0, shape[axis], (0.0, 1.0)) if axis < 2 else choose_axis(
            c, shape[axis], by_sizes, transform, mode)
        outs.append(out), scales.append(ratio), roi.append(part)
    return by_sizes, outs, scales, roi


def choose_axis(c, size, by_sizes, transform, mode):
    """(scale, extent, roi) of an axis whose coordinates leave no doubt."""
    nearest = c.attrs.get("nearest_mode", "round_prefer_floor")
    for _ in range(50):
        scale = float(np.float32(c.choose([0.5, 2.0, 1.5, 0.7, 1.3, 2.6])))
        out = c.integer(1, 9) if by_sizes else int(np.floor(size * scale))
        scale = out / size if by_sizes else scale
        # Shape inference multiplies in float32, the evaluator in float64: where they agree.
        if out == 0 or (not by_sizes and out != int(np.floor(np.float32(size) * np.float32(scale)))):
            continue
        # One element is at 0; the evaluator looks whether size * scale, which need not be whole, is 1.
        if out == 1 and transform == "pytorch_half_pixel":
            continue
        part = tuple(float(np.float32(v)) for v in (c.uniform(0, 0.4), c.uniform(0.6, 1.2)))
        at = coordinates(transform, size, out, scale, part)
        exact_scale = transform in ("asymmetric", "half_pixel") and scale in (0.5, 2.0, 1.0)
        if mode == "nearest" and not exact_scale and not decided(at, nearest):
            continue
        edges = np.concatenate([np.abs(at), np.abs(at - size + 1)])
        if transform != "tf_crop_and_resize" or np.all(edges > 1e-4):
            return scale, out, part
    return 1.0, size, (0.0, 1.0)


def options(c, mode, transform):
    if mode == "nearest":
        whole = transform in ("align_corners", "tf_crop_and_resize")  # ends on whole elements
        name = c.choose(["round_prefer_floor", "round_prefer_ceil"] + ([] if whole else ["floor", "ceil"]))
        c.attr(**({"nearest_mode": name} if name != "round_prefer_floor" or c.chance(0.5) else {}))
    if mode == "cubic":
        c.attr(**({"cubic_coeff_a": c.choose([-0.5, -0.6])} if c.chance(0.4) else {}))
    if mode == "cubic" and transform != "tf_crop_and_resize":
        c.attr(**({"exclude_outside": 1} if c.chance(0.3) else {}))
    if transform == "tf_crop_and_resize" and c.chance(0.5) and is_float(c.dtype(first(c))):
        c.attr(extrapolation_value=c.uniform(-2, 2))
    if c.has_attribute("antialias") and mode != "nearest" and transform != "tf_crop_and_resize":
        c.attr(**({"antialias": 1} if c.chance(0.25) else {}))


@op("Upsample", oldest=7)
def upsample(c):
    """Whole factors: the older op's text leaves fractional ones open."""
    mode = c.choose(["nearest", "linear"]) if is_float(c.dtype()) else "nearest"
    shape = (c.integer(1, 2), c.integer(1, 3), c.integer(1, 5), c.integer(1, 5))
    factors = [c.integer(1, 3), c.integer(1, 3)]
    x = c.draw(shape)
    scales = [1.0, 1.0, *map(float, factors)]
    if c.has_attribute("scales"):
        c.attr(scales=scales)
    else:
        c.input(np.asarray(scales, np.float32), True)
    c.attr(**({"mode": mode} if mode != "nearest" or c.chance(0.5) else {}))
    if mode == "nearest":
        return exact(x.repeat(factors[0], 2).repeat(factors[1], 3))
    y = x
    for axis, factor in ((2, factors[0]), (3, factors[1])):
        at = np.arange(y.shape[axis] * factor) / factor
        low = np.floor(at).astype(int)
        high = np.minimum(low + 1, y.shape[axis] - 1)
        weight = (at - low).reshape([-1 if i == axis else 1 for i in range(4)])
        y = np.take(y, low, axis) * (1 - weight) + np.take(y, high, axis) * weight
    return resampled(y, np.max(np.abs(x)))


@op("GridSample", oldest=16, also=(16,))
def grid_sample(c):
    """Written here: the evaluator rounds coordinates to float32, and moves a cubic's centre where
    PyTorch and ONNX Runtime move its elements. Nearest is kept away from ties, borders from jumps."""
    new = c.version >= 20
    rank = c.choose([2, 2, 3]) if new else 2
    kind = c.choose(["linear", "nearest", "cubic"]) if rank == 2 else c.choose(["linear", "nearest"])
    shape = (c.integer(1, 2), c.integer(1, 3), *[c.integer(2, 6) for _ in range(rank)])
    align, padding = c.chance(0.5), c.choose(["zeros", "border", "reflection"])
    dtype = c.dtype("T1", is_float if kind != "nearest" else None)
    x = c.draw(shape, "T1")
    # A grid less precise than the data moves the samples by its own rounding.
    grid_type = dtype if dtype == np.float64 else np.dtype(np.float32)
    c.types["T2"] = grid_type
    where = (shape[0], *[c.integer(1, 4) for _ in range(rank)], rank)
    at = np.empty(where)
    grid = np.empty(where)
    for d in range(rank):  # coordinate d of the grid runs along axis rank - 1 - d
        size = shape[1 + rank - d]
        scale, base = (size - 1) / 2 if align else size / 2, (size - 1) / 2
        wish = c.rng.uniform(-1.4, 1.4, where[:-1]) * scale + base
        grid[..., d] = (np.floor(wish * 2) / 2 + 0.26 - base) / scale
        grid[..., d] = grid[..., d].astype(grid_type)
        at[..., d] = grid[..., d] * scale + base
    c.input(grid.astype(grid_type))
    name = {"linear": "linear" if new else "bilinear", "cubic": "cubic" if new else "bicubic"}.get(kind, kind)
    c.attr(mode=name, padding_mode=padding, align_corners=int(align))
    y = np.zeros(shape[:2] + where[1:-1])
    for n in range(shape[0]):
        for index in np.ndindex(where[1:-1]):
            y[(n, slice(None), *index)] = point(x[n], at[(n, *index)][::-1], kind, padding, align)
    if kind == "nearest":
        return exact(y.astype(dtype))
    return near(y, 20 * np.max(np.abs(x)))  # a coordinate's rounding times the slope of the data


def point(image, at, kind, padding, align):
    """The channels' values at a position; axes are taken one after the other."""
    taps = []
    for v, size in zip(at, image.shape[1:]):
        low, high = (0.0, size - 1.0) if align else (-0.5, size - 0.5)
        v = float(np.rint(v)) if kind == "nearest" else float(v)
        if kind != "cubic" and not low <= v <= high:
            v = min(max(v, 0.0), size - 1.0) if padding == "border" else v
            v = mirrored(v, low, high) if padding == "reflection" else v
        base, t = int(np.floor(v)), v - np.floor(v)
        weights = {"nearest": [(0, 1.0)], "linear": [(0, 1 - t), (1, t)],
                   "cubic": [(k - 1, w) for k, w in enumerate(keys(t))]}[kind]
        taps.append([(inside(base + k, size, padding, low, high), w) for k, w in weights])
    total = np.zeros(image.shape[0])
    for choice in itertools.product(*taps):
        if all(i is not None for i, _ in choice):
            total += image[(slice(None), *[i for i, _ in choice])] * np.prod([w for _, w in choice])
    return total


def mirrored(v, low, high):
    """v reflected at both ends until it lies between them."""
    if high <= low:
        return low
    turn = (v - low) % (2 * (high - low))
    return low + min(turn, 2 * (high - low) - turn)


def inside(i, size, padding, low, high):
    """The element that stands for element i; None for zero."""
    if padding == "reflection":
        i = int(mirrored(i, low, high))
    if 0 <= i < size:
        return i
    return None if padding == "zeros" else min(max(i, 0), size - 1)


def keys(t, a=-0.75):
    """Weights of the cubic convolution at -1, 0, 1 and 2."""
    outer = lambda d: ((a * d - 5 * a) * d + 8 * a) * d - 4 * a  # noqa: E731
    inner = lambda d: ((a + 2) * d - (a + 3)) * d * d + 1  # noqa: E731
    return [outer(t + 1), inner(t), inner(1 - t), outer(2 - t)]


@op("AffineGrid")
def affine_grid(c):
    rank = c.integer(2, 3)
    n = c.integer(1, 3)
    theta = c.draw((n, rank, rank + 1), "T1")
    size = [n, c.integer(1, 3), *[c.integer(2, 5) for _ in range(rank)]]
    c.input(np.asarray(size, np.int64), True)
    align = c.chance(0.5)
    c.attr(**({"align_corners": 1} if align else {}))
    steps = [np.linspace(-1, 1, s) if align else (2 * np.arange(s) + 1) / s - 1 for s in size[2:]]
    points = np.stack([*np.meshgrid(*steps, indexing="ij")][::-1] + [np.ones(size[2:])], -1)
    y = np.einsum("...j,nij->n...i", points, theta)
    return near(y, np.abs(theta).sum(-1).max())


def boxes(c, count, height, width, scale):
    """[count, 4] corners (x1, y1, x2, y2) in the units of the op's input."""
    x1, y1 = c.rng.uniform(0, width * 0.6, count), c.rng.uniform(0, height * 0.6, count)
    x2, y2 = x1 + c.rng.uniform(0.6, width * 0.7, count), y1 + c.rng.uniform(0.6, height * 0.7, count)
    return np.stack([x1, y1, x2, y2], -1) / scale


@op("RoiAlign")
def roi_align(c):
    n, ch, h, w = c.integer(1, 2), c.integer(1, 3), c.integer(3, 9), c.integer(3, 9)
    count, scale = c.integer(1, 4), c.choose([1.0, 0.5, 2.0])
    x = c.draw((n, ch, h, w), "T1")
    rois = c.input(np.asarray(boxes(c, count, h, w, scale)).astype(c.dtype("T1")))
    batch = c.rng.integers(0, n, count).astype(np.int64)
    c.input(batch)
    ph, pw, ratio = c.integer(1, 4), c.integer(1, 4), c.integer(0, 3)
    mode = c.choose(["avg", "max"])
    half = c.has_attribute("coordinate_transformation_mode") and c.chance(0.6)
    if c.has_attribute("coordinate_transformation_mode"):
        c.attr(coordinate_transformation_mode="half_pixel" if half else "output_half_pixel")
    c.attr(output_height=ph, output_width=pw, spatial_scale=scale, sampling_ratio=ratio, mode=mode)
    y = np.zeros((count, ch, ph, pw))
    for i in range(count):
        x1, y1, x2, y2 = rois[i] * scale - (0.5 if half else 0)
        rh, rw = y2 - y1, x2 - x1
        if not half:
            rh, rw = max(rh, 1.0), max(rw, 1.0)
        gh, gw = ratio or int(np.ceil(rh / ph)), ratio or int(np.ceil(rw / pw))
        for a in range(ph):
            for b in range(pw):
                samples = [sample(x[batch[i]], y1 + rh / ph * (a + (p + 0.5) / gh),
                                  x1 + rw / pw * (b + (q + 0.5) / gw), mode)
                           for p in range(gh) for q in range(gw)]
                y[i, :, a, b] = np.mean(samples, 0) if mode == "avg" else np.max(samples, 0)
    return near(y, 20 * np.max(np.abs(x)))  # coordinates of up to 20, times the slope of the data


def sample(image, row, column, mode):
    """Bilinear; the weighted neighbours' maximum for max, as the standard's op has it."""
    h, w = image.shape[1:]
    if row < -1 or row > h or column < -1 or column > w:
        return np.zeros(image.shape[0])
    row, column = max(row, 0), max(column, 0)
    r0, q0 = min(int(row), h - 1), min(int(column), w - 1)
    r1, q1 = min(r0 + 1, h - 1), min(q0 + 1, w - 1)
    row, column = (float(r0) if r0 == h - 1 else row), (float(q0) if q0 == w - 1 else column)
    fr, fq = row - r0, column - q0
    terms = [(1 - fr) * (1 - fq) * image[:, r0, q0], (1 - fr) * fq * image[:, r0, q1],
             fr * (1 - fq) * image[:, r1, q0], fr * fq * image[:, r1, q1]]
    return sum(terms) if mode == "avg" else np.max(terms, 0)


@op("MaxRoiPool", oldest=1)
def max_roi_pool(c):
    """Corners on whole elements, which the op rounds to."""
    n, ch, h, w = c.integer(1, 2), c.integer(1, 3), c.integer(3, 8), c.integer(3, 8)
    count, ph, pw = c.integer(1, 4), c.integer(1, 3), c.integer(1, 3)
    x = c.draw((n, ch, h, w))
    batch = c.rng.integers(0, n, count)
    x1, y1 = c.rng.integers(0, w, count), c.rng.integers(0, h, count)
    x2 = np.array([c.integer(int(v), w - 1) for v in x1])
    y2 = np.array([c.integer(int(v), h - 1) for v in y1])
    scale = c.choose([1.0, 0.5, 2.0])
    c.input(np.stack([batch, x1 / scale, y1 / scale, x2 / scale, y2 / scale], -1).astype(c.dtype()))
    c.attr(pooled_shape=[ph, pw], **({"spatial_scale": scale} if scale != 1 or c.chance(0.5) else {}))
    y = np.zeros((count, ch, ph, pw))
    for i in range(count):
        rh, rw = y2[i] - y1[i] + 1, x2[i] - x1[i] + 1
        for a in range(ph):
            for b in range(pw):
                r0, r1 = y1[i] + a * rh // ph, y1[i] + -(-(a + 1) * rh // ph)
                q0, q1 = x1[i] + b * rw // pw, x1[i] + -(-(b + 1) * rw // pw)
                y[i, :, a, b] = x[batch[i], :, r0:min(r1, h), q0:min(q1, w)].max((1, 2))
    return exact(y)


@op("NonMaxSuppression", oldest=10)
def non_max_suppression(c):
    """The greedy choice as it is written; scores are distinct."""
    n, classes, count = c.integer(1, 2), c.integer(1, 3), c.integer(1, 8)
    center = c.chance(0.4)
    low = c.rng.uniform(0, 5, (n, count, 2))
    size = c.rng.uniform(0.5, 3, (n, count, 2))
    given = np.concatenate([low + size / 2, size] if center else [low, low + size], -1).astype(np.float32)
    if not center and c.chance(0.3):
        given = given[..., [2, 3, 0, 1]]  # either diagonal
    boxes_ = c.input(given)
    scores = c.input((domains.distinct(c.rng, (n, classes, count), np.float64) / 10).astype(np.float32))
    limits = optional_limits(c)
    c.attr(**({"center_point_box": 1} if center else {}))
    if center:
        half = boxes_[..., 2:] / 2
        corners = np.concatenate([boxes_[..., :2] - half, boxes_[..., :2] + half], -1)
    else:
        corners = np.concatenate([np.minimum(boxes_[..., :2], boxes_[..., 2:]),
                                  np.maximum(boxes_[..., :2], boxes_[..., 2:])], -1)
    rows = [(b, k, i) for b in range(n) for k in range(classes)
            for i in kept(corners[b], scores[b, k], *limits)]
    return np.asarray(rows, np.int64).reshape(-1, 3)


def optional_limits(c):
    """How many at most, overlap, least score. Without the first the op selects nothing."""
    most, overlap, least = 0, 0.0, -np.inf
    if c.chance(0.9):
        most = c.integer(1, 5)
        c.input(np.array([most], np.int64))
        if c.chance(0.8):
            overlap = float(np.float32(c.uniform(0.1, 0.8)))
            c.input(np.array([overlap], np.float32))
            if c.chance(0.6):
                least = float(np.float32(c.uniform(-1, 1) + 0.0123))
                c.input(np.array([least], np.float32))
    return most, overlap, least


def kept(corners, scores, most, overlap, least):
    chosen = []
    for i in np.argsort(-scores):
        if len(chosen) < most and scores[i] > least and all(
                union_share(corners[i], corners[j]) <= overlap for j in chosen):
            chosen.append(int(i))
    return chosen


def union_share(a, b):
    size = np.maximum(np.minimum(a[2:], b[2:]) - np.maximum(a[:2], b[:2]), 0)
    both = size[0] * size[1]
    return both / ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - both)
