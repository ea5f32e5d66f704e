"""ONNX models written byte by byte, so that the test needs no package: a block of a transformer, one whose
names try to break out of the page, and one with thousands of steps."""

import random
import struct

FLOAT, INT64, BOOL = 1, 7, 9


def _varint(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def _field(number, value):
    """A protobuf field: int, text, bytes (also a message), or a list of them."""
    if isinstance(value, list):
        return b"".join(_field(number, v) for v in value)
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value)
    data = value.encode() if isinstance(value, str) else value
    return _varint(number << 3 | 2) + _varint(len(data)) + data


def _message(**fields):
    return b"".join(_field(int(name[1:]), value) for name, value in fields.items())


class Model:
    """Collects a graph of float tensors. Weights are random with a fixed seed."""

    def __init__(self, name):
        self.name, self.random = name, random.Random(7)
        self.nodes, self.inputs, self.outputs, self.weights = [], [], [], []

    def _info(self, name, shape, element):
        dims = _message(f1=[_message(f1=d) for d in shape])
        return _message(f1=name, f2=_message(f1=_message(f1=element, f2=dims)))

    def input(self, name, *shape, element=FLOAT):
        self.inputs.append(self._info(name, shape, element))
        return name

    def output(self, name, *shape, element=FLOAT):
        self.outputs.append(self._info(name, shape, element))

    def weight(self, name, *shape, scale=0.2):
        count = 1
        for d in shape:
            count *= d
        data = struct.pack(f"<{count}f", *(self.random.uniform(-scale, scale) for _ in range(count)))
        self.weights.append(_message(f1=list(shape), f2=FLOAT, f8=name, f9=data))
        return name

    def ints(self, name, *values):
        data = struct.pack(f"<{len(values)}q", *values)
        self.weights.append(_message(f1=[len(values)], f2=INT64, f8=name, f9=data))
        return name

    def node(self, op, inputs, output, name=None, **attributes):
        def field(key, v):
            if isinstance(v, Model):
                return _message(f1=key, f6=v.graph(), f20=5)
            if isinstance(v, (list, tuple)):
                return _message(f1=key, f8=list(v), f20=7)
            return _message(f1=key, f3=v, f20=2)
        lists = [field(key, v) for key, v in attributes.items()]
        self.nodes.append(_message(f1=list(inputs), f2=[output], f3=name or f"{op}.{len(self.nodes)}", f4=op, f5=lists))
        return output

    def graph(self):
        return _message(f1=self.nodes, f2=self.name, f5=self.weights, f11=self.inputs, f12=self.outputs)

    def bytes(self):
        return _message(f1=8, f7=self.graph(), f8=[_message(f1="", f2=17)])


def transformer(tokens=48, width=64, heads=4):
    """Attention and a feed-forward part, with the residuals around them."""
    m = Model("transformer block")
    x = m.input("tokens", tokens, width)
    head = [tokens, heads, width // heads]
    m.ints("split", *head)
    m.ints("joined", tokens, width)

    def linear(source, name, rows, columns):
        weight = m.weight(f"{name}.weight", rows, columns)
        product = m.node("MatMul", [source, weight], f"{name}.product", f"{name}/MatMul")
        return m.node("Add", [product, m.weight(f"{name}.bias", columns)], f"{name}.out", f"{name}/Add")

    def heads_of(source, name, order):
        split = m.node("Reshape", [linear(source, name, width, width), "split"], f"{name}.split", f"{name}/Reshape")
        return m.node("Transpose", [split], f"{name}.heads", f"{name}/Transpose", perm=order)

    m.weight("scale", 1)
    query, key, value = heads_of(x, "query", [1, 0, 2]), heads_of(x, "key", [1, 2, 0]), heads_of(x, "value", [1, 0, 2])
    scores = m.node("MatMul", [query, key], "scores", "attention/scores")
    scaled = m.node("Mul", [scores, "scale"], "scaled", "attention/scale")
    shares = m.node("Softmax", [scaled], "shares", "attention/Softmax", axis=2)
    mixed = m.node("MatMul", [shares, value], "mixed", "attention/mix")
    back = m.node("Transpose", [mixed], "back", "attention/Transpose", perm=[1, 0, 2])
    joined = m.node("Reshape", [back, "joined"], "joined.out", "attention/Reshape")
    first = m.node("Add", [x, linear(joined, "project", width, width)], "first", "residual.0")
    hidden = linear(first, "expand", width, 4 * width)
    active = m.node("Sigmoid", [hidden], "gate", "activation/Sigmoid")
    gated = m.node("Mul", [hidden, active], "gated", "activation/Mul")
    second = m.node("Add", [first, linear(gated, "contract", 4 * width, width)], "second", "residual.1")
    m.node("Softmax", [second], "probabilities", "head/Softmax", axis=1)
    m.output("probabilities", tokens, width)
    return m


HOSTILE = ("</script><img src=x onerror=\"document.title='run'\">", "<!--<script>document.title='run'//",
           "</script x><svg onload=\"document.title='run'\">",
           "]]>\u2028\u2029'\"`${document.title='run'}", "javascript:document.title='run'", "a" * 300,
           "\u202egnp.\u202c \U0001f4a9 &lt;b&gt;")


def hostile():
    """Every name of it is an attempt to run or to draw something."""
    m = Model(HOSTILE[0])
    value = m.input(HOSTILE[0] + "in", 4, 8)
    for i, text in enumerate(HOSTILE):
        value = m.node("MatMul", [value, m.weight(f"{text} w{i}", 8, 8)], f"{text} value{i}", text)
        value = m.node("Softmax", [value], f"{text} soft{i}", f"{text} soft", axis=1)
    m.output(value, 4, 8)
    return m


def loop(width=8):
    """x is multiplied by a matrix and normed until a run says that it is enough."""
    body = Model("body")
    body.input("trip", element=INT64)
    body.input("go", element=BOOL)
    state = body.input("state", 4, width)
    product = body.node("MatMul", [state, "matrix"], "product")
    following = body.node("Softmax", [product], "following", axis=1)
    body.node("ReduceMax", [following], "largest", keepdims=0)
    body.node("Greater", ["largest", "limit"], "again")
    body.output("again", element=BOOL)
    body.output("following", 4, width)
    m = Model("loop")
    x = m.input("x", 4, width)
    m.weight("matrix", width, width)
    m.weight("limit")
    m.node("ReduceMax", [x], "first", keepdims=0)
    m.node("Greater", ["first", "limit"], "start")
    m.node("Loop", ["", "start", x], "last", "while", body=body)
    m.node("Softmax", ["last"], "y", axis=1)
    m.output("y", 4, width)
    return m


def long_chain(steps=2200):
    """Products and norms in turn, which no pass joins: one step each."""
    m = Model("long chain")
    value = m.input("x", 8, 16)
    m.weight("w", 16, 16)
    for i in range(steps // 2):
        value = m.node("MatMul", [value, "w"], f"layer{i}.product", f"layers/{i}/MatMul")
        value = m.node("Softmax", [value], f"layer{i}.norm", f"layers/{i}/Softmax", axis=1)
    m.output(value, 8, 16)
    return m
