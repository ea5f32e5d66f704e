"""Sequences and optionals. They are no inputs of a model, so each instance makes its own from tensors."""

import numpy as np
from onnx import TensorProto, helper

from dtypes import COMPUTE, element, numpy_type
from registry import op
from tolerance import exact, rounded

TYPES = [numpy_type(n) for n in COMPUTE]


def tensors(c, count, same=False):
    """Names and values of tensors of one type, of one shape or of any."""
    dtype = TYPES[c.index % len(TYPES)]
    shape = c.shape(1, 3, 60)
    values = []
    for _ in range(count):
        c.draw(shape if same else c.shape(1, 3, 60), dtype)
        name = c.order[-1]
        values.append(c.feeds[name] if name in c.feeds else c.constants[name])
    return c.order[-count:] if count else [], values, dtype


def sequence(c, count, same=False):
    """A sequence made by SequenceConstruct: its name, values and type."""
    names, values, dtype = tensors(c, count, same)
    c.node("SequenceConstruct", names, ["seq"])
    return "seq", values, dtype


def position(c, count):
    """An index as a constant operand, half of the time from the end; as Python counts."""
    at = c.integer(-count, count - 1)
    c.input(np.array(at, c.choose([np.int32, np.int64])), True)
    return c.order[-1], at


def show(c, name, values):
    """Outputs that tell a sequence: its length, its first and last element."""
    c.node("SequenceLength", [name], ["length"])
    c.result("length")
    expected = [exact(np.asarray(len(values), np.int64))]
    ends = [0, -1] if values else []
    for i, at in enumerate(ends):
        c.input(np.array(at, np.int64), True)
        c.node("SequenceAt", [name, c.order[-1]], [f"end{i}"])
        expected.append(exact(values[at]))
    c.result("length", *[f"end{i}" for i in range(len(ends))])
    return expected


@op("SequenceConstruct", "SequenceLength")
def construct(c):
    name, values, _ = sequence(c, c.integer(1, 5))
    return show(c, name, values)


@op("SequenceAt")
def at(c):
    count = c.integer(1, 5)
    name, values, _ = sequence(c, count)
    index, i = position(c, count)
    c.node("SequenceAt", [name, index], ["y"])
    c.result("y")
    return exact(values[i])


@op("SequenceEmpty")
def empty(c):
    names, values, dtype = tensors(c, c.integer(0, 3))
    c.node("SequenceEmpty", [], ["s0"], **({"dtype": element(dtype)} if dtype != np.float32 else {}))
    last = "s0"
    for i, name in enumerate(names):
        c.node("SequenceInsert", [last, name], [f"s{i + 1}"])
        last = f"s{i + 1}"
    return show(c, last, values)


@op("SequenceInsert")
def insert(c):
    count = c.integer(1, 4)
    names, values, _ = tensors(c, count + 1)
    c.node("SequenceConstruct", names[:-1], ["seq"])
    operands = ["seq", names[-1]]
    result = list(values[:-1])
    if c.chance(0.7):
        at_ = c.integer(-count, count)
        c.input(np.array(at_, np.int64), True)
        operands.append(c.order[-1])
        result.insert(at_, values[-1])
    else:
        result.append(values[-1])
    c.node("SequenceInsert", operands, ["longer"])
    return show(c, "longer", result)


@op("SequenceErase")
def erase(c):
    count = c.integer(1, 5)
    name, values, _ = sequence(c, count)
    operands, i = [name], count - 1
    if c.chance(0.7):
        index, i = position(c, count)
        operands.append(index)
    c.node("SequenceErase", operands, ["shorter"])
    values = list(values)
    del values[i]
    return show(c, "shorter", values)


@op("ConcatFromSequence")
def concat_from_sequence(c):
    name, values, _ = sequence(c, c.integer(1, 5), same=True)
    new = c.chance(0.5)
    rank = values[0].ndim + int(new)
    axis = c.axis(rank)
    c.node("ConcatFromSequence", [name], ["y"], axis=axis, **({"new_axis": 1} if new else {}))
    c.result("y")
    return exact(np.stack(values, axis) if new else np.concatenate(values, axis))


