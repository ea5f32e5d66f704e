"""Control flow, indices, scans, sorting, recurrent layers and quantised values."""

import numpy as np
from onnx import TensorProto, helper

from onnx_models import constant, info
from steps_simple import UNARY, sigmoid

BODY = ("Tanh", "Sin", "Sigmoid", "Relu", "Neg")


def gather(g, x, v):
    axis = g.axis(v)
    if axis is None:
        return None
    index = g.rng.integers(-v.shape[axis], v.shape[axis], g.integer(1, 4))
    return g.add("Gather", [x, g.constant(index)], lambda a, i: np.take(a, i, axis), axis=axis)


def gather_elements(g, x, v):
    if g.batch is not None:
        return None
    axis = g.integer(0, v.ndim - 1)
    index = g.rng.integers(-v.shape[axis], v.shape[axis], v.shape)
    return g.add("GatherElements", [x, g.constant(index)],
                 lambda a, i: np.take_along_axis(a, i % a.shape[axis], axis), axis=axis)


def scatter(g, x, v):
    """Rows replaced by others, or added to."""
    if g.batch is not None or v.ndim < 2:
        return None
    rows = g.rng.permutation(v.shape[0])[:g.integer(1, v.shape[0])].reshape(-1, 1)
    updates = g.constant(g.numbers((len(rows), *v.shape[1:])))
    adds = g.chance(0.5)

    def changed(a, i, u):
        out = a.copy()
        out[i[:, 0]] = out[i[:, 0]] + u if adds else u
        return out

    return g.add("ScatterND", [x, g.constant(rows), updates], changed, reduction="add" if adds else "none")


def running_sum(g, x, v):
    axis = g.axis(v)
    if axis is None:
        return None
    reverse, exclusive = g.integer(0, 1), g.integer(0, 1)

    def summed(a, _):
        turned = np.flip(a, axis) if reverse else a
        out = np.cumsum(turned, axis)
        out = out - turned if exclusive else out
        return np.flip(out, axis) if reverse else out

    return g.add("CumSum", [x, g.constant(np.array(axis, np.int64))], summed, reverse=reverse, exclusive=exclusive)


def top(g, x, v):
    """The largest values, whose order small changes do not change much."""
    axis = g.axis(v)
    if axis is None:
        return None
    k, largest = g.integer(1, v.shape[axis]), g.integer(0, 1)

    def sorted_part(a, _):
        order = np.sort(a, axis)
        order = np.flip(order, axis) if largest else order
        return np.take(order, range(k), axis)

    # Its second result, the indices, has no name.
    return g.add_many("TopK", [x, g.integers(k)], [sorted_part], more_outputs=1, axis=axis, largest=largest)[0]


def branch(g, x, v):
    """If of a condition that is known, or that a run decides."""
    one, other = g.choose(BODY), g.choose(BODY)
    taken = bool(g.integer(0, 1))
    if g.chance(0.3) or g.batch is not None:
        condition = g.constant(np.array(taken))
    else:
        condition = f"cond{len(g.known)}"
        g.input(condition, np.array(taken))
    shape = list(v.shape)
    graphs = {}
    for attribute, op in (("then_branch", one), ("else_branch", other)):
        graphs[attribute] = g.subgraph([helper.make_node(op, [x], ["r"], name=op)], [], [info("r", shape)])
        if g.batch is not None:
            graphs[attribute].output[0].type.ClearField("tensor_type")
            graphs[attribute].output[0].type.tensor_type.elem_type = TensorProto.FLOAT
    functions = UNARY[one][0], UNARY[other][0]
    # The captured value is no operand of the node; here it is one.
    name = f"v{len(g.program)}"
    g.nodes.append(helper.make_node("If", [condition], [name], name=f"n{len(g.nodes)}", **graphs))
    g.program.append((name, lambda c, a: functions[0 if c else 1](a), [condition, x], False))
    g.values[name] = g.program[-1][1](g.array(condition), v)
    return name


def loop(g, x, v):
    """A few trips of an op and the addition of a constant; the count known, or given by the run."""
    if g.batch is not None:
        return None
    trips, op = g.integer(0, 5), g.choose(BODY)
    shift = g.numbers(v.shape[v.ndim - 1:])
    if g.chance(0.5):
        count = g.constant(np.array(trips, np.int64))
    else:
        count = f"trips{len(g.known)}"
        g.input(count, np.array(trips, np.int64))
    shape = list(v.shape)
    nodes = [helper.make_node(op, ["s"], ["a"], name=op), helper.make_node("Add", ["a", "k"], ["t"], name="add"),
             helper.make_node("Identity", ["c"], ["d"], name="go on")]
    inputs = [info("i", (), TensorProto.INT64), info("c", (), TensorProto.BOOL), info("s", shape)]
    body = g.subgraph(nodes, inputs, [info("d", (), TensorProto.BOOL), info("t", shape)],
                      [constant("k", shift, np.float32)])
    function = UNARY[op][0]

    def repeated(n, a):
        constant_part = g.rounded(shift.astype(np.float64))
        for _ in range(int(n)):
            a = g.rounded(g.rounded(function(a)) + constant_part)
        return a

    return g.add("Loop", [count, "", x], repeated, body=body)


