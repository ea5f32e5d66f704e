"""Group A: ONNX files that are no model, contradict themselves, or describe more than anyone can compute."""

import os

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from case import case, model, put

F, I64 = TensorProto.FLOAT, TensorProto.INT64


def info(name, shape=(4,), dtype=F):
    return helper.make_tensor_value_info(name, dtype, shape)


def whole(nodes, inputs=None, outputs=None, constants=(), opset=18, **more):
    graph = helper.make_graph(nodes, "g", inputs or [info("x")], outputs or [info("y")], list(constants))
    opsets = [helper.make_opsetid("", opset)] + [helper.make_opsetid(d, 1) for d in more.pop("domains", ())]
    return helper.make_model(graph, opset_imports=opsets, ir_version=9, **more)


def relu():
    return whole([helper.make_node("Relu", ["x"], ["y"], name="relu")])


def constant(name, values, dtype=np.int64):
    return numpy_helper.from_array(np.array(values, dtype), name)


def one(op, inputs=("x",), constants=(), shape=(1, 1, 4, 4), outputs=("y",), opset=18, domain="", **attrs):
    """A model of one node."""
    node = helper.make_node(op, list(inputs), list(outputs), name="n", domain=domain, **attrs)
    made = [helper.make_tensor_value_info(name, TensorProto.UNDEFINED, None) for name in outputs]
    for value in made:
        value.ClearField("type")
    return whole([node], [info("x", shape)], made, constants, opset,
                 domains=[domain] if domain else []).SerializeToString()


# No model at all.
model("A1", "empty", 3, "the model has no graph")(lambda: b"")
model("A2", "noise", 3, "is not an ONNX model")(lambda: np.random.default_rng(1).bytes(4096))
model("A2", "png", 3, "is not an ONNX model")(lambda: b"\x89PNG\r\n\x1a\n" + bytes(100))
model("A2", "elf", 3, "is not an ONNX model")(lambda: b"\x7fELF\x02\x01\x01" + bytes(100))
model("A2", "gzip", 3, "is not an ONNX model")(lambda: b"\x1f\x8b\x08\x00" + bytes(100))
model("A3", "cut in the middle", 3, "is not an ONNX model")(
    lambda: relu().SerializeToString()[:40])
model("A4", "length over INT_MAX", 3, "is not an ONNX model")(lambda: b"\x3a\xff\xff\xff\xff\x0f" + bytes(64))


@model("A3", "cut behind the node", 3, "no outputs")
def _():
    m = relu()
    del m.graph.output[:]
    return m.SerializeToString()


def field(number, content):
    """A length-delimited field of a protobuf message."""
    length, size = b"", len(content)
    while True:
        length += bytes([size & 127 | (128 if size > 127 else 0)])
        size >>= 7
        if not size:
            return bytes([number << 3 | 2]) + length + content


for depth, code, message in ((2_000, 3, "is not an ONNX model"), (20, 3, "node \"If:\"")):
    @model("A5", f"If in If {depth} deep", code, message)
    def _(depth=depth):
        graph = b""
        for _ in range(depth):
            graph = field(1, field(4, b"If") + field(5, field(1, b"then_branch") + field(6, graph)))
        return field(7, graph) + field(8, b"\x10\x12")


def with_functions(functions, calls=("f0",)):
    m = whole([helper.make_node(calls[0], ["x"], ["y"], domain="own")], domains=["own"])
    m.functions.extend(functions)
    return m.SerializeToString()


def function(name, callee, domain="own", times=1):
    nodes = [helper.make_node(callee, ["a"], [f"b{k}" if k + 1 < times else "b"], domain=domain)
             for k in range(times)]
    return helper.make_function("own", name, ["a"], ["b"], nodes,
                                [helper.make_opsetid("", 18), helper.make_opsetid("own", 1)])


model("A6", "chain of 3,000 functions", 3, "at most 100")(
    lambda: with_functions([function(f"f{k}", f"f{k + 1}") for k in range(3000)]))
model("A7", "function calls itself", 3, "calls itself")(lambda: with_functions([function("f0", "f0")]))
model("A7", "functions call each other", 3, "calls itself")(
    lambda: with_functions([function("f0", "f1"), function("f1", "f0")]))