@op("SplitToSequence")
def split_to_sequence(c):
    shape = c.shape(1, 3, 80, zero=0)
    c.draw(shape, TYPES[c.index % len(TYPES)])
    name = c.order[-1]
    x = c.feeds[name] if name in c.feeds else c.constants[name]
    axis = c.axis(len(shape))
    size, operands, keep = shape[axis], [name], True
    form = c.choose(["none", "chunk", "sizes"])
    attrs = {"axis": axis} if axis or c.chance(0.5) else {}
    if form == "none":
        parts = np.split(x, size, axis)
        keep = c.chance(0.5)
        attrs["keepdims"] = int(keep)
        parts = parts if keep else [np.squeeze(p, axis) for p in parts]
    elif form == "chunk":
        chunk = c.integer(1, size + 1)
        c.input(np.array(chunk, np.int64), True)
        operands.append(c.order[-1])
        parts = np.split(x, range(chunk, size, chunk), axis)
    else:
        cut = sorted(c.integer(0, size) for _ in range(c.integer(0, 3)))
        sizes = np.diff([0, *cut, size])
        c.input(sizes.astype(np.int64), True)
        operands.append(c.order[-1])
        parts = np.split(x, cut, axis)
    c.node("SplitToSequence", operands, ["seq"], **attrs)
    return show(c, "seq", parts)


@op("SequenceMap")
def sequence_map(c):
    """The body adds a tensor, or the matching element of a second sequence, and negates."""
    count = c.integer(1, 4)
    dtype = np.dtype(c.choose([np.float32, np.float64, np.int32]))
    shape = c.shape(1, 3, 30)
    values = [c.draw(shape, dtype) for _ in range(count)]
    c.node("SequenceConstruct", c.order[-count:], ["seq"])
    by_element = c.chance(0.5)
    if by_element:
        more = [c.draw(shape, dtype) for _ in range(count)]
        c.node("SequenceConstruct", c.order[-count:], ["other"])
        second = "other"
    else:
        more = [c.draw(shape, dtype)] * count
        second = c.order[-1]
    kind = element(dtype)
    infos = [helper.make_tensor_value_info(n, kind, None) for n in ("a", "b", "r")]
    nodes = [helper.make_node("Sub", ["a", "b"], ["d"]), helper.make_node("Neg", ["d"], ["r"])]
    body = helper.make_graph(nodes, "body", infos[:2], infos[2:])
    c.node("SequenceMap", ["seq", second], ["mapped"], body=body)
    results = [-(a - b) for a, b in zip(values, more)]
    outs = []
    for i in range(count):
        c.input(np.array(i, np.int64), True)
        c.node("SequenceAt", ["mapped", c.order[-1]], [f"m{i}"])
        outs.append(f"m{i}")
    c.result(*outs)
    return [rounded(r) if dtype.kind == "f" else exact(r) for r in results]


@op("Optional", "OptionalGetElement", "OptionalHasElement")
def optional(c):
    """An optional of a tensor or of a sequence, or one of nothing."""
    form = c.choose(["tensor", "sequence", "nothing"])
    if form == "nothing":
        kind = helper.make_tensor_type_proto(TensorProto.FLOAT, None)
        c.node("Optional", [], ["o"], type=kind)
        c.node("OptionalHasElement", ["o"], ["has"])
        c.result("has")
        return np.asarray(False)
    if form == "sequence":
        name, values, _ = sequence(c, c.integer(1, 3))
        c.node("Optional", [name], ["o"])
        c.node("OptionalGetElement", ["o"], ["inside"])
        expected = show(c, "inside", values)
        names = [n[len(c.prefix):] for n in c.output_names]
    else:
        (name,), (value,), _ = tensors(c, 1)
        c.node("Optional", [name], ["o"])
        c.node("OptionalGetElement", ["o"], ["y"])
        expected, names = [exact(value)], ["y"]
    c.node("OptionalHasElement", ["o"], ["has"])
    c.result(*names, "has")
    return expected + [np.asarray(True)]


