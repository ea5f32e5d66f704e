"""Runs the instances of one op together, compares, and finds the instance that fails."""

import os
import tempfile

import numpy as np

from dtypes import is_integer, is_storage, limits, name_of
from model import build, describe
from tolerance import TABLE, bound, mismatches
from tools import ToolError


def compare(case, results):
    """What is wrong with the first wrong output; "" when all are right."""
    for position, (name, expected) in enumerate(zip(case.output_names, case.expected)):
        if not name or expected is None:
            continue
        actual = results[name]
        if actual.shape != expected.values.shape:
            return f"{name}: shape {list(actual.shape)}, expected {list(expected.values.shape)}"
        wanted = case.output_type(position)
        if wanted is not None and actual.dtype != wanted:
            return f"{name}: type {name_of(actual.dtype)}, expected {name_of(wanted)}"
        bad = mismatches(actual, expected)
        if bad.any():
            return explain(name, actual, expected, bad)
    return ""


def explain(name, actual, expected, bad):
    at = tuple(int(i) for i in np.unravel_index(int(np.argmax(bad)), bad.shape)) if bad.ndim else ()
    text = f"{name}{list(at)}: found {actual[at]}, expected {expected.values[at]}"
    text += f"; {int(bad.sum())} of {bad.size} differ"
    if expected.kind != "exact" and name_of(actual.dtype) in ("float", "double", "float16", "bfloat16"):
        with np.errstate(all="ignore"):
            text += f"; allowed {bound(expected, actual.dtype)[at]:.3g}"
    return text


def moved(value, expected, dtype, at):
    """A number of the type that is not what was expected where `value` was found."""
    allowed = float(bound(expected, dtype).reshape(-1)[at]) if expected.kind != "exact" else 0.0
    for off in (value + 4 * allowed + 0.01 * abs(value) + 1e-30, 1.0 + 4 * allowed):
        with np.errstate(all="ignore"):
            changed = np.asarray(off).astype(dtype)
        if np.isfinite(changed) and changed != value:
            return changed
    return np.asarray(np.inf if value != np.inf else 0).astype(dtype)


def spoiled(array, expected):
    """The array with one element that is wrong by more than the tolerance; None when it has none."""
    if array.size == 0:
        return None
    array = array.copy()
    flat, at = array.reshape(-1), array.size // 2
    if array.dtype == bool:
        flat[at] = not flat[at]
    elif name_of(array.dtype) in TABLE:
        flat[at] = moved(float(flat[at]), expected, array.dtype, at)
    elif is_integer(array.dtype) and not is_storage(array.dtype):
        low, high = limits(array.dtype)
        flat[at] = int(flat[at]) + 3 if int(flat[at]) <= high - 3 else low
    else:
        return None
    return array


def unnoticed(case, results):
    """The first output in which a planted error is not found; "" when every one is."""
    for name, expected in zip(case.output_names, case.expected):
        wrong = spoiled(results[name], expected) if name and expected is not None else None
        if wrong is not None and not compare(case, {**results, name: wrong}):
            return name
    return ""


def execute(tools, cases, opset, keep=None):
    """Instance -> what is wrong with it, of those that are wrong. Raises ToolError."""
    feeds = {n: a for case in cases for n, a in case.feeds.items()}
    with tempfile.TemporaryDirectory() as temporary:
        directory = keep or temporary
        os.makedirs(directory, exist_ok=True)
        results = tools.outputs(directory, build(cases, opset), feeds)
    found = {case: compare(case, results) for case in cases}
    for case in cases:
        name = "" if found[case] else unnoticed(case, results)
        if name:
            found[case] = f"{name}: a planted error is not found"
    return {case: why for case, why in found.items() if why}


def failures(tools, cases, opset):
    """(instance, reason) of every instance that fails, alone or only beside others."""
    try:
        wrong = execute(tools, cases, opset)
    except ToolError as error:
        if len(cases) == 1:
            return [(cases[0], str(error))]
        half = len(cases) // 2
        found = failures(tools, cases[:half], opset) + failures(tools, cases[half:], opset)
        return found or [(cases[0], f"only together with {len(cases) - 1} others: {error}")]
    out = []
    for case, why in wrong.items():
        try:
            alone = case in execute(tools, [case], opset) if len(cases) > 1 else True
        except ToolError as error:
            alone, why = True, str(error)
        out.append((case, why + ("" if alone else " (only beside the other instances)")))
    return out


def report(case, why, tools, keep=None):
    lines = [f"FAIL {case.name} instance {case.index} on {tools.target}: {why}", describe(case)]
    if keep:
        directory = os.path.join(keep, f"{case.name}_{case.version}_{case.index}")
        try:
            execute(tools, [case], case.opset, directory)
        except ToolError:
            pass
        lines.append(f"  files: {directory}")
    return "\n".join(lines)
