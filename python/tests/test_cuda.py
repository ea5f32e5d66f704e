"""CUDA sessions on a fake driver (fake_cuda/): device memory that is really host memory.

The driver is opened once in a process, so each test runs in one of its own, with LD_LIBRARY_PATH set.
"""

import os
import pathlib
import subprocess
import sys

import aicf
import pytest

FAKE = pathlib.Path(os.environ.get("AICF_FAKE_CUDA", ""))

PRELUDE = """
import ctypes
import sys
import numpy as np
import aicf

fake = ctypes.CDLL("libcuda.so.1")
fake.aicf_fake_problem.restype = ctypes.c_char_p
assert fake.aicf_fake_add(sys.argv[1].encode()) == 0
program = aicf.load(sys.argv[1])
x = np.arange(6, dtype=np.float32).reshape(2, 3) - 2
expected = np.maximum(x @ np.linspace(-1, 1, 12, dtype=np.float32).reshape(3, 4), 0)

def address(view):
    "Where a DLPack tensor's elements are: the first member of its struct."
    capsule = view.__dlpack__()
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return ctypes.c_void_p.from_address(get(capsule, b"dltensor")).value

def as_host(view, shape):
    "The fake device's memory as an array."
    count = int(np.prod(shape))
    return np.ctypeslib.as_array((ctypes.c_float * count).from_address(address(view))).reshape(shape)
"""

END = """
assert fake.aicf_fake_problem() == b"", fake.aicf_fake_problem()
print("done")
"""


@pytest.fixture(scope="module")
def artifact(linear_model, tmp_path_factory):
    if not (FAKE / "libcuda.so.1").exists():
        pytest.skip("AICF_FAKE_CUDA names no folder with the fake driver")
    try:
        program = aicf.compile(linear_model, target="cuda:sm_90a", kernel_cache="none")
    except aicf.AicfError as error:
        pytest.skip(f"no device code: {error}")
    file = tmp_path_factory.mktemp("cuda") / "linear.aicf"
    program.save(file)
    return file


def run(artifact, body):
    environment = {**os.environ, "LD_LIBRARY_PATH": str(FAKE)}
    done = subprocess.run(
        [sys.executable, "-c", PRELUDE + body + END, str(artifact)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("done\n")


def test_arrays_go_in_and_out(artifact):
    run(
        artifact,
        """
session = program.session()
assert session.on_cuda and session.device == "Fake GPU"
np.testing.assert_allclose(session.run(x)["y"], expected, rtol=1e-5)
asynchronous = program.session(sync="event")
np.testing.assert_allclose(asynchronous.run(x)["y"], expected, rtol=1e-5)
""",
    )


def test_device_memory_is_exported_without_copies(artifact):
    run(
        artifact,
        """
session = program.session("cuda:0", transfers=False)
view = session.input("x")
assert view.__dlpack_device__() == (2, 0)
as_host(view, (2, 3))[:] = x
session.enqueue()
session.wait()
np.testing.assert_allclose(as_host(session.output("y"), (2, 4)), expected, rtol=1e-5)
""",
    )


def test_device_tensors_are_no_host_tensors(artifact):
    run(
        artifact,
        """
session = program.session(transfers=False)
try:
    session.set_input("x", session.input("x"))
    raise SystemExit("a device tensor was read as host memory")
except aicf.InvalidArgument as error:
    assert "device memory" in str(error), error
""",
    )
