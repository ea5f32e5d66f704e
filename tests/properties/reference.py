"""The standard's own evaluator, fed in float64: the reference of ops that are long to write down."""

import warnings

import numpy as np
from onnx import GraphProto, TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from dtypes import is_float, precise


def promote(tensor):
    """A float attribute tensor in float64."""
    array = numpy_helper.to_array(tensor)
    return numpy_helper.from_array(precise(array)) if is_float(array.dtype) else tensor


def evaluate(case, opset=None, inputs=None, **changed):
    """Outputs of the case's node. inputs: other operands than the case's own, by position.
    changed: attributes that differ for the evaluator; None leaves one out."""
    arrays = {n: precise(a) for n, a in {**case.feeds, **case.constants}.items()}
    for position, array in (inputs or {}).items():
        arrays[case.order[position]] = array
    attrs = {k: v for k, v in {**case.attrs, **changed}.items() if v is not None}
    attrs = {k: promote(v) if isinstance(v, TensorProto) else v for k, v in attrs.items()}
    outputs = [f"y{i}" for i in range(case.output_count)]
    node = helper.make_node(case.schema.name, case.order, outputs, domain=case.schema.domain, **attrs)
    return run([node], arrays, outputs, opset or case.opset)


def run(nodes, arrays, outputs, opset):
    infos = [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape)
             for n, a in arrays.items()]
    results = [helper.make_tensor_value_info(n, TensorProto.UNDEFINED, None) for n in outputs]
    graph = helper.make_graph(nodes, "reference", infos, results)
    assert isinstance(graph, GraphProto)
    domains = {n.domain for n in nodes} | {""}
    imports = [helper.make_opsetid(d, 1 if d else opset) for d in sorted(domains)]
    model = helper.make_model(graph, opset_imports=imports)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return ReferenceEvaluator(model).run(None, arrays)
