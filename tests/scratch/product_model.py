"""product_model.py OUT: writes OUT/product.onnx, y = relu(x * w + b) in f16, with an input and its output."""

import pathlib
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

out = pathlib.Path(sys.argv[1])
out.mkdir(parents=True, exist_ok=True)
random = np.random.default_rng(7)
x = random.uniform(-1, 1, (300, 232)).astype(np.float16)
w = random.uniform(-1, 1, (232, 328)).astype(np.float16)
b = random.uniform(-1, 1, 328).astype(np.float16)

graph = helper.make_graph(
    [
        helper.make_node("MatMul", ["x", "w"], ["product"], "product"),
        helper.make_node("Add", ["product", "b"], ["sum"], "sum"),
        helper.make_node("Relu", ["sum"], ["y"], "y"),
    ],
    "product",
    [helper.make_tensor_value_info("x", TensorProto.FLOAT16, x.shape)],
    [helper.make_tensor_value_info("y", TensorProto.FLOAT16, (x.shape[0], w.shape[1]))],
    [numpy_helper.from_array(w, "w"), numpy_helper.from_array(b, "b")],
)
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
onnx.save(model, str(out / "product.onnx"))
y = np.maximum(x.astype(np.float32) @ w.astype(np.float32) + b.astype(np.float32), 0)
np.save(out / "x.npy", x)
np.save(out / "y.npy", y.astype(np.float16))
