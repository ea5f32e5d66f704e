"""Reductions, running sums, and what orders elements along an axis."""

import numpy as np

import domains
from dtypes import is_float
from registry import op
from tolerance import exact, near


def reduce_axes(c, rank):
    """Chooses axes, gives them as attribute or operand; as numpy takes them: () is "reduce nothing"."""
    c.attr(**({"keepdims": c.integer(0, 1)} if c.chance(0.7) else {}))
    noop = c.has_attribute("noop_with_empty_axes") and c.chance(0.2)
    if noop:
        c.attr(noop_with_empty_axes=1)
    if c.chance(0.25) or rank == 0:
        if c.has_input(1) and c.chance(0.5):
            c.input(np.zeros(0, np.int64), True)
        return () if noop else None
    axes = [int(a) for a in c.rng.permutation(rank)[:c.integer(1, rank)]]
    given = [a - rank if c.version >= 11 and c.chance(0.4) else a for a in axes]
    if c.has_attribute("axes"):
        c.attr(axes=given)
    else:
        c.input(np.asarray(given, np.int64), True)
    return tuple(axes)


def log_sum_exp(x, **how):
    top = np.max(x, **{**how, "keepdims": True}, initial=-1e300)
    top = np.where(top <= -1e300, 0, top)
    total = np.log(np.sum(np.exp(x - top), **how))
    return total + (top.reshape(total.shape) if total.size == top.size else top)


def extremum(function, float_start, integer_start):
    """Over nothing: infinity, or the least (or largest) value of the type."""
    def reduce(x, **how):
        start = {"f": float_start, "b": integer_start == "max"}.get(x.dtype.kind)
        start = getattr(np.iinfo(x.dtype), integer_start) if start is None else start
        return function(x, initial=start, **how)
    return reduce


REDUCTIONS = {
    "ReduceSum": np.sum, "ReduceMean": np.mean,
    "ReduceMax": extremum(np.max, -np.inf, "min"), "ReduceMin": extremum(np.min, np.inf, "max"),
    "ReduceProd": np.prod, "ReduceL1": lambda x, **k: np.sum(np.abs(x), **k),
    "ReduceL2": lambda x, **k: np.sqrt(np.sum(x * x, **k)),
    "ReduceLogSum": lambda x, **k: np.log(np.sum(x, **k)), "ReduceLogSumExp": log_sum_exp,
    "ReduceSumSquare": lambda x, **k: np.sum(x * x, **k),
}


def scale_of(name, x, result, how):
    if name in ("ReduceSum", "ReduceMean"):
        return REDUCTIONS[name](np.abs(x), **how)
    finite = np.where(np.isfinite(result), np.abs(result), 0)
    return 1 + finite if name.startswith("ReduceLog") else finite


def add_reduction(name, function):
    @op(name, oldest=1)
    def make(c):
        # The mean of nothing is not defined, nor is an integer's minus infinity.
        empty = name != "ReduceMean" and (is_float(c.dtype()) or "Log" not in name) and c.version >= 18
        shape = c.shape(0, 5, 400, zero=0.15 if empty else 0)
        domain, options = domains.ordinary, {}
        if name == "ReduceProd":
            domain, options = domains.between, {"low": 1, "high": 1.3 if is_float(c.dtype()) else 2}
            shape = c.shape(0, 3, 24, zero=0)
        if name == "ReduceLogSum":
            domain, options = domains.between, {"low": 1, "high": 4}
        if name == "ReduceLogSumExp" and not is_float(c.dtype()):
            domain, options = domains.between, {"low": 0, "high": 4}
        x = c.draw(shape, domain=domain, **options)
        axes = reduce_axes(c, x.ndim)
        how = {"axis": axes, "keepdims": bool(c.attrs.get("keepdims", 1))}
        if x.dtype == bool:
            return exact(function(x, **how))
        if not is_float(c.dtype()):
            return integers(c, name, x, function, how)
        with np.errstate(divide="ignore"):
            result = function(x, **how)
        if name in ("ReduceMax", "ReduceMin"):
            return exact(result)
        return near(result, scale_of(name, x, result, how))


