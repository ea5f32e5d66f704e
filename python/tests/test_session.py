import functools
import sys
import threading

import aicf
import numpy as np
import pytest
from conftest import in_threads, linear_expected, make_model, weights
from onnx import TensorProto, helper


@pytest.fixture
def session(linear):
    return linear.session(threads=1)


def test_inputs_by_name_position_and_keyword(session, x):
    expected = linear_expected(x)
    for outputs in (session.run({"x": x}), session.run(x), session.run(x=x)):
        assert list(outputs) == ["y"]
        assert outputs["y"].dtype == np.float32 and outputs["y"].shape == (2, 4)
        np.testing.assert_allclose(outputs["y"], expected, rtol=1e-6)
    with pytest.raises(aicf.InvalidArgument, match="given twice"):
        session.run(x, x=x)
    with pytest.raises(aicf.InvalidArgument, match="given twice"):
        session.run({"x": x}, x=x)
    with pytest.raises(aicf.InvalidArgument, match="2 inputs are given"):
        session.run(x, x)


def test_lists_numbers_and_strided_arrays_are_taken(session, x):
    expected = linear_expected(x)
    wide = np.zeros((2, 6), np.float32)
    wide[:, ::2] = x
    for value in (x.tolist(), wide[:, ::2], np.asfortranarray(x)):
        np.testing.assert_allclose(session.run(value)["y"], expected, rtol=1e-6)
    frozen = x.copy()
    frozen.flags.writeable = False
    np.testing.assert_allclose(session.run(frozen)["y"], expected, rtol=1e-6)


def test_another_shape_or_dtype_is_refused_and_changes_nothing(session, x):
    before = session.run(x)["y"]
    with pytest.raises(aicf.InvalidArgument, match="x 2x3") as shape:
        session.run(x.reshape(3, 2))
    assert "3x2" in str(shape.value)
    with pytest.raises(aicf.InvalidArgument, match="expected f32 2x3, got f32 3x2"):
        session.set_input("x", x.reshape(3, 2))
    with pytest.raises(aicf.InvalidArgument, match="expected f32 2x3, got f64 2x3"):
        session.run(x.astype(np.float64))
    with pytest.raises(aicf.InvalidArgument, match="expected f32 2x3, got i32 2x3"):
        session.run(x.astype(np.int32))
    with pytest.raises(ValueError, match="'z'"):
        session.run(z=x)
    np.testing.assert_array_equal(session.run()["y"], before)


def test_outputs_into_given_arrays(session, x):
    mine = np.empty((2, 4), np.float32)
    outputs = session.run(x, out={"y": mine})
    assert outputs["y"] is mine
    np.testing.assert_allclose(mine, linear_expected(x), rtol=1e-6)
    with pytest.raises(aicf.InvalidArgument, match="got f32 4x2"):
        session.get_output("y", np.empty((4, 2), np.float32))
    with pytest.raises(aicf.InvalidArgument, match="dense and writable"):
        session.get_output("y", np.empty((4, 2), np.float32).T)
    with pytest.raises(aicf.InvalidArgument, match="'z'"):
        session.run(x, out={"z": mine})


def test_asynchronous_runs(linear, x):
    session = linear.session(sync="event", threads=1)
    np.testing.assert_allclose(session.run(x)["y"], linear_expected(x), rtol=1e-6)
    session.enqueue()
    session.wait()
    with pytest.raises(aicf.InvalidArgument, match="'soon'"):
        linear.session(sync="soon")


def test_devices_that_are_not_there(linear):
    with pytest.raises(aicf.DeviceError, match="cpu"):
        linear.session("cuda:0")
    with pytest.raises(aicf.InvalidArgument, match="toaster"):
        linear.session("toaster")


def test_measuring(session, x):
    session.run(x)
    assert all(t > 0 for t in session.time_replays(3))
    steps = session.profile(3)
    assert [s for s, _ in steps] == list(range(len(steps)))
    assert session.memory["total_device_bytes"] >= weights().nbytes
    assert session.device == "cpu" and "cpu" in repr(session)


def test_buckets_are_chosen_by_shape():
    model = make_model(
        [helper.make_node("Neg", ["x"], ["y"])],
        [("x", TensorProto.FLOAT, ["n", 3])],
        [("y", TensorProto.FLOAT, ["n", 3])],
    )
    program = aicf.compile(model, buckets={"two": {"x": (2, 3)}, "six": {"x": (6, 3)}})
    assert [e.name for e in program.entries] == ["two", "six"]
    session = program.session(threads=1)
    for rows, entry in ((2, "two"), (6, "six"), (5, "six"), (2, "two")):
        x = np.random.default_rng(rows).normal(size=(rows, 3)).astype(np.float32)
        np.testing.assert_array_equal(session.run(x)["y"], -x)
        assert session.entry.name == entry
        assert session.input_shape("x") == session.output_shape("y") == (rows, 3)
    with pytest.raises(aicf.InvalidArgument, match="'six': x 6x3"):
        session.run(np.zeros((7, 3), np.float32))
    session.select_entry("six")
    assert session.inputs[0].shape == (6, 3)
    session.select({"x": (1, 3)})
    assert session.entry.name == "two"