model("A21", "functions that double 60 times", 7, "once their calls are inlined")(
    lambda: with_functions([function(f"f{k}", f"f{k + 1}", times=2) for k in range(60)]
                           + [function("f60", "Relu", "")]))

@case("A21", "functions that double 17 times, --check with a small budget", 7, "--budget=nodes:")
def _(folder):
    content = with_functions([function(f"f{k}", f"f{k + 1}", times=2) for k in range(17)] + [function("f17", "Own", "own")])
    return [put(folder, "model.onnx", content), "--check", "--budget=nodes:400"]


for dims, text in (((2**62, 8), "overflow"), ((2**32, 2**32), "overflow"), ((2**63 - 1, 2), "overflow"),
                   ((-1, 4), "-1"), ((-2**63,), "-9223372036854775808")):
    @model("A8" if "overflow" in text else "A9", f"initializer of {dims}", 3, "initializer")
    def _(dims=dims):
        m = whole([helper.make_node("Add", ["x", "w"], ["y"])])
        m.graph.initializer.append(TensorProto(name="w", data_type=F, dims=dims, raw_data=b"0000"))
        return m.SerializeToString()


@model("A8", "an input of 2^60 elements", 7, "passes 1099511627776 elements")
def _():
    return one("Relu", shape=(2**58, 4))


for extent in (2**61, 2**63 - 1):
    model("A8", f"an input of {extent} elements of 4 bytes that nothing reads", 7, "more bytes than can be counted")(
        lambda extent=extent: whole([helper.make_node("Relu", ["x"], ["y"])],
                                    [info("x"), info("unread", (extent,))]).SerializeToString())


@case("A8", "an input of 2^63 - 1 elements of 4 bytes beside an op that is not supported, --check", 4, "1 gap")
def _(folder):
    nodes = [helper.make_node("Own", ["x"], ["b"], domain="own"), helper.make_node("ReduceSum", ["b"], ["r"]),
             helper.make_node("Add", ["x", "r"], ["y"])]
    content = whole(nodes, [info("x", [2**63 - 1])], [info("y", [4])], domains=["own"]).SerializeToString()
    return [put(folder, "model.onnx", content), "--check"]


@model("A9", "an extent that nothing binds", 4, "--shapes")
def _():
    return one("Relu", shape=("n", 4))


def initializer(change):
    m = whole([helper.make_node("Add", ["x", "w"], ["y"])])
    t = TensorProto(name="w", data_type=F, dims=[4])
    change(t)
    m.graph.initializer.append(t)
    return m.SerializeToString()


def add(row, name, code, message, change):
    model(row, name, code, message)(lambda: initializer(change))


add("A10", "raw data too short", 3, "\"w\"", lambda t: setattr(t, "raw_data", bytes(15)))
add("A10", "raw data too long", 3, "\"w\"", lambda t: setattr(t, "raw_data", bytes(17)))
add("A10", "raw and typed data", 3, "\"w\"",
    lambda t: (setattr(t, "raw_data", bytes(16)), t.float_data.extend([1, 2, 3, 4])))
add("A10", "values of another type", 3, "\"w\"", lambda t: t.int64_data.extend([1, 2, 3, 4]))
add("A10", "no values", 3, "\"w\"", lambda t: None)
for number in (0, 8, 14, 15, 999, -1):
    add("A11", f"data type {number}", 4, "is not supported",
        lambda t, number=number: (setattr(t, "data_type", number), setattr(t, "raw_data", bytes(16))))
add("A11", "int4 in too many bytes", 3, "\"w\"",
    lambda t: (setattr(t, "data_type", TensorProto.INT4), setattr(t, "raw_data", bytes(4))))


def nodes(*made, **more):
    return whole([helper.make_node(*n) for n in made], **more).SerializeToString()


model("A12", "a value made twice", 3, "is produced by node")(
    lambda: nodes(("Relu", ["x"], ["y"]), ("Exp", ["x"], ["y"])))
model("A12", "used before it is made", 3, "before node")(
    lambda: nodes(("Relu", ["z"], ["y"]), ("Exp", ["x"], ["z"])))
