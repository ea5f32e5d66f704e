"""Where an operand comes from: the model's constants, the caller, or another node; dense, or a strided view
of something larger. A kernel or a pass that takes one of them for granted is wrong for the others.

An operand's name stays; nodes in front of the op make it from what is fed instead. All of them keep every
value as it is, so the reference does not change.
"""

import zlib

import numpy as np
from onnx import defs, helper

from dtypes import FLOATS, is_float, is_integer, limits, name_of

# What an operand is, in turn over the instances of an op and the positions of its operands.
KINDS = ("fed", "constant", "computed", "transposed", "computed transposed", "window", "backwards",
         "repeated")


def kind_of(name, index, position):
    """Every operand of an op meets every kind within len(KINDS) instances."""
    return KINDS[(5 * index + 3 * position + zlib.crc32(name.encode())) % len(KINDS)]


def repeated_shape(case, shape):
    """The shape with some axes of one element, which repeat; None where nothing can."""
    long = [i for i, d in enumerate(shape) if d > 1]
    if not long:
        return None
    kept = [i for i in long if case.chance(0.5)] if len(long) > 1 else []
    return tuple(1 if i in long and i not in kept else d for i, d in enumerate(shape))


def takes(op, opset, dtype, position=0):
    """Whether the standard's op of this opset takes the type."""
    try:
        schema = defs.get_schema(op, opset)
    except defs.SchemaError:
        return False
    return f"tensor({name_of(dtype)})" in schema.inputs[position].types


class Source:
    """Makes one operand: `feeds`, `constants` and `nodes` of its name; `kinds` says what it became."""

    def __init__(self, case, name, array, constant, opset):
        self.case, self.name, self.opset = case, name, opset
        self.array, self.constant = array, constant
        self.feeds, self.constants, self.nodes, self.kinds = {}, {}, [], set()
        self.steps = []  # (op, more operands, attributes), last one first

    def constant_name(self, suffix, values):
        name = f"{self.name}_{suffix}"
        self.constants[name] = np.asarray(values, np.int64)
        return name

    def transpose(self):
        if self.array.ndim < 2 or not takes("Transpose", self.opset, self.array.dtype):
            return
        order = [int(i) for i in self.case.rng.permutation(self.array.ndim)]
        if order == sorted(order):
            order = order[::-1]
        self.steps.append(("Transpose", [], {"perm": order}))
        self.array = np.ascontiguousarray(np.transpose(self.array, np.argsort(order)))
        self.kinds |= {"strided", "transposed"}

    def slice(self, backwards):
        """A window of an array that has more along some axes; backwards walks one of them from its end."""
        if self.array.ndim == 0 or not takes("Slice", self.opset, self.array.dtype):
            return
        if backwards and self.opset < 10:
            return
        axes = sorted({self.case.integer(0, self.array.ndim - 1) for _ in range(2)})
        steps = [-1 if backwards and i == 0 else self.case.choose([1, 1, 2]) if self.opset >= 10 else 1
                 for i in range(len(axes))]
        starts, ends = [], []
        for axis, step in zip(axes, steps):
            start, end = self.surround(axis, step)
            starts.append(start), ends.append(end)
        if self.opset < 10:
            self.steps.append(("Slice", [], {"axes": axes, "starts": starts, "ends": ends}))
        else:
            self.steps.append(("Slice", [self.constant_name(n, v) for n, v in (
                ("starts", starts), ("ends", ends), ("axes", axes), ("steps", steps))], {}))
        self.kinds |= {"strided", "backwards" if backwards else "window"}

    def surround(self, axis, step):
        """Puts the array into a larger one along an axis; gives start and end of the slice."""
        extent = self.array.shape[axis]
        before, after = self.case.integer(0, 3), self.case.integer(0, 3)
        reach = extent * abs(step)
        room = list(self.array.shape)
        room[axis] = before + reach + after
        # What lies between and beside the elements must not be read: as far from them as the type has it.
        larger = np.full(room, filler(self.array.dtype), self.array.dtype)
        places = before + np.arange(extent) * abs(step)
        where = [slice(None)] * self.array.ndim
        where[axis] = places if step > 0 else places[::-1]
        larger[tuple(where)] = self.array
        self.array = larger
        if step > 0 or extent == 0:
            return before, before + reach
        last = before + (extent - 1) * abs(step)
        return last, before - 1 if before else -room[axis] - 1

    def expand(self):
        shape = tuple(1 if d > 1 and same_along(self.array, i) else d
                      for i, d in enumerate(self.array.shape))
        if self.opset < 8 or shape == self.array.shape or not takes("Expand", self.opset, self.array.dtype):
            return
        self.steps.append(("Expand", [self.constant_name("shape", self.array.shape)], {}))
        self.array = np.ascontiguousarray(self.array[tuple(slice(0, n) for n in shape)])
        self.kinds |= {"strided", "repeated"}

    def compute(self):
        """By an operation that is its own inverse: a node whose result nobody knows before it ran."""
        dtype = self.array.dtype
        kinds = ["Not"] if dtype == np.bool_ else ["Neg"] if is_float(dtype) else ["BitwiseNot", "Neg"]
        op = next((k for k in kinds if takes(k, self.opset, dtype)), None)
        if op == "Neg" and is_integer(dtype) and (self.array == limits(dtype)[0]).any():
            return  # the least integer has no counterpart
        if op:
            self.steps.append((op, [], {}))
            self.array = np.asarray(-self.array if op == "Neg" else ~self.array).astype(dtype)
            self.kinds.add("computed")

    def make(self, kind):
        self.constant = self.constant or kind == "constant"
        if self.constant:
            # Half of the constants are views of larger ones.
            if not self.case.plain and self.case.chance(0.5):
                self.case.choose([self.transpose, lambda: self.slice(False)])()
            self.kinds.add("constant")
        else:
            {"fed": lambda: None, "constant": lambda: None, "computed": self.compute,
             "transposed": self.transpose, "window": lambda: self.slice(False),
             "computed transposed": lambda: (self.transpose(), self.compute()),
             "backwards": lambda: self.slice(True), "repeated": self.expand}[kind]()
            self.kinds.add("fed" if "computed" not in self.kinds else "computed")
        self.finish()

    def finish(self):
        name = self.name
        for count, (op, more, attributes) in enumerate(self.steps):
            source = f"{self.name}_{count}"
            self.nodes.insert(0, helper.make_node(op, [source, *more], [name], **attributes))
            name = source
        self.kinds.add("scalar" if self.array.ndim == 0 else "tensor")
        if "strided" not in self.kinds:
            self.kinds.add("dense")
        (self.constants if self.constant else self.feeds)[name] = self.array


def same_along(array, axis):
    first = np.take(array, [0], axis)
    return bool(np.array_equal(np.broadcast_to(first, array.shape), array))


def filler(dtype):
    """A value that no right result can contain unseen."""
    if dtype == np.bool_:
        return True
    if is_float(dtype):
        return np.asarray(np.nan if name_of(dtype) in FLOATS else 1).astype(dtype)
    return np.asarray(limits(dtype)[1]).astype(dtype)


def unseen(kinds):
    """What no instance of an op had of an operand whose instances had these kinds."""
    wanted = {"constant", "computed", "dense"} | ({"strided"} if "tensor" in kinds else set())
    return sorted(wanted - kinds)
