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


def _product(shape, nodes):
    if shape.weights == "nk":
        order = [1, 0] if shape.batch == 1 else [0, 2, 1]
        nodes.append(helper.make_node("Transpose", ["b"], ["bt"], perm=order))
    nodes.append(helper.make_node("MatMul", ["a", "b" if shape.weights == "kn" else "bt"], ["product"]))
    return "product"


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


def make_model(shape, weights=None, bias=None):
    """The model in bfloat16. Weights and bias (float32 values) are constants where given, inputs where not."""
    nodes, inputs, constants = [], [], []
    kind = TensorProto.BFLOAT16

    def operand(name, dims, value):
        if value is None:
            inputs.append(helper.make_tensor_value_info(name, kind, dims))
        else:
            constants.append(helper.make_tensor(name, kind, dims, bf16_bits(value).tobytes(), raw=True))

    operand("a", shape.dims(shape.m, shape.k), None)
    operand("b", shape.weight_dims, weights)
    x = _product(shape, nodes)
    for i, word in enumerate(shape.epilogue):
        if word == "bias":
            operand("bias", [shape.n], bias)
        elif word == "residual":
            operand("residual", shape.dims(shape.m, shape.n), None)
        elif word == "scale":
            constants.append(helper.make_tensor("scale", kind, [], bf16_bits(np.float32([SCALE])).tobytes(), raw=True))
        nodes += _epilogue_nodes(word, x, f"y{i}")
        x = f"y{i}"
    output = helper.make_tensor_value_info(x, kind, shape.dims(shape.m, shape.n))
    graph = helper.make_graph(nodes, shape.name, inputs, [output], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)])
    onnx.checker.check_model(model)
    return model