model("A12", "a cycle", 3, "before node")(lambda: nodes(("Relu", ["b"], ["a"]), ("Exp", ["a"], ["b"])))
model("A12", "reads its own output", 3, "reads its own output")(lambda: nodes(("Relu", ["y"], ["y"])))
model("A12", "an output that nothing makes", 3, "is produced by nothing")(
    lambda: nodes(("Relu", ["x"], ["z"])))
model("A12", "an output that is an input, renamed twice", 3, "listed twice")(
    lambda: whole([helper.make_node("Relu", ["x"], ["y"])], outputs=[info("y"), info("y")])
    .SerializeToString())


def loop(trips, inner, carried=True, extra=()):
    body = helper.make_graph(list(inner) + [helper.make_node("Identity", ["c"], ["c2"])], "body",
                             [info("i", (), I64), info("c", (), TensorProto.BOOL), info("s")],
                             [info("c2", (), TensorProto.BOOL), info("t")], list(extra))
    return whole([helper.make_node("Loop", ["n", "", "x"], ["y"], name="loop", body=body)],
                 constants=[constant("n", trips)]).SerializeToString()


SIN = [helper.make_node("Sin", ["s"], ["t"])]
model("A13", "a body's input is an initializer too", 3, "")(
    lambda: loop(3, SIN, extra=[constant("s", [1, 2, 3, 4], np.float32)]))
model("A14", "no inputs where one is required", 3, "n")(lambda: one("Relu", inputs=()))
model("A14", "Conv without weights", 3, "n")(lambda: one("Conv"))
model("A14", "Loop without a body", 3, "has no body")(lambda: one("Loop", inputs=("", "", "x")))


NEXT = helper.make_node("Add", ["s", "e"], ["t"])
for steps in (9, 100_000):
    model("A14", f"Scan over {steps} steps with more results than its body", 3, "its body has 1 outputs for 2 results")(
        lambda steps=steps: whole(
            [helper.make_node("Scan", ["x", "e"], ["r", "y"], num_scan_inputs=1,
                              body=helper.make_graph([NEXT], "body", [info("s"), info("e")], [info("t")]))],
            [info("x"), info("e", (steps, 4))]).SerializeToString())


@model("A14", "SequenceMap with more results than its body", 3, "its body has 1 outputs for 2 results")
def _():
    body = helper.make_graph([helper.make_node("Relu", ["s"], ["t"])], "body", [info("s")], [info("t")])
    return whole([helper.make_node("SequenceConstruct", ["x", "x"], ["q"]),
                  helper.make_node("SequenceMap", ["q"], ["r", "u"], body=body),
                  helper.make_node("ConcatFromSequence", ["u"], ["y"], axis=0)]).SerializeToString()
for axis in (4, 2**31, -5, -2**63, 2**63 - 1):
    model("A15", f"axis {axis}", 3, "axis")(lambda axis=axis: one("Softmax", axis=axis))
    model("A15", f"Concat on axis {axis}", 3, "axis")(
        lambda axis=axis: one("Concat", inputs=("x", "x"), axis=axis))
model("A15", "perm with a duplicate", 3, "perm")(lambda: one("Transpose", perm=[0, 1, 1, 2]))
model("A15", "perm out of range", 3, "perm")(lambda: one("Transpose", perm=[0, 1, 2, 2**40]))

POOL = {"kernel_shape": [2, 2]}
for name, attrs in (("stride 0", {"strides": [0, 1]}), ("stride -1", {"strides": [-1, 1]}),
                    ("stride INT64_MIN", {"strides": [-2**63, 1]}), ("kernel 0", {"kernel_shape": [0, 2]}),
                    ("kernel 2^63-1", {"kernel_shape": [2**63 - 1, 2]}),
                    ("dilation 2^62", {"dilations": [2**62, 1]}), ("pads -1", {"pads": [-1, 0, 0, 0]}),
                    ("pads 2^63-1", {"pads": [2**63 - 1] * 4}),
                    ("one pad too few", {"pads": [0, 0, 0]})):
    model("A17" if "pad" in name or "dilation" in name else "A16", f"MaxPool with {name}", 3, "MaxPool")(
        lambda attrs=attrs: one("MaxPool", **{**POOL, **attrs}))
