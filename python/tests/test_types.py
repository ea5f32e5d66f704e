"""What type checkers and readers rely on is installed and true."""

import inspect
import pathlib

import aicf
from aicf import errors


def test_stubs_are_installed():
    folder = pathlib.Path(aicf.__file__).parent
    assert (folder / "py.typed").exists()
    stub = (folder / "_native.pyi").read_text()
    classes = ("class TensorInfo", "class NativeSession", "class NativeGenerator")
    for name in (*classes, "def compile_file", "nbytes", "def states"):
        assert name in stub


def test_everything_public_has_a_docstring():
    properties = [p for p in vars(aicf.session.SessionTensors).values() if isinstance(p, property)]
    assert len(properties) == 4 and all(inspect.getdoc(p) for p in properties)
    for name in aicf.__all__:
        value = getattr(aicf, name)
        if name.startswith("_"):
            continue
        assert inspect.getdoc(value), name
        if not inspect.isclass(value) or issubclass(value, Exception):
            continue
        for member, function in inspect.getmembers(value, inspect.isfunction):
            if not member.startswith("_"):
                assert inspect.getdoc(function), f"{name}.{member}"
        for member, value_of in inspect.getmembers(value, lambda m: isinstance(m, property)):
            assert inspect.getdoc(value_of), f"{name}.{member}"


def test_every_code_has_its_class():
    for code in (
        "check-failed",
        "invalid-argument",
        "bad-model",
        "unsupported",
        "bad-artifact",
        "device",
        "resource",
        "io",
        "internal",
    ):
        assert errors.of_code(code).code == code
        assert issubclass(errors.of_code(code), aicf.AicfError)
    assert errors.of_code("what is this") is errors.InternalError
