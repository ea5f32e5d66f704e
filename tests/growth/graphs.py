"""Graphs of any number of nodes, written as ONNX without any package: what compilations are timed with.

    graphs.py KIND NODES FILE

Nodes are encoded as they are made, so that a million of them take seconds.
"""

import random
import struct
import sys

FLOAT, INT64 = 1, 7


def varint(n):
    n &= (1 << 64) - 1
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    out.append(n)
    return bytes(out)


def number(field, n):
    return varint(field << 3) + varint(n)


def block(field, content):
    return varint(field << 3 | 2) + varint(len(content)) + content


def tensor(name, dims, values, dtype=FLOAT):
    raw = struct.pack(f"<{len(values)}{'f' if dtype == FLOAT else 'q'}", *values)
    return b"".join(number(1, d) for d in dims) + number(2, dtype) + block(8, name.encode()) + block(9, raw)


def value_info(name, dims):
    shape = b"".join(block(1, number(1, d)) for d in dims)
    return block(1, name.encode()) + block(2, block(1, number(1, FLOAT) + block(2, shape)))


def ints(name, values):
    return block(1, name.encode()) + b"".join(number(8, v) for v in values) + number(20, 7)


def integer(name, value):
    return block(1, name.encode()) + number(3, value) + number(20, 2)


def real(name, value):
    return block(1, name.encode()) + bytes([2 << 3 | 5]) + struct.pack("<f", value) + number(20, 1)


class Writer:
    """A graph that grows; every value is f32."""

    def __init__(self, inputs):
        self.parts, self.count, self.inputs = [], 0, inputs

    def constant(self, name, dims, values, dtype=FLOAT):
        self.parts.append(block(5, tensor(name, dims, values, dtype)))
        return name

    def node(self, op, inputs, *attributes, result=None):
        """The name of the node's result."""
        made = result or f"v{self.count}"
        content = b"".join(block(1, name.encode()) for name in inputs) + block(2, made.encode())
        content += block(3, b"n%d" % self.count) + block(4, op.encode())
        self.parts.append(block(1, content + b"".join(block(5, a) for a in attributes)))
        self.count += 1
        return made

    def model(self, outputs):
        graph = self.parts + [block(2, b"g")]
        graph += [block(11, value_info(name, dims)) for name, dims in self.inputs.items()]
        graph += [block(12, value_info(name, dims)) for name, dims in outputs.items()]
        return number(1, 9) + block(8, block(1, b"") + number(2, 18)) + block(7, b"".join(graph))


UNARY = ("Relu", "Sigmoid", "Tanh", "Neg", "Abs", "Sin", "Softplus")


def unary(count):
    """A chain of elementwise ops of one operand."""
    g, at = Writer({"x": [4]}), "x"
    for k in range(count):
        at = g.node(UNARY[k % len(UNARY)], [at])
    return g.model({at: [4]})