WEIGHTS = constant("w", np.ones((1, 1, 2, 2)), np.float32)
for group in (0, -1, 2, 2**62, -2**63):
    model("A16", f"Conv in {group} groups", 3, "group")(
        lambda group=group: one("Conv", ("x", "w"), [WEIGHTS], group=group))
for size in (0, -1, 3, 2**62, -2**63):
    model("A16", f"SpaceToDepth by {size}", 3, "")(lambda size=size: one("SpaceToDepth", blocksize=size))
model("A16", "MaxUnpool of a kernel near 2^63", 3, "huge extent")(
    lambda: one("MaxUnpool", ("x", "i"), [constant("i", np.zeros((1, 1, 4, 4)))], kernel_shape=[2**63 - 1, 1],
                strides=[2**62, 2]))
for op, source in (("QuantizeLinear", ("x", "s")), ("DequantizeLinear", ("q", "s"))):
    model("A16", f"{op} in blocks of 2^63-1", 3, "does not fit blocks")(
        lambda op=op, source=source: one(
            op, source, [constant("q", np.ones((1, 1, 4, 4)), np.int8), constant("s", np.ones((1, 1, 2, 4)), np.float32)],
            opset=21, axis=2, block_size=2**63 - 1))
model("A16", "DeformConv in 2^62 groups", 3, "do not fit weights")(
    lambda: one("DeformConv", ("x", "w", "o"), [WEIGHTS, constant("o", np.zeros((1, 8, 3, 3)), np.float32)],
                opset=19, group=2**62))
model("A17", "DeformConv with pads of 2^63-1", 3, "a stride or pad of")(
    lambda: one("DeformConv", ("x", "w", "o"), [WEIGHTS, constant("o", np.zeros((1, 8, 3, 3)), np.float32)],
                opset=19, pads=[2**63 - 1] * 4))
model("A16", "broadcast along axis 2^63-1", 3, "broadcast axis")(
    lambda: one("Add", ("x", "b"), [constant("b", [1, 2, 3, 4], np.float32)], opset=6, axis=2**63 - 1,
                broadcast=1))
model("A18", "qkv sizes beyond the weights", 3, "do not divide into query, key and value")(
    lambda: one("Attention", ("x", "w", "b"), [constant("w", np.ones((4, 12)), np.float32),
                                               constant("b", np.ones(12), np.float32)],
                shape=(1, 3, 4), domain="com.microsoft", num_heads=2,
                qkv_hidden_sizes=[2**63 - 1, 2**63 - 1, 14]))
model("A18", "scales longer than the rank", 3, "")(
    lambda: one("Resize", ("x", "", "s"), [constant("s", [1, 1, 2, 2, 2], np.float32)]))
model("A18", "scales of NaN", 3, "")(
    lambda: one("Resize", ("x", "", "s"), [constant("s", [1, 1, np.nan, 2], np.float32)]))
model("A18", "scales of infinity", 3, "")(
    lambda: one("Resize", ("x", "", "s"), [constant("s", [1, 1, np.inf, 2], np.float32)]))
model("A18", "Reshape to more elements", 3, "Reshape")(
    lambda: one("Reshape", ("x", "s"), [constant("s", [5, 5])]))
model("A18", "Split into sizes that do not add up", 3, "Split")(
    lambda: one("Split", ("x", "s"), [constant("s", [1, 2])], outputs=("y", "z"), axis=2))

for opset in (0, 2**31, -1, 10_000):
    model("A19", f"opset {opset}", 4, f"opset {opset}")(lambda opset=opset: relu_of(opset))


def relu_of(opset):
    m = relu()
    m.opset_import[0].version = opset
    return m.SerializeToString()


@model("A19", "no opset", 4, "names no version")
def _():
    m = relu()
    del m.opset_import[:]
    return m.SerializeToString()


model("A19", "unknown op and domain, both named", 4, "Nonsense2")(
    lambda: nodes(("Nonsense", ["x"], ["z"]), ("Nonsense2", ["z"], ["y"])))

