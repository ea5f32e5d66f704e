"""Several instances of an op as independent nodes of one model."""

from onnx import TensorProto, helper, numpy_helper

from dtypes import element, name_of


def initializer(name, array):
    return numpy_helper.from_array(array, name)


def build(cases, opset):
    inputs, constants, nodes, outputs = [], [], [], []
    for case in cases:
        for name, array in case.feeds.items():
            inputs.append(helper.make_tensor_value_info(name, element(array.dtype), array.shape))
        constants += [initializer(n, a) for n, a in case.constants.items()]
        nodes += case.sources + case.nodes
        for name in case.output_names:
            if name:
                info = helper.make_tensor_value_info(name, TensorProto.UNDEFINED, None)
                info.ClearField("type")
                outputs.append(info)
    graph = helper.make_graph(nodes, "g", inputs, outputs, constants)
    domains = {n.domain for n in nodes} - {""}
    imports = [helper.make_opsetid("", opset)] + [helper.make_opsetid(d, 1) for d in sorted(domains)]
    return helper.make_model(graph, opset_imports=imports, ir_version=10)


def describe(case):
    """The instance in full, for a reproduction."""
    lines = [f"  op {case.name}, form of opset {case.version}, opset {case.opset}, seed {case.seed}"]
    for node in case.sources + case.nodes:
        attrs = {a.name: "..." if a.HasField("g") else helper.get_attribute_value(a)
                 for a in node.attribute}
        lines.append(f"  {node.op_type}({', '.join(node.input)}) -> {', '.join(node.output)} {attrs}")
    for kind, arrays in (("input", case.feeds), ("constant", case.constants)):
        for name, array in arrays.items():
            values = f" = {array.tolist()}" if array.size <= 8 else ""
            lines.append(f"  {kind} {name}: {name_of(array.dtype)} {list(array.shape)}{values}")
    return "\n".join(lines)