def while_loop(g, x, v):
    """Trips of two products with constants, until a counter that the body carries reaches a number."""
    if g.batch is not None or v.ndim < 2:
        return None
    trips, width, shape = g.integer(1, 30), v.shape[-1], list(v.shape)
    weights = g.numbers((width, width))
    nodes = [helper.make_node("MatMul", ["s", "w"], ["a"], name="product"), helper.make_node("Tanh", ["a"], ["b"], name="t"),
             helper.make_node("Add", ["n", "one"], ["m"], name="count"),
             helper.make_node("Less", ["m", "end"], ["d"], name="less"),
             helper.make_node("Concat", ["s", "b"], ["e"], name="both", axis=-1),
             helper.make_node("MatMul", ["e", "v"], ["t"], name="mixed")]
    inputs = [info("i", (), TensorProto.INT64), info("c", (), TensorProto.BOOL), info("s", shape),
              info("n", (), TensorProto.INT64)]
    outputs = [info("d", (), TensorProto.BOOL), info("t", shape), info("m", (), TensorProto.INT64)]
    mixing = g.numbers((2 * width, width), -0.5, 0.5)
    body = g.subgraph(nodes, inputs, outputs,
                      [constant("w", weights, np.float32), constant("v", mixing, np.float32),
                       constant("one", 1), constant("end", trips)])

    def repeated(_, a, n):
        w, m = g.rounded(weights.astype(np.float64)), g.rounded(mixing.astype(np.float64))
        for _ in range(trips):
            turned = g.rounded(np.tanh(g.rounded(a @ w)))
            a = g.rounded(np.concatenate([a, turned], -1) @ m)
        return a

    # The condition is true before the first trip; the last one leaves the loop.
    start = g.constant(np.array(0, np.int64))
    return g.add("Loop", ["", g.constant(np.array(True)), x, start], repeated, body=body, more_outputs=1)


def scan(g, x, v):
    """A running value along the first axis, and all of its values."""
    if g.batch is not None or v.ndim < 2:
        return None
    shape = list(v.shape[1:])
    nodes = [helper.make_node("Add", ["s", "e"], ["a"], name="add"), helper.make_node("Tanh", ["a"], ["t"], name="tanh"),
             helper.make_node("Identity", ["t"], ["r"], name="row")]
    body = g.subgraph(nodes, [info("s", shape), info("e", shape)], [info("t", shape), info("r", shape)])

    def rows(start, a):
        out, s = np.zeros(a.shape), start
        for k in range(a.shape[0]):
            s = g.rounded(np.tanh(g.rounded(s + a[k])))
            out[k] = s
        return out

    start = g.constant(g.numbers(shape))
    last, made = g.add_many("Scan", [start, x], [lambda s, a: rows(s, a)[-1], rows], num_scan_inputs=1, body=body)
    return g.choose((last, made))


def gru(g, x, v):
    """One layer of gated recurrent units over [time, batch, features]."""
    if v.ndim != 3 or g.batch is not None:
        return None
    hidden = g.integer(1, 4)
    names = [x, g.constant(g.numbers((1, 3 * hidden, v.shape[2]))), g.constant(g.numbers((1, 3 * hidden, hidden)))]

    def layer(a, w, r):
        wz, wr, wh = np.split(w[0], 3)
        rz, rr, rh = np.split(r[0], 3)
        h, out = np.zeros((a.shape[1], hidden)), []
        for step in a:
            z = sigmoid(g.rounded(step @ wz.T + h @ rz.T))
            reset = sigmoid(g.rounded(step @ wr.T + h @ rr.T))
            n = np.tanh(g.rounded(step @ wh.T + g.rounded(reset * h) @ rh.T))
            h = g.rounded((1 - z) * n + z * h)
            out.append(h[None])
        return np.stack(out)

    return g.add("GRU", names, layer, hidden_size=hidden)