TEXTS = {"a NUL": (b"QQQ", b"a\0b"), "bytes that are not UTF-8": (b"QQQ", b"a\xffb")}
for what, (before, after) in TEXTS.items():
    for where, build in (
            ("node", lambda: whole([helper.make_node("Relu", ["x"], ["y"], name="QQQ")])),
            ("value", lambda: whole([helper.make_node("Relu", ["x"], ["QQQ"]),
                                     helper.make_node("Exp", ["QQQ"], ["y"])])),
            ("input", lambda: whole([helper.make_node("Relu", ["QQQ"], ["y"])], [info("QQQ")]))):
        model("A20", f"{where} named with {what}", 3, "is no text")(
            lambda build=build, before=before, after=after:
            build().SerializeToString().replace(before, after))
model("A20", "control bytes in a name", 3, "\\x1b")(lambda: nodes(("Relu", ["\x1b[2J"], ["y"])))
model("A20", "a name of 1 MB", 4, "is longer than")(
    lambda: whole([helper.make_node("Relu", ["x"], ["y"], name="n" * 1_000_000)]).SerializeToString())
model("A20", "an attribute of 200 kB in a message", 3, "(200002 bytes)")(
    lambda: one("MaxPool", auto_pad="x" * 200_000, **POOL))
@model("A20", "1,100,000 nodes", 7, "--budget=nodes:1100000")
def _():
    chain = b"".join(field(1, field(1, b"v%d" % i) + field(2, b"v%d" % (i + 1)) + field(4, (b"Relu", b"Exp")[i % 2]))
                     for i in range(1_100_000))
    return field(7, chain) + field(8, b"\x10\x12")
model("A20", "60,000 inputs", 7, "--budget=interface:60001")(
    lambda: whole([helper.make_node("Relu", ["x0"], ["y"])], [info(f"x{i}") for i in range(60_000)])
    .SerializeToString())
model("A20", "100,000 outputs", 7, "--budget=interface:100001")(
    lambda: whole([helper.make_node("Split", ["x"], [f"y{i}" for i in range(100_000)], num_outputs=100_000)],
                  [info("x", (100_000,))], [info(f"y{i}", (1,)) for i in range(100_000)]).SerializeToString())
model("A20", "24,000 inputs and outputs with names of states", 0, "")(
    lambda: whole([helper.make_node("Neg", [f"past_{i}"], [f"present_{i}"]) for i in range(24_000)],
                  [info(f"past_{i}") for i in range(24_000)],
                  [info(f"present_{i}") for i in range(24_000)]).SerializeToString())


def different(count):
    """Nodes that read one value and are all different."""
    return [helper.make_node("LeakyRelu", ["x"], [f"a{i}"], alpha=i / count) for i in range(count)]


@case("A20", "20,000 steps for a GPU make parts of one value", 0, "")
def _(folder):
    parts = whole([*different(20_000), helper.make_node("Concat", [f"a{i}" for i in range(20_000)], ["y"], axis=0)],
                  outputs=[info("y", (80_000,))])
    return [put(folder, "model.onnx", parts.SerializeToString()), "-o", os.path.join(folder, "out.aicf"),
            "--target=cuda:sm_90a", "--no-images"]


def chain_of_parts(steps):
    """A chain of which every value is also a part of one value."""
    made = [helper.make_node(("Sin", "Tanh")[i % 2], [f"a{i}" if i else "x"], [f"a{i + 1}"]) for i in range(steps)]
    whole_value = helper.make_node("Concat", ["x"] + [f"a{i + 1}" for i in range(steps)], ["y"], axis=0)
    return whole([*made, whole_value], outputs=[info("y", (4 * steps + 4,))]).SerializeToString()


def parts_of_parts(count):
    """One value made of parts, each of which is read again."""
    split = [helper.make_node("Concat", [f"a{i}" for i in range(count)], ["all"], axis=0),
             helper.make_node("Split", ["all"], [f"s{i}" for i in range(count)], num_outputs=count)]
    read = [helper.make_node("Softplus", [f"s{i}"], [f"b{i}"]) for i in range(count)]
    joined = helper.make_node("Concat", [f"b{i}" for i in range(count)], ["y"], axis=0)
    return whole([*different(count), *split, *read, joined], outputs=[info("y", (4 * count,))]).SerializeToString()


