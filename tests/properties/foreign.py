"""Ops without a schema in onnx: what a generator needs of one, stated beside it."""

from registry import op

SCHEMAS = {}


class Constraint:
    def __init__(self, name, types):
        self.type_param_str = name
        self.allowed_type_strs = [f"tensor({t})" for t in types]


class Output:
    type_str = "T"


class Schema:
    """Looks like onnx.defs.OpSchema where the framework looks. All operands have type T, unless drawn
    with another; so has the first output."""

    def __init__(self, name, domain, types):
        self.name, self.domain, self.since_version, self.deprecated = name, domain, 1, False
        self.type_constraints = [Constraint("T", types)]
        self.inputs, self.outputs, self.attributes = [None] * 20, [Output()], {}


def contrib(name, types, domain="com.microsoft", weight=1):
    """Declares the generator of an op of another domain, with the types of T. weight: as in registry.op."""
    full = f"{domain}.{name}" if domain else name
    SCHEMAS[full] = Schema(name, domain, types)
    return op(full, oldest=1, weight=weight)
