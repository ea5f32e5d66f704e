"""The list of products (shapes.txt) and an ONNX model of each: the product and its epilogue."""
import dataclasses
import pathlib

import numpy as np
import onnx
from onnx import TensorProto, helper

SCALE = 0.125


@dataclasses.dataclass(frozen=True)
class Shape:
    name: str
    batch: int
    m: int
    n: int
    k: int
    weights: str
    epilogue: tuple

    @property
    def flops(self):
        return 2 * self.batch * self.m * self.n * self.k

    @property
    def bytes(self):
        """Of both operands and the result."""
        return 2 * self.batch * (self.m * self.k + self.k * self.n + self.m * self.n)

    @property
    def weight_dims(self):
        dims = [self.k, self.n] if self.weights == "kn" else [self.n, self.k]
        return dims if self.batch == 1 else [self.batch, *dims]

    def dims(self, *last):
        return list(last) if self.batch == 1 else [self.batch, *last]


def read_shapes(path=pathlib.Path(__file__).parent / "shapes.txt"):
    shapes = []
    for line in path.read_text().splitlines():
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        name, numbers, weights, epilogue = words[0], map(int, words[1:5]), words[5], words[6]
        shapes.append(Shape(name, *numbers, weights, tuple(w for w in epilogue.split("+") if w != "none")))
    return shapes


def bf16_bits(values):
    """float32 values as bfloat16 bits, rounded to nearest even."""
    bits = np.ascontiguousarray(values, np.float32).view(np.uint32).astype(np.uint64)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)


def bf16_values(bits):
    return (bits.astype(np.uint32) << 16).view(np.float32)


def _product(shape, copy, nodes):
    weights = f"b{copy}"
    if shape.weights == "nk":
        order = [1, 0] if shape.batch == 1 else [0, 2, 1]
        nodes.append(helper.make_node("Transpose", [weights], [f"bt{copy}"], perm=order))
        weights = f"bt{copy}"
    nodes.append(helper.make_node("MatMul", [f"a{copy}", weights], [f"product{copy}"]))
    return f"product{copy}"


def _epilogue_nodes(word, x, out):
    """Nodes of one word of the epilogue, from tensor x to tensor out."""
    if word in ("bias", "residual"):
        return [helper.make_node("Add", [x, word], [out])]
    if word == "scale":
        return [helper.make_node("Mul", [x, "scale"], [out])]
    if word == "relu":
        return [helper.make_node("Relu", [x], [out])]
    if word == "silu":
        return [helper.make_node("Sigmoid", [x], [out + "_gate"]), helper.make_node("Mul", [x, out + "_gate"], [out])]
    approximate = {"gelu": "none", "gelu_tanh": "tanh"}[word]
    return [helper.make_node("Gelu", [x], [out], approximate=approximate)]


def make_model(shape, weights, bias=None):
    """The model in bfloat16: as many copies of the product as there are weights (float32 values, constants), each with
    an input of its own; bias and residual are theirs together."""
    nodes, inputs, outputs, constants = [], [], [], []
    kind = TensorProto.BFLOAT16

    def constant(name, dims, value):
        constants.append(helper.make_tensor(name, kind, dims, bf16_bits(value).tobytes(), raw=True))

    def info(name, *last):
        return helper.make_tensor_value_info(name, kind, shape.dims(*last))

    if "bias" in shape.epilogue:
        constant("bias", [shape.n], bias)
    if "scale" in shape.epilogue:
        constant("scale", [], np.float32([SCALE]))
    if "residual" in shape.epilogue:
        inputs.append(info("residual", shape.m, shape.n))
    for copy, value in enumerate(weights):
        inputs.append(info(f"a{copy}", shape.m, shape.k))
        constant(f"b{copy}", shape.weight_dims, value)
        x = _product(shape, copy, nodes)
        for i, word in enumerate(shape.epilogue):
            nodes += _epilogue_nodes(word, x, f"y{copy}_{i}")
            x = f"y{copy}_{i}"
        outputs.append(info(x, shape.m, shape.n))
    graph = helper.make_graph(nodes, shape.name, inputs, outputs, constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)])
    onnx.checker.check_model(model)
    return model