def integers(c, name, x, function, how):
    """Integer reductions whose result is a whole number; the generator keeps sums inside the type where
    it can, and wraps as the type does where it cannot."""
    wide = x.astype(np.int64)
    if name in ("ReduceMean", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp"):
        exact_value = function(x.astype(np.float64), **how)
        return exact(np.trunc(exact_value).astype(c.dtype()))
    values = x if name in ("ReduceMax", "ReduceMin") else wide
    return exact(np.asarray(function(values, **how)).astype(c.dtype()))


for _name, _function in REDUCTIONS.items():
    add_reduction(_name, _function)


def add_arg(name, function):
    @op(name, oldest=1)
    def make(c):
        shape = c.shape(1, 4, 120, zero=0)
        ties = c.chance(0.4)
        x = c.draw(shape, domain=domains.ordinary if ties else domains.distinct)
        if ties and is_float(c.dtype()):
            x = c.rewrite(np.rint(x))
        axis = c.axis(len(shape)) if c.version >= 11 else c.integer(0, len(shape) - 1)
        c.attr(**({"axis": axis} if axis or c.chance(0.5) else {}))
        keep = c.chance(0.5)
        c.attr(**({"keepdims": int(keep)} if not keep or c.chance(0.3) else {}))
        last = c.has_attribute("select_last_index") and c.chance(0.4)
        c.attr(**({"select_last_index": 1} if last else {}))
        if last:
            found = shape[axis] - 1 - function(np.flip(x, axis), axis)
        else:
            found = function(x, axis)
        return (np.expand_dims(found, axis) if keep else found).astype(np.int64)


add_arg("ArgMax", np.argmax)
add_arg("ArgMin", np.argmin)


@op("TopK", oldest=1)
def top_k(c):
    shape = c.shape(1, 4, 120, zero=0)
    x = c.draw(shape, domain=domains.distinct)
    axis = c.axis(len(shape)) if c.version >= 11 else c.integer(0, len(shape) - 1)
    k = c.integer(1, shape[axis])
    if c.has_attribute("k"):
        c.attr(k=k)
    else:
        c.input(np.array([k], np.int64), True)
    c.attr(**({"axis": axis} if axis != -1 or c.chance(0.5) else {}))
    largest = True
    if c.has_attribute("largest"):
        largest = c.chance(0.6)
        c.attr(largest=int(largest))
    order = np.argsort(-x.astype(np.float64) if largest else x, axis, kind="stable")
    order = np.take(order, np.arange(k), axis)
    c.outputs(2)
    return [exact(np.take_along_axis(x, order, axis)), order.astype(np.int64)]


def cumulative(name, function, neutral):
    @op(name)
    def make(c):
        x = c.draw(c.shape(1, 4)) if name == "CumSum" else c.draw(
            c.shape(1, 3, 60), domain=domains.between, low=1, high=1.3 if is_float(c.dtype()) else 2)
        if name == "CumProd" and not is_float(c.dtype()):
            x = c.rewrite(np.where(c.rng.random(x.shape) < 0.85, 1, 2))
        axis = c.axis(x.ndim)
        c.input(np.array(axis, c.choose([np.int32, np.int64])), True)
        exclusive, reverse = c.chance(0.4), c.chance(0.4)
        c.attr(**({"exclusive": 1} if exclusive else {}), **({"reverse": 1} if reverse else {}))
        run = lambda v: cumulate(v, function, neutral, axis, exclusive, reverse)  # noqa: E731
        if not is_float(c.dtype()):
            return exact(run(x.astype(np.int64)).astype(c.dtype()))
        return near(run(x), run(np.abs(x)))


def cumulate(x, function, neutral, axis, exclusive, reverse):
    x = np.flip(x, axis) if reverse else x
    if exclusive:
        first = np.full_like(np.take(x, [0] if x.shape[axis] else [], axis), neutral)
        x = np.concatenate([first, np.delete(x, -1, axis)], axis) if x.shape[axis] else x
    y = function(x, axis)
    return np.flip(y, axis) if reverse else y


cumulative("CumSum", np.cumsum, 0)
cumulative("CumProd", np.cumprod, 1)
