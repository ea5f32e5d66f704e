"""Small models, and the proof that it is the installed package that is tested."""

import pathlib
import sys
import threading

import aicf
import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

assert pathlib.Path(aicf.__file__).is_relative_to(sys.prefix), aicf.__file__


def make_model(nodes, inputs, outputs, initializers=(), metadata=None):
    """An ONNX model's bytes; inputs and outputs are (name, element type, shape)."""

    def infos(rows):
        return [helper.make_tensor_value_info(*row) for row in rows]

    graph = helper.make_graph(nodes, "test", infos(inputs), infos(outputs), list(initializers))
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    helper.set_model_props(model, metadata or {})
    onnx.checker.check_model(model)
    return model.SerializeToString()


def weights():
    return np.linspace(-1, 1, 12, dtype=np.float32).reshape(3, 4)


@pytest.fixture(scope="session")
def linear_model():
    """y = relu(x @ w), x of 2x3."""
    return make_model(
        [
            helper.make_node("MatMul", ["x", "w"], ["h"], name="product"),
            helper.make_node("Relu", ["h"], ["y"], name="relu"),
        ],
        [("x", TensorProto.FLOAT, [2, 3])],
        [("y", TensorProto.FLOAT, [2, 4])],
        [onnx.numpy_helper.from_array(weights(), "w")],
        {"character": "ab"},
    )


@pytest.fixture(scope="session")
def linear(linear_model):
    return aicf.compile(linear_model)


@pytest.fixture
def x():
    return np.arange(6, dtype=np.float32).reshape(2, 3) - 2


def linear_expected(x):
    return np.maximum(x @ weights(), 0)


def in_threads(works):
    """Calls each of `works` in a thread of its own and waits for all."""
    threads = [threading.Thread(target=work) for work in works]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