def lstm(g, x, v):
    if v.ndim != 3 or g.batch is not None:
        return None
    hidden = g.integer(1, 4)
    names = [x, g.constant(g.numbers((1, 4 * hidden, v.shape[2]))), g.constant(g.numbers((1, 4 * hidden, hidden)))]

    def layer(a, w, r):
        h, c, out = np.zeros((a.shape[1], hidden)), np.zeros((a.shape[1], hidden)), []
        for step in a:
            i, o, f, cell = np.split(g.rounded(step @ w[0].T + h @ r[0].T), 4, axis=1)
            c = sigmoid(f) * c + sigmoid(i) * np.tanh(cell)
            h = g.rounded(sigmoid(o) * np.tanh(c))
            out.append(h[None])
        return np.stack(out)

    return g.add("LSTM", names, layer, hidden_size=hidden)


def scale_without_ties(g, v):
    """A scale by which no element lies near the middle between two codes; None where none was found."""
    if not v.size:
        return None
    for _ in range(8):
        scale = np.float32(max(np.abs(v).max(), 0.1) / g.rng.uniform(90, 120))
        parts = v / np.float64(scale)
        if np.abs(np.abs(parts - np.trunc(parts)) - 0.5).min() > 0.004:
            return scale
    return None


def quantised(g, x, v):
    """Through codes of 8 bits and back."""
    scale = None if g.changes else scale_without_ties(g, v)
    if scale is None:
        return None
    g.smooth = False
    signed = g.chance(0.6)
    zero = np.array(0 if signed else 128, np.int8 if signed else np.uint8)
    low, high = (-128, 127) if signed else (0, 255)
    names = [g.constant(np.float32(scale)), g.constant(zero)]

    def coded(a, s, z):
        return np.clip(np.rint(a / s) + int(z), low, high)

    codes = g.add("QuantizeLinear", [x, *names], coded, hidden=True)
    return g.add("DequantizeLinear", [codes, *names], lambda c, s, z: (c - int(z)) * s)


def quantised_product(g, x, v):
    """A product of codes with constant codes, in the form that quantisers write."""
    if v.ndim < 2:
        return None
    made = quantised(g, x, v)
    if made is None:
        return None
    outs = g.integer(1, 6)
    weights = g.rng.integers(-127, 128, (v.shape[-1], outs)).astype(np.int8)
    names = [g.constant(weights), g.constant(np.float32(1 / 127)), g.constant(np.array(0, np.int8))]
    values = g.add("DequantizeLinear", names, lambda c, s, z: c.astype(np.float64) * s, hidden=True)
    product = g.add("MatMul", [made, values], np.matmul)
    if g.chance(0.5):
        product = g.add("Add", [product, g.constant(g.numbers((outs,)))], np.add)
    return product


def integer_product(g, x, v):
    """MatMulInteger of codes and constant codes, both with zero points, and its scale."""
    if v.ndim < 2:
        return None
    scale = None if g.changes else scale_without_ties(g, v)
    if scale is None:
        return None
    g.smooth = False
    zero = g.integer(100, 150)
    names = [g.constant(np.float32(scale)), g.constant(np.array(zero, np.uint8))]
    codes = g.add("QuantizeLinear", [x, *names], lambda a, s, z: np.clip(np.rint(a / s) + zero, 0, 255), hidden=True)
    weights = g.rng.integers(-128, 128, (v.shape[-1], g.integer(1, 6))).astype(np.int8)
    shift = g.integer(-3, 3)
    more = [g.constant(weights), names[1], g.constant(np.array(shift, np.int8))]
    sums = g.add("MatMulInteger", [codes, *more], lambda c, w, *_: (c - zero) @ (w.astype(np.float64) - shift),
                 hidden=True)
    made = g.add("Cast", [sums], lambda a: a, hidden=True, to=1)
    return g.add("Mul", [made, g.constant(np.float32(scale / 127))], np.multiply)


def quantised_conv(g, x, v):
    """A convolution of codes with constant codes, in the form that quantisers write."""
    if v.ndim != 4:
        return None
    made = quantised(g, x, v)
    if made is None:
        return None
    outs = g.integer(1, 5)
    weights = g.rng.integers(-127, 128, (outs, v.shape[1], 1, 1)).astype(np.int8)
    names = [g.constant(weights), g.constant(g.numbers((outs,), 0.004, 0.008)), g.constant(np.zeros(outs, np.int8))]
    values = g.add("DequantizeLinear", names, lambda c, s, z: c.astype(np.float64) * s[:, None, None, None],
                   hidden=True, axis=0)
    return g.add("Conv", [made, values], lambda a, w: np.einsum("nchw,oc->nohw", a, w[:, :, 0, 0]))


STEPS = (gather, gather, gather_elements, scatter, running_sum, top, branch, loop, scan, gru, lstm, quantised,
         quantised_product, integer_product, quantised_conv, while_loop)