model("A20", "8,000 values of a chain are parts of one", 0, "")(lambda: chain_of_parts(8_000))
model("A20", "2,000 parts of one value are read again", 0, "")(lambda: parts_of_parts(2_000))
model("A20", "Mean of one operand 65,540 times", 0, "")(
    lambda: whole([helper.make_node("Mean", ["x"] * 65_540, ["y"])]).SerializeToString())
model("A20", "Sum of one operand 10,000 times", 0, "")(
    lambda: whole([helper.make_node("Sum", ["x"] * 10_000, ["y"])]).SerializeToString())
model("A21", "empty messages by the million", 7, "--budget=model-bytes")(
    lambda: b"\x3a\x80\x80\x80\x14" + b"\x0a\x00" * (20 << 20))

UNFOLDED = [helper.make_node("ReduceSum", ["b"], ["r"], keepdims=0), helper.make_node("Add", ["x", "r"], ["y"])]
HUGE, ONE = constant("s", [2**40]), constant("o", [1], np.float32)
for op, inputs in (("ConstantOfShape", ["s"]), ("Expand", ["o", "s"]), ("Tile", ["o", "s"])):
    model("A22", f"{op} to 2^40", 0, "")(
        lambda op=op, inputs=inputs: whole([helper.make_node(op, inputs, ["b"])] + UNFOLDED,
                                           constants=[HUGE, ONE]).SerializeToString())
model("A22", "OneHot of depth 2^31", 7, "those have at most")(
    lambda: one("OneHot", ("x", "d", "v"), [constant("d", 2**31), constant("v", [0, 1], np.float32)], shape=(4,)))
model("A22", "a loss over 2^40 classes", 7, "those have at most")(
    lambda: whole([helper.make_node("NegativeLogLikelihoodLoss", ["x", "t"], ["y"], reduction="none")],
                  [info("x", (1, 2**40, 4)), info("t", (1, 4), I64)], [info("y", (1, 4))]).SerializeToString())
model("A22", "Unique of 2^26 values", 0, "")(
    lambda: one("Unique", shape=(2**26,), outputs=("y", "first", "inverse", "counts")))
def crop(shape, sizes, roi, mode, dtype=np.float32, **attrs):
    """A Resize whose weights follow from a part of the input, or from all of it with antialias."""
    return one("Resize", ("x", "roi", "", "sizes"), [constant("roi", roi, dtype), constant("sizes", sizes)], shape,
               opset=18, mode=mode, **(attrs or {"coordinate_transformation_mode": "tf_crop_and_resize"}))


for mode in ("nearest", "linear"):
    model("A22", f"{mode} crop of 2^26 results", 7, "would be too large")(
        lambda mode=mode: crop((4,), [2**26], [0, 1], mode))
model("A22", "antialias of 2^26 elements", 7, "would be too large")(
    lambda: crop((2**26,), [2], [0, 1], "cubic", antialias=1))
for mode in ("linear", "cubic"):
    model("A22", f"{mode} crop at 10^30", 0, "")(lambda mode=mode: crop((4,), [8], [1e30, 3e38], mode))
    model("A22", f"{mode} crop of all doubles", 0, "")(
        lambda mode=mode: crop((4,), [8], [-1.7e308, 1.7e308], mode, np.float64))
for end in ("nan", "inf"):
    model("A22", f"a crop to {end}", 3, "roi of axis 0 is from")(lambda end=end: crop((4,), [8], [0, float(end)], "linear"))
model("A22", "Loop of 2^63-1 trips", 0, "")(lambda: loop(2**63 - 1, SIN))
model("A22", "Loop of 1,000,000 trips", 0, "")(lambda: loop(1_000_000, SIN))
GROWS = [helper.make_node("Concat", ["s", "s"], ["t"], axis=0)]
model("A22", "a loop that doubles a value in each of 2^40 trips", 7, "--budget=nodes")(lambda: loop(2**40, GROWS))


