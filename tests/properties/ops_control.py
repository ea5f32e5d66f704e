"""Control flow whose trip counts and conditions the compiler can see, as it requires."""

import numpy as np
from onnx import helper, numpy_helper

from dtypes import element
from registry import op
from tolerance import exact, near

KINDS = [np.dtype(t) for t in (np.float32, np.float64, np.int64, np.int32, np.float16)]


def info(name, dtype, shape=None):
    return helper.make_tensor_value_info(name, element(dtype), shape)


def judge(values, dtype, scale):
    return near(values, scale) if dtype.kind == "f" else exact(np.asarray(values).astype(dtype))


@op("If")
def if_(c):
    """The branches read the outer values. A condition is a constant, or an input (both are computed)."""
    dtype = KINDS[c.index % len(KINDS)]
    shape = c.shape(0, 3, 60)
    a, b = c.draw(shape, dtype), c.draw(shape, dtype)
    left, right = c.order[-2:]
    names = [c.prefix + n for n in ("t", "f")]
    branches = []
    for kind, name in (("Add", names[0]), ("Sub", names[1])):
        nodes = [helper.make_node(kind, [left, right], [name + "m"]),
                 helper.make_node("Mul", [name + "m", left], [name])]
        branches.append(helper.make_graph(nodes, "branch", [], [info(name, dtype, shape)]))
    condition = c.chance(0.5)
    c.input(np.array(condition), c.chance(0.6))
    c.node("If", [c.order[-1]], ["y"], then_branch=branches[0], else_branch=branches[1])
    c.result("y")
    return judge((a + b if condition else a - b) * a, dtype, (np.abs(a) + np.abs(b)) * np.abs(a))


@op("Loop")
def loop(c):
    """s = s * k + x each round; the scan output is every s. It may stop after some rounds."""
    dtype = KINDS[c.index % len(KINDS)]
    shape = c.shape(0, 2, 30, zero=0)
    rounds = c.integer(1, 5)
    start, x = c.draw(shape, dtype), c.draw(shape, dtype)
    first, outer = c.order[-2:]
    p = c.prefix
    nodes = [helper.make_node("Add", [p + "s", p + "s"], [p + "d"]),
             helper.make_node("Add", [p + "d", outer], [p + "next"]),
             helper.make_node("Identity", [p + "next"], [p + "scan"])]
    stop = rounds
    constants = []
    if c.chance(0.5):
        stop = c.integer(1, rounds)
        constants = [numpy_helper.from_array(np.array(stop - 1, np.int64), p + "last")]
        nodes.append(helper.make_node("Less", [p + "i", p + "last"], [p + "go"]))
    else:
        nodes.append(helper.make_node("Identity", [p + "c"], [p + "go"]))
    ins = [info(p + "i", np.int64, []), info(p + "c", np.bool_, []), info(p + "s", dtype, shape)]
    outs = [info(p + "go", np.bool_, []), info(p + "next", dtype, shape), info(p + "scan", dtype, shape)]
    body = helper.make_graph(nodes, "body", ins, outs, constants)
    c.input(np.array(rounds, np.int64), True)
    count = c.order[-1]
    c.input(np.array(True), True)
    c.node("Loop", [count, c.order[-1], first], ["final", "all"], body=body)
    c.result("final", "all")
    states, s, scale = [], start, np.abs(start)
    for _ in range(stop):
        s, scale = s + s + x, 2 * scale + np.abs(x)
        states.append(s)
    return [judge(s, dtype, scale), judge(np.stack(states), dtype, scale)]


@op("Scan", oldest=9)
def scan(c):
    """A running sum over one axis, forwards or backwards, with an elementwise product beside it."""
    dtype = KINDS[c.index % len(KINDS)]
    rank = c.integer(1, 3)
    shape = tuple(c.integer(1, 4) for _ in range(rank))
    axis = c.integer(0, rank - 1)
    part = shape[:axis] + shape[axis + 1:]
    start, x = c.draw(part, dtype), c.draw(shape, dtype)
    p = c.prefix
    nodes = [helper.make_node("Add", [p + "s", p + "e"], [p + "next"]),
             helper.make_node("Mul", [p + "next", p + "e"], [p + "out"])]
    body = helper.make_graph(nodes, "body", [info(p + "s", dtype, part), info(p + "e", dtype, part)],
                             [info(p + "next", dtype, part), info(p + "out", dtype, part)])
    attrs = {"num_scan_inputs": 1}
    backwards, out_backwards = c.chance(0.4), c.chance(0.3)
    given = axis - rank if c.version >= 11 and c.chance(0.4) else axis
    attrs.update({"scan_input_axes": [given]} if axis or c.chance(0.5) else {})
    attrs.update({"scan_input_directions": [1]} if backwards else {})
    attrs.update({"scan_output_directions": [1]} if out_backwards else {})
    out_axis = c.integer(0, rank - 1)
    attrs.update({"scan_output_axes": [out_axis]} if out_axis or c.chance(0.3) else {})
    c.node("Scan", c.order[-2:], ["final", "all"], body=body, **attrs)
    c.result("final", "all")
    steps = [np.take(x, i, axis) for i in range(shape[axis])]
    s, outs, scale = start, [], np.abs(start)
    for e in steps[::-1] if backwards else steps:
        s, scale = s + e, scale + np.abs(e)
        outs.append(s * e)
    outs = outs[::-1] if out_backwards else outs
    size = np.max(scale, initial=0) * (1 + np.max(np.abs(x), initial=0))
    return [judge(s, dtype, size), judge(np.stack(outs, out_axis), dtype, size)]