def test_extents_that_a_run_decides():
    model = make_model(
        [helper.make_node("NonZero", ["x"], ["y"])],
        [("x", TensorProto.FLOAT, [5])],
        [("y", TensorProto.INT64, [1, "n"])],
    )
    program = aicf.compile(model)
    assert program.outputs[0].dynamic_axis == 1
    session = program.session(threads=1)
    for values in ([0, 1, 0, 2, 3], [0, 0, 0, 0, 0], [1, 1, 1, 1, 1]):
        found = session.run(np.array(values, np.float32))["y"]
        np.testing.assert_array_equal(found, np.array([np.flatnonzero(values)]))


def cast_model(element_type):
    return make_model(
        [helper.make_node("Cast", ["x"], ["y"], to=TensorProto.FLOAT)],
        [("x", element_type, [4])],
        [("y", TensorProto.FLOAT, [4])],
    )


def test_bfloat16_through_ml_dtypes():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    session = aicf.compile(cast_model(TensorProto.BFLOAT16)).session(threads=1)
    values = np.array([1, -2.5, 3e30, 0], ml_dtypes.bfloat16)
    expected = values.astype(np.float32)
    np.testing.assert_array_equal(session.run(values)["y"], expected)
    np.testing.assert_array_equal(session.run(values.view(np.uint16))["y"], expected)
    np.testing.assert_array_equal(session.run([1, -2.5, 3e30, 0])["y"], expected)
    with pytest.raises(aicf.InvalidArgument, match="expected bf16 4, got f16 4"):
        session.run(np.zeros(4, np.float16))
    assert aicf.numpy_dtype("bf16") == ml_dtypes.bfloat16


@pytest.mark.parametrize(
    ("element_type", "dtype"),
    [
        (TensorProto.DOUBLE, np.float64),
        (TensorProto.FLOAT16, np.float16),
        (TensorProto.INT8, np.int8),
        (TensorProto.INT16, np.int16),
        (TensorProto.INT32, np.int32),
        (TensorProto.INT64, np.int64),
        (TensorProto.UINT8, np.uint8),
        (TensorProto.UINT16, np.uint16),
        (TensorProto.UINT32, np.uint32),
        (TensorProto.UINT64, np.uint64),
        (TensorProto.BOOL, np.bool_),
    ],
)
def test_every_plain_dtype(element_type, dtype):
    session = aicf.compile(cast_model(element_type)).session(threads=1)
    values = np.array([0, 1, 3, 100]).astype(dtype)
    np.testing.assert_array_equal(session.run(values)["y"], values.astype(np.float32))


def test_sessions_run_in_parallel_threads(linear):
    """Many threads, a session each; and nobody's results are another's."""
    wrong = []

    def work(seed):
        session = linear.session(threads=1)
        x = np.random.default_rng(seed).normal(size=(2, 3)).astype(np.float32)
        expected = session.run(x)["y"]
        for _ in range(50):
            if not np.array_equal(session.run(x)["y"], expected):
                wrong.append(seed)

    in_threads([functools.partial(work, i) for i in range(4)])
    assert not wrong


class Paused:
    """A value that a run waits for while it takes its inputs: between two calls of the library."""

    def __init__(self, values):
        self.values = values
        self.asked, self.go = threading.Event(), threading.Event()

    def __array__(self, dtype=None, copy=None):
        self.asked.set()
        assert self.go.wait(60)
        return np.asarray(self.values, dtype)


@pytest.fixture(scope="module")
def total():
    """total += x; y = total + z"""
    model = make_model(
        [helper.make_node("Add", ["total", "x"], ["next"]), helper.make_node("Add", ["next", "z"], ["y"])],
        [(name, TensorProto.FLOAT, [2]) for name in ("total", "x", "z")],
        [(name, TensorProto.FLOAT, [2]) for name in ("next", "y")],
    )
    return aicf.compile(model, states={"total": "next"}, metas=["z"])