@model("A22", "1,000 trips in each of 1,000", 0, "")
def _():
    inner = helper.make_graph([helper.make_node("Sin", ["s1"], ["s2"]), helper.make_node("Identity", ["c1"], ["c2"])],
                              "inner", [info("i1", (), I64), info("c1", (), TensorProto.BOOL), info("s1")],
                              [info("c2", (), TensorProto.BOOL), info("s2")])
    return loop(1000, [helper.make_node("Loop", ["n", "", "s"], ["t"], body=inner)])


@model("A22", "Scan over 100,000 steps", 0, "")
def _():
    body = helper.make_graph([helper.make_node("Add", ["s", "e"], ["s2"]), helper.make_node("Identity", ["s2"], ["o"])],
                             "body", [info("s"), info("e")], [info("s2"), info("o")])
    return whole([helper.make_node("Scan", ["x", "e"], ["y", "z"], body=body, num_scan_inputs=1)],
                 [info("x"), info("e", (100_000, 4))], [info("y"), info("z", (100_000, 4))]).SerializeToString()


# Nothing but unrolling can run it: each trip's value has another shape.
LONGER = helper.make_node("Concat", ["s", "k"], ["t"], name="n" * 10_000, axis=0)
model("A22", "names of 10 kB in an unrolled loop", 7, "--budget=name-bytes")(
    lambda: loop(30_000, [LONGER], extra=[constant("k", [1], np.float32)]))


@model("A22", "non-maximum suppression of 20,000 constant boxes", 4, "known only at run time")
def _():
    rng = np.random.default_rng(0)
    low = rng.random((1, 20_000, 2)).astype(np.float32)
    boxes = np.concatenate([low, low + 0.001], -1)
    return whole([helper.make_node("NonMaxSuppression", ["b", "s", "m", "i"], ["r"]),
                  helper.make_node("Cast", ["r"], ["f"], to=F),
                  helper.make_node("ReduceSum", ["f"], ["q"], keepdims=0),
                  helper.make_node("Add", ["x", "q"], ["y"])],
                 constants=[constant("b", boxes, np.float32), constant("s", rng.random((1, 1, 20_000)), np.float32),
                            constant("m", 10**9), constant("i", 0.9, np.float32)]).SerializeToString()


for value in (np.nan, np.inf, 1e-45):
    model("A23", f"weights of {value}", 0, "")(
        lambda value=value: one("Conv", ("x", "w"), [constant("w", np.full((1, 1, 2, 2), value), np.float32)]))
model("A23", "a scale of 0", 0, "")(
    lambda: one("QuantizeLinear", ("x", "s"), [constant("s", 0, np.float32)]))
model("A23", "an attention scale of NaN", 4, "scale nan, expected")(
    lambda: one("Attention", ("x", "x", "x"), opset=23, scale=float("nan"), shape=(1, 2, 3, 4)))

for elements in (2**63 - 1, 2**62, 2**41):
    model("A8", f"an op on {elements} elements", 7, "passes 1099511627776 elements")(
        lambda elements=elements: whole(
            [helper.make_node("Not", ["x"], ["y"])], [info("x", [elements], TensorProto.BOOL)],
            [info("y", [elements], TensorProto.BOOL)]).SerializeToString())

# Found by fuzzing: what is optional was read by the shape that it should have.
for operand, shape in ((3, (1, 24, 24)), (5, (1, 3)), (6, (3,)), (7, (1, 9, 1)), (8, (5,)), (11, (1, 12, 1))):
    @model("A18", f"an LSTM of codes whose operand {operand} is {shape}", 3, f"operand {operand} is {'x'.join(map(str, shape))}, expected")
    def _(operand=operand, shape=shape):
        rest = {3: (1, 24), 5: (1, 3, 3), 6: (1, 3, 3), 7: (1, 9), 8: (1,), 9: (1,), 10: (1,), 11: (1,)}
        kinds = {9: np.uint8, 11: np.uint8}
        constants = [constant("w", np.ones((1, 5, 12)), np.uint8), constant("r", np.ones((1, 3, 12)), np.uint8)]
        constants += [constant(f"c{k}", np.ones(shape if k == operand else s), kinds.get(k, np.float32)) for k, s in rest.items()]
        inputs = ["x", "w", "r", "c3", "", "c5", "c6", "c7", "c8", "c9", "c10", "c11"]
        return one("DynamicQuantizeLSTM", inputs, constants, (1, 3, 5), domain="com.microsoft", hidden_size=3)