def mixed(count):
    """A chain of products, convolutions, additions of constants, activations, reshapes and transposes."""
    random.seed(1)
    g, at = Writer({"x": [1, 2, 3, 3]}), "x"

    def numbers(n):
        return [random.uniform(-1, 1) for _ in range(n)]

    g.constant("bias", [3], numbers(3))
    g.constant("square", [3, 3], numbers(9))
    g.constant("window", [2, 2, 3, 3], numbers(36))
    g.constant("flat", [3], [1, 6, 3], INT64)
    g.constant("image", [4], [1, 2, 3, 3], INT64)
    steps = (lambda v: g.node("Add", [v, "bias"]), lambda v: g.node("Relu", [v]),
             lambda v: g.node("MatMul", [v, "square"]),
             lambda v: g.node("Conv", [v, "window"], ints("pads", [1, 1, 1, 1])),
             lambda v: g.node("Transpose", [v], ints("perm", [0, 1, 3, 2])), lambda v: g.node("Tanh", [v]),
             lambda v: g.node("Reshape", [v, "flat"]), lambda v: g.node("Sigmoid", [v]),
             lambda v: g.node("Reshape", [v, "image"]))
    for k in range(count // len(steps) * len(steps)):
        at = steps[k % len(steps)](at)
    return g.model({at: [1, 2, 3, 3]})


def wide(count):
    """Independent nodes of one or two inputs, concatenated by sixteen, and a tree of sums over these."""
    g, leaves = Writer({"x": [4], "y": [4]}), []
    for k in range(count * 15 // 16 // 16 * 16):
        # Each has a slope of its own: equal nodes would be one.
        leaves.append(g.node("LeakyRelu", ["xy"[k % 2]], real("alpha", (k + 1) / count)))
    level = [g.node("Concat", leaves[k:k + 16], integer("axis", 0)) for k in range(0, len(leaves), 16)]
    while len(level) > 1:
        level = [g.node("Sum", level[k:k + 16]) for k in range(0, len(level), 16)]
    return g.model({level[0]: [64]})


def residual(count):
    """Blocks of a product with weights of their own, an activation and the addition of what entered."""
    random.seed(1)
    g, at = Writer({"x": [2, 4]}), "x"
    for k in range(count // 3):
        weights = g.constant(f"w{k}", [4, 4], [random.uniform(-1, 1) for _ in range(16)])
        at = g.node("Add", [at, g.node("Relu", [g.node("MatMul", [at, weights])])])
    return g.model({at: [2, 4]})


def nested(count):
    """Values that live long: products whose results are read again in the opposite order."""
    g, at, kept = Writer({"x": [2, 4]}), "x", []
    g.constant("w", [4, 4], [0.1 * k for k in range(16)])
    for _ in range(count // 3):
        at = g.node("MatMul", [at, "w"])
        kept.append(at)
    for name in reversed(kept):
        at = g.node("Add", [g.node("MatMul", [at, "w"]), name])
    return g.model({at: [2, 4]})


def star(count):
    """A chain whose every node reads the graph's input and the first node's result, too."""
    g = Writer({"x": [4]})
    first = at = g.node("Softplus", ["x"])
    for k in range(count - 1):
        at = g.node(("Add", "Mul", "Max")[k % 3], [at, ("x", first)[k % 2]])
    return g.model({at: [4]})


def constants(count):
    """A chain of nodes on constants, which is computed while compiling."""
    g = Writer({"x": [4]})
    at = g.constant("c", [4], [0.1, 0.2, 0.3, 0.4])
    for k in range(count - 1):
        at = g.node(UNARY[k % len(UNARY)], [at])
    return g.model({g.node("Add", ["x", at]): [4]})


def parts(count):
    """One value that every node reads, and one that all their results together are."""
    g = Writer({"x": [4]})
    made = [g.node("LeakyRelu", ["x"], real("alpha", (k + 1) / count)) for k in range(count - 1)]
    return g.model({g.node("Concat", made, integer("axis", 0)): [4 * len(made)]})


def readers(count):
    """Parts of one value, each read by a node, and the sum of what these make."""
    g = Writer({"x": [4 * count]})
    level = []
    for k in range(count // 2):
        g.constant(f"b{k}", [1], [4 * k], INT64)
        g.constant(f"e{k}", [1], [4 * k + 4], INT64)
        level.append(g.node("Softplus", [g.node("Slice", ["x", f"b{k}", f"e{k}"])]))
    while len(level) > 1:
        level = [g.node("Sum", level[k:k + 16]) for k in range(0, len(level), 16)]
    return g.model({level[0]: [4]})


def gathered(count):
    """A chain of which every value is also a part of one value."""
    g, made = Writer({"x": [4]}), ["x"]
    for k in range(count - 1):
        made.append(g.node(UNARY[k % len(UNARY)], made[-1:]))
    return g.model({g.node("Concat", made, integer("axis", 0)): [4 * len(made)]})


def attentions(count):
    """A chain of attentions of one value with itself, as exporters write them out."""
    g, at = Writer({"x": [1, 2, 4, 4]}), "x"
    g.constant("scale", [], [0.5])
    for _ in range(count // 5):
        keys = g.node("Transpose", [at], ints("perm", [0, 1, 3, 2]))
        scores = g.node("Mul", [g.node("MatMul", [at, keys]), "scale"])
        at = g.node("MatMul", [g.node("Softmax", [scores], integer("axis", -1)), at])
    return g.model({at: [1, 2, 4, 4]})


def branches(count):
    """A chain of choices between two activations by one input."""
    g, at = Writer({"x": [4], "c": [1]}), "x"
    g.constant("zero", [1], [0.0])
    choice = g.node("Greater", ["c", "zero"])
    for _ in range(count // 3):
        at = g.node("Where", [choice, g.node("Sin", [at]), g.node("Softplus", [at])])
    return g.model({at: [4]})


def states(count):
    """As many inputs as outputs, in pairs whose names are those of states."""
    count = min(count, 24_000)  # a budget limits inputs and outputs to 50,000
    g = Writer({f"past_{k}": [4] for k in range(count)})
    made = [g.node(UNARY[k % len(UNARY)], [f"past_{k}"], result=f"present_{k}") for k in range(count)]
    return g.model({name: [4] for name in made})


KINDS = {f.__name__: f for f in (unary, mixed, wide, residual, nested, star, constants, parts, readers, gathered,
                                 attentions, branches, states)}


def main():
    if len(sys.argv) != 4 or sys.argv[1] not in KINDS:
        sys.exit(f"{__doc__}\nKIND is one of {', '.join(KINDS)}")
    with open(sys.argv[3], "wb") as file:
        file.write(KINDS[sys.argv[1]](int(sys.argv[2])))


if __name__ == "__main__":
    main()