def test_all_of_a_run_is_one_call(total):
    """While a run is anywhere inside, all calls of other threads are refused, and none has an effect."""
    session = total.session(threads=1)
    x, other = np.ones(2, np.float32), np.full(2, 9, np.float32)
    calls = {
        "run": lambda: session.run(other, z=other),
        "enqueue": session.enqueue,
        "wait": session.wait,
        "fork": session.fork,
        "set_input": lambda: session.set_input("x", other),
        "set_meta": lambda: session.set_meta("z", other),
        "get_output": lambda: session.get_output("y"),
        "outputs_now": session.outputs_now,
        "select": lambda: session.select({"x": (2,)}),
        "select_entry": lambda: session.select_entry("main"),
        "input_shape": lambda: session.input_shape("x"),
        "output_shape": lambda: session.output_shape("y"),
        "time_replays": lambda: session.time_replays(1),
        "profile": lambda: session.profile(1),
        "reset_states": session.reset_states,
        "seed_state": lambda: session.seed_state("total", other),
        "import_state": lambda: session.import_state("total", other),
        "export_state": lambda: session.export_state("total"),
        "input": lambda: session.input("x"),
        "output": lambda: session.output("y"),
        "state": lambda: session.state("total"),
        "bind": lambda: session.bind(inputs={"x": aicf.aligned_array((2,), "f32")}),
    }
    public = {n for n in dir(type(session)) if not n.startswith("_") and callable(getattr(type(session), n))}
    assert set(calls) == public, "every method is tried"
    pause, results = Paused([10, 10]), []
    thread = threading.Thread(target=lambda: results.append(session.run(x, z=pause)["y"]))
    thread.start()
    assert pause.asked.wait(60)
    try:
        for call in calls.values():
            with pytest.raises(aicf.InvalidArgument, match="the session is busy: another thread is inside it"):
                call()
    finally:
        pause.go.set()
        thread.join()
    np.testing.assert_array_equal(results, [[11, 11]])
    np.testing.assert_array_equal(session.run()["y"], [12, 12])
    session.reset_states()
    np.testing.assert_array_equal(session.export_state("total"), [0, 0])


def test_a_refused_input_leaves_the_session_free(session, x):
    with pytest.raises(aicf.InvalidArgument):
        session.run(x.reshape(3, 2))
    found = []
    in_threads([lambda: found.append(session.run(x)["y"])])
    np.testing.assert_allclose(found, [linear_expected(x)], rtol=1e-6)


def test_a_run_may_read_the_sessions_own_tensors(linear, x):
    """A thread is not in its own way, even where the protocol waits for a run."""
    session = linear.session(threads=1, sync="event")
    session.run(x)
    np.testing.assert_allclose(session.run(session.input("x"))["y"], linear_expected(x), rtol=1e-6)


def test_threads_in_one_session_get_their_own_results_or_none(session):
    wrong, done = [], []

    def work(value):
        x = np.full((2, 3), value, np.float32)
        expected = linear_expected(x)
        for _ in range(1000):
            try:
                found = session.run(x)["y"]
            except aicf.InvalidArgument as error:
                assert "busy" in str(error)
                continue
            done.append(value)
            if not np.allclose(found, expected, rtol=1e-5):
                wrong.append(value)

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        in_threads([functools.partial(work, v) for v in (1, 2, 3)])
    finally:
        sys.setswitchinterval(before)
    assert done and not wrong


def long_model():
    """A loop of so many trips that its run lasts far longer than a thread's turn."""
    body = helper.make_graph(
        [
            helper.make_node("Identity", ["go"], ["go_on"]),
            helper.make_node("Sin", ["v"], ["w"]),
        ],
        "body",
        [
            helper.make_tensor_value_info("i", TensorProto.INT64, []),
            helper.make_tensor_value_info("go", TensorProto.BOOL, []),
            helper.make_tensor_value_info("v", TensorProto.FLOAT, [1000]),
        ],
        [
            helper.make_tensor_value_info("go_on", TensorProto.BOOL, []),
            helper.make_tensor_value_info("w", TensorProto.FLOAT, [1000]),
        ],
    )
    return make_model(
        [helper.make_node("Loop", ["trips", "", "x"], ["y"], body=body)],
        [("trips", TensorProto.INT64, []), ("x", TensorProto.FLOAT, [1000])],
        [("y", TensorProto.FLOAT, [1000])],
    )


def test_the_lock_is_released_while_running():
    """Python goes on in another thread while a run, which holds no lock, is under way."""
    session = aicf.compile(long_model()).session(threads=1)
    x = np.ones(1000, np.float32)
    session.set_input("trips", np.int64(50_000))
    session.set_input("x", x)
    state = {"running": False}

    def run():
        state["running"] = True
        while True:
            try:
                return session.enqueue()
            except aicf.InvalidArgument:  # the other thread was inside for a moment
                pass

    thread = threading.Thread(target=run)
    thread.start()
    while not state["running"] and thread.is_alive():
        pass
    with pytest.raises(aicf.InvalidArgument, match="busy"):
        while True:  # two threads in one session: the later call is refused
            session.input_shape("x")
            assert thread.is_alive(), "the run ended before anything else had a turn"
    thread.join()
