"""Small ONNX models for the scripts here, written as calls, and their results by ONNX Runtime."""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

CONTRIB = "com.microsoft"


class Model:
    """Collects a graph. Weights are random with a fixed seed; node() returns output names."""

    def __init__(self, seed=0, opset=20):
        self.rng = np.random.default_rng(seed)
        self.opset = opset
        self.nodes, self.inputs, self.initializers = [], [], []
        self.feeds, self.counter = {}, 0

    def name(self, base):
        self.counter += 1
        return f"{base}_{self.counter}"

    def input(self, name, array):
        array = np.asarray(array)
        element = helper.np_dtype_to_tensor_dtype(array.dtype)
        self.inputs.append(helper.make_tensor_value_info(name, element, array.shape))
        self.feeds[name] = array
        return name

    def random(self, name, *shape, dtype=np.float32, scale=1.0):
        return self.input(name, (self.rng.standard_normal(shape) * scale).astype(dtype))

    def constant(self, array, base="c"):
        name = self.name(base)
        self.initializers.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def ints(self, *values):
        return self.constant(np.array(values, np.int64))

    def weight(self, *shape, dtype=np.float32, scale=None):
        scale = scale if scale is not None else 1 / np.sqrt(shape[0] if len(shape) < 3 else
                                                           np.prod(shape[1:]))
        return self.constant((self.rng.standard_normal(shape) * scale).astype(dtype), "w")

    def near_one(self, *shape):
        return self.constant((1 + 0.1 * self.rng.standard_normal(shape)).astype(np.float32), "g")

    def node(self, op, inputs, outputs=1, domain="", **attrs):
        names = [self.name(op.lower()) for _ in range(outputs)] if isinstance(outputs, int) else outputs
        self.nodes.append(helper.make_node(op, inputs, names, domain=domain, name=self.name(op), **attrs))
        return names[0] if len(names) == 1 else names

    def contrib(self, op, inputs, outputs=1, **attrs):
        return self.node(op, inputs, outputs, CONTRIB, **attrs)

    def build(self, outputs):
        infos = [helper.make_tensor_value_info(n, TensorProto.UNDEFINED, None) for n in outputs]
        for info in infos:
            info.ClearField("type")
        graph = helper.make_graph(self.nodes, "g", self.inputs, infos, self.initializers)
        imports = [helper.make_opsetid("", self.opset), helper.make_opsetid(CONTRIB, 1)]
        return helper.make_model(graph, opset_imports=imports, ir_version=10)

    def case(self, outputs, tolerance=("--rel=2e-5",), reference=None):
        """(model, feeds, references, tolerance). `reference`: a Model with the same outputs, where ONNX
        Runtime has not the form under test."""
        outputs = [outputs] if isinstance(outputs, str) else list(outputs)
        results = (reference or self).run(outputs)
        return self.build(outputs), self.feeds, dict(zip(outputs, results)), list(tolerance)

    def run(self, outputs):
        """ONNX Runtime's results, without its optimisations."""
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.intra_op_num_threads = 1
        session = onnxruntime.InferenceSession(
            self.build(outputs).SerializeToString(), options, providers=["CPUExecutionProvider"]
        )
        return session.run(outputs, self.feeds)


