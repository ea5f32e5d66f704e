"""Hostile models: a valid instance of every op that the importer knows, with one attribute, one operand or one
extent of its inputs at an extreme.

The instances are those of tests/properties, the attributes are the rows of compiler/import/onnx_attributes.def,
so that an op or an attribute that is added there has its cases at once. What a model should give is not said:
it may be good or bad, but it has to end in one of the documented ways (contract.py).
"""

import importlib
import os
import re
import sys

import numpy as np
from onnx import helper

HERE = os.path.dirname(os.path.abspath(__file__))
PROPERTIES = os.path.join(HERE, "..", "properties")
sys.path.insert(0, PROPERTIES)

from dtypes import is_float, largest  # noqa: E402
from generate import groups, make  # noqa: E402
from model import build  # noqa: E402
from registry import GENERATORS  # noqa: E402

for file in sorted(os.listdir(PROPERTIES)):
    if re.match(r"(ops|contrib)_\w+\.py$", file):
        importlib.import_module(file[:-3])

ATTRIBUTES = os.path.join(HERE, "..", "..", "compiler", "import", "onnx_attributes.def")

INTS = (-2**63, 2**63 - 1, 2**62, 2**31, -2**31, 65536, -1, 0)
REALS = (float("nan"), float("inf"), float("-inf"), 3.4e38, -3.4e38, 1e-45, 0.0, -1.0)
TEXTS = (b"", b"\xff\x00\x1b[2J", b"x" * 200_000)
EXTENTS = (0, 1, 2**31)
# Lists that a node does not have get these lengths; those that it has keep theirs and lose or gain one.
LENGTHS = (1, 2, 4)
# The instances of the newest form whose operands come as they are (Case.plain), and one of each older form.
NEWEST, OLDER = (4, 9, 14), (4,)


def known_attributes():
    """op -> [(name, kind letters)], as the importer's table has them."""
    with open(ATTRIBUTES, encoding="utf-8") as text:
        rows = re.findall(r'AICF_ATTRS\(\s*([\w.]+)\s*,((?:\s*"[^"]*")+)\)', text.read())
    found = {}
    for op, quoted in rows:
        entries = "".join(re.findall(r'"([^"]*)"', quoted)).split()
        found[op] = [tuple(reversed(entry.split(":"))) for entry in entries]
    return found


KNOWN = known_attributes()


def lists(values, length):
    """Every extreme everywhere, each in the first and the last place alone, and one value too few and too many."""
    for value in values:
        yield [value] * length
    for value in values[:3] if length > 1 else ():
        yield [value] + [1] * (length - 1)
        yield [1] * (length - 1) + [value]
    yield []
    yield [1] * (length + 1)


def values_of(kind, length):
    """(text for the case's name, value) of one attribute's extremes; length 0: the node has no such list."""
    for letter in kind:
        if letter in "ifs":
            for value in {"i": INTS, "f": REALS, "s": TEXTS}[letter]:
                yield letter, value
        elif letter in "IF":
            for n in (length,) if length else LENGTHS:
                for value in lists(INTS if letter == "I" else REALS, n):
                    yield letter, value


def attribute_of(name, letter, value):
    types = {"i": 2, "f": 1, "s": 3, "I": 7, "F": 6}
    made = helper.make_attribute(name, value, attr_type=types[letter])
    return made


def attribute_cases(model, op, domain):
    """Models with one attribute of the op's node replaced, or added where the node has none."""
    for index, node in enumerate(model.graph.node):
        if node.op_type != op or node.domain != domain:
            continue
        for name, kind in KNOWN.get(f"{domain}.{op}" if domain else op, ()):
            present = [a for a in node.attribute if a.name == name]
            length = max((len(a.ints) + len(a.floats) for a in present), default=0)
            for number, (letter, value) in enumerate(values_of(kind, length)):
                changed = type(model)()
                changed.CopyFrom(model)
                attributes = changed.graph.node[index].attribute
                kept = [a for a in node.attribute if a.name != name]
                del attributes[:]
                attributes.extend(kept + [attribute_of(name, letter, value)])
                yield f"{name}-{letter}{number}", changed
        return


def extremes(dtype):
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        found = [info.min, info.max, *(v for v in (2**62, 2**31, -1, 0) if info.min <= v <= info.max)]
        return list(dict.fromkeys(found))
    return [np.nan, np.inf, -np.inf, largest(dtype), 0.0] if is_float(dtype) else []


def operand_cases(case, opset):
    """Models with one operand a constant of extremes; what else the node reads stays as it was."""
    for name, array in list(case.feeds.items()) + list(case.constants.items()):
        if array.size == 0 or array.size > 4096:
            continue
        for number, value in enumerate(extremes(array.dtype)):
            for part in ("all", "first")[:1 if array.size == 1 else 2]:
                changed = array.copy()
                changed.reshape(-1)[slice(None) if part == "all" else slice(1)] = value
                feeds, constants = case.feeds, case.constants
                case.feeds = {k: v for k, v in feeds.items() if k != name}
                case.constants = {**constants, name: changed}
                yield f"{name.split('_')[-1]}-{part}{number}", build([case], opset)
                case.feeds, case.constants = feeds, constants


def axes_of(model):
    """The axes of the inputs' declared shapes, which whoever changes one changes in the model."""
    return [axis for value in model.graph.input for axis in value.type.tensor_type.shape.dim]


def extent_cases(model):
    """Models with one extent of one input changed, and with every axis of the same extent empty."""
    extents = [axis.dim_value for axis in axes_of(model)]
    changes = [(f"{n}-{value}", {n}, value) for n in range(len(extents)) for value in EXTENTS]
    for extent in sorted(set(extents)):
        same = {n for n, other in enumerate(extents) if other == extent}
        if len(same) > 1:
            changes.append((f"all{extent}", same, 0))
    for label, where, value in changes:
        changed = type(model)()
        changed.CopyFrom(model)
        for n, axis in enumerate(axes_of(changed)):
            if n in where:
                axis.dim_value = value
        for output in changed.graph.output:
            output.type.tensor_type.ClearField("shape")
        yield f"extent-{label}", changed


def cases_of(name, seed, newest=NEWEST, older=OLDER):
    """(name of the case, model) of one op, always the same for a seed."""
    for position, (schema, opset, _) in enumerate(groups(name, 1)):
        domain, _, op = name.rpartition(".")
        for index in newest if position == 0 else older:
            case = make(name, schema, opset, index, seed)
            model = build([case], opset)
            label = f"{name}-{schema.since_version}-{index}"
            for what, changed in attribute_cases(model, op, domain):
                yield f"{label}-{what}", changed
            if position == 0:
                for what, changed in operand_cases(case, opset):
                    yield f"{label}-{what}", changed
                for what, changed in extent_cases(model):
                    yield f"{label}-{what}", changed


def ops():
    return sorted(GENERATORS)
