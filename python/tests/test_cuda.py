"""CUDA sessions on a fake driver (fake_cuda/): device memory that is really host memory.

The driver is opened once in a process, so each test runs in one of its own, with LD_LIBRARY_PATH set.
"""

import os
import pathlib
import subprocess
import sys

import aicf
import pytest
from test_states import BUCKETS, running_total_model

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
# What test_*.py of the linear model use.
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


@pytest.fixture(scope="module")
def total_artifact(tmp_path_factory):
    if not (FAKE / "libcuda.so.1").exists():
        pytest.skip("AICF_FAKE_CUDA names no folder with the fake driver")
    try:
        program = aicf.compile(
            running_total_model(),
            buckets=BUCKETS,
            states={"total": "total_next"},
            metas=["scale"],
            target="cuda:sm_90a",
            kernel_cache="none",
        )
    except aicf.AicfError as error:
        pytest.skip(f"no device code: {error}")
    file = tmp_path_factory.mktemp("cuda") / "total.aicf"
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
for stream in (None, 1, 2, -1, 77):
    assert view.__dlpack__(stream=stream)
try:
    view.__dlpack__(stream=0)
    raise SystemExit("stream 0 is ambiguous")
except ValueError:
    pass
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


def test_device_tensors_are_bound_without_copies(artifact):
    """The other library is a second session, whose tensors are in device memory."""
    run(
        artifact,
        """
owner = program.session("cuda:0", transfers=False)
session = program.session("cuda:0", transfers=False, sync="event")
asked = []

class Producer:
    "Notes what the session asks of the tensor's library."
    def __init__(self, tensor): self.tensor = tensor
    def __dlpack_device__(self): return self.tensor.__dlpack_device__()
    def __dlpack__(self, *, stream=None, max_version=None):
        asked.append(stream)
        return self.tensor.__dlpack__(stream=stream, max_version=max_version)

session.bind(inputs={"x": Producer(owner.input("x"))}, outputs={"y": owner.output("y")})
assert asked == [1], asked
as_host(owner.input("x"), (2, 3))[:] = x
assert session.run()["y"].shape == (2, 4)
np.testing.assert_allclose(as_host(owner.output("y"), (2, 4)), expected, rtol=1e-5)
assert address(session.output("y")) == address(owner.output("y"))
for wrong, sentence in [(x, "got a numpy array"), (Producer(owner.output("y")), "expected f32 2x3")]:
    try:
        session.bind(inputs={"x": wrong})
        raise SystemExit(sentence)
    except aicf.InvalidArgument as error:
        assert sentence in str(error), error
session.bind(inputs={"x": None}, outputs={"y": None})
assert address(session.output("y")) != address(owner.output("y"))
""",
    )


def test_states_live_on_the_device(total_artifact):
    run(
        total_artifact,
        """
session = program.session()
rows = lambda count, value: np.full((count, 4), value, np.float32)
session.run(x=rows(1, 2), scale=rows(1, 3))
np.testing.assert_array_equal(as_host(session.state("total"), (1, 4)), rows(1, 2))
fork = session.fork()
fork.run(x=rows(3, 1), scale=rows(1, 1))
np.testing.assert_array_equal(fork.export_state("total"), rows(1, 5))
np.testing.assert_array_equal(session.export_state("total"), rows(1, 2))
fork.bind(states={"total": session.state("total")})
fork.run(x=rows(1, 1), scale=rows(1, 1))
np.testing.assert_array_equal(session.export_state("total"), rows(1, 3))
""",
    )