def sequence(op, outputs=("y",), **attributes):
    nodes = [helper.make_node("SequenceConstruct", ["x", "x"], ["s"]), helper.make_node(op, ["s"], list(outputs), **attributes)]
    return whole(nodes).SerializeToString()


# Found by fuzzing: an op on tensors was given a sequence, which no node of a graph makes.
for op in ("ReduceSum", "MeanVarianceNormalization"):
    model("A12", f"{op} of a sequence", 3, "input 0 is a sequence")(lambda op=op: sequence(op))
model("A12", "a sequence of sequences as an output", 4, "is a sequence of sequences or optionals")(
    lambda: sequence("SequenceConstruct"))

# What failed before has no axes, of which the first was left out.
@model("A18", "an LSTM of codes for an input of uint16", 3, "does not take")
def _():
    constants = [constant("w", np.ones((1, 7, 16)), np.int8), constant("r", np.ones((1, 4, 16)), np.int8),
                 constant("s", [0.5], np.float32), constant("z", [0], np.int8)]
    node = helper.make_node("DynamicQuantizeLSTM", ["x", "w", "r", "", "", "", "", "", "s", "z", "s", "z"], ["y"],
                            domain="com.microsoft", hidden_size=4)
    return whole([node], [info("x", (1, 3, 7), TensorProto.UINT16)], constants=constants,
                 domains=("com.microsoft",)).SerializeToString()


model("A11", "LpNormalization of int8", 0, "")(
    lambda: whole([helper.make_node("LpNormalization", ["x"], ["y"], p=1)], [info("x", (3,), TensorProto.INT8)],
                  [info("y", (3,), TensorProto.INT8)]).SerializeToString())
model("A22", "Unique of 2^30 rows", 4, "1073741824 rows are sorted")(
    lambda: whole([helper.make_node("Unique", ["x"], ["y"], axis=0)], [info("x", (2**30, 7))],
                  [info("y", (2**30, 7))]).SerializeToString())

# Found by fuzzing: blocks of no channels were divided by how many they are.
model("A8", "Col2Im of no channels", 0, "")(
    lambda: whole([helper.make_node("Col2Im", ["x", "i", "b"], ["y"])], [info("x", (1, 0, 25), TensorProto.INT32)],
                  [info("y", (1, 0, 5, 5), TensorProto.INT32)],
                  [constant("i", [5, 5]), constant("b", [1, 1])]).SerializeToString())


def sequence_of_pieces(extent):
    nodes = [helper.make_node("SplitToSequence", ["x"], ["s"], axis=1),
             helper.make_node("SequenceAt", ["s", "i"], ["y"])]
    return whole(nodes, [info("x", (1, extent))], [info("y", (1, 1))], [constant("i", 0)]).SerializeToString()


# Found by changing one extent of every op's inputs: work and memory in proportion to an extent that the file pays
# nothing for.
model("A8", "a SplitToSequence of 2^31 pieces", 7, "it takes 2147483648 nodes")(
    lambda: sequence_of_pieces(2**31))
model("A8", "a Gemm of 2^31 columns with weights from outside", 0, "")(
    lambda: whole([helper.make_node("Gemm", ["x", "w"], ["p"]), helper.make_node("Relu", ["p"], ["y"])],
                  [info("x", (1, 3)), info("w", (3, 2**31))], [info("y", (1, 2**31))]).SerializeToString())
model("A8", "a state of 0 for 2^30 columns", 0, "")(
    lambda: whole([helper.make_node("LinearAttention", ["q", "k", "v"], ["y", "s"], q_num_heads=2, kv_num_heads=2,
                                    update_rule="linear")],
                  [info("q", (2, 1, 6)), info("k", (2, 1, 6)), info("v", (2, 1, 2**31))],
                  [info("y", (2, 1, 2**31)), info("s", (2, 2, 3, 2**30))], opset=27).SerializeToString())
