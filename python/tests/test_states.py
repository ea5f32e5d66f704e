"""States and metas: what lives in a session across runs, and what is rewritten before each."""

import threading

import aicf
import numpy as np
import pytest
from conftest import make_model
from onnx import TensorProto, helper, numpy_helper


def running_total_model():
    """total_next = total + the column sums of x; y = total_next * scale. x has any number of rows."""
    return make_model(
        [
            helper.make_node("ReduceSum", ["x", "axis"], ["sum"], name="sum", keepdims=1),
            helper.make_node("Add", ["total", "sum"], ["total_next"], name="add"),
            helper.make_node("Mul", ["total_next", "scale"], ["y"], name="scale_it"),
        ],
        [
            ("x", TensorProto.FLOAT, ["N", 4]),
            ("total", TensorProto.FLOAT, [1, 4]),
            ("scale", TensorProto.FLOAT, [1, 4]),
        ],
        [("total_next", TensorProto.FLOAT, [1, 4]), ("y", TensorProto.FLOAT, [1, 4])],
        [numpy_helper.from_array(np.array([0], np.int64), "axis")],
    )


BUCKETS = {"one": {"x": (1, 4)}, "three": {"x": (3, 4)}}


@pytest.fixture(scope="module")
def program():
    return aicf.compile(
        running_total_model(),
        buckets=BUCKETS,
        states={"total": "total_next"},
        metas=["scale"],
    )


@pytest.fixture
def session(program):
    session = program.session(threads=1)
    session.set_meta("scale", np.full((1, 4), 2, np.float32))
    return session


def rows(count, value):
    return np.full((count, 4), value, np.float32)


def total_of(session):
    return session.export_state("total")


def test_they_are_listed_apart(program, session):
    assert [t.name for t in program.states] == ["total"] == [t.name for t in session.states]
    assert program.states[0].shape == (1, 4) and program.states[0].dtype == "f32"
    assert program.state_bytes > 0 and session.memory["state_bytes"] == program.state_bytes
    assert [t.name for t in session.metas] == ["scale"]
    assert [t.name for t in session.inputs] == ["x"]
    assert [t.name for t in session.outputs] == ["y"]


def test_pairs_are_found_by_their_names():
    program = aicf.compile(running_total_model(), buckets=BUCKETS, states="auto")
    assert [t.name for t in program.states] == ["total"]
    with pytest.raises(aicf.InvalidArgument, match="no output is named 'next'"):
        aicf.compile(running_total_model(), buckets=BUCKETS, states={"total": "next"})
    with pytest.raises(aicf.InvalidArgument, match="states and metas are about the model"):
        aicf.compile(program, metas=["scale"])


def test_a_state_lives_across_runs_and_entry_points(session):
    np.testing.assert_array_equal(session.run(rows(1, 3))["y"], rows(1, 6))
    session.select({"x": (3, 4)})
    session.set_meta("scale", rows(1, 10))
    np.testing.assert_array_equal(session.run(x=rows(3, 1))["y"], rows(1, 60))
    np.testing.assert_array_equal(total_of(session), rows(1, 6))


def test_metas_are_given_with_a_run_too(session):
    assert session.run(x=rows(3, 1), scale=rows(1, 5))["y"][0, 0] == 15
    assert session.run({"x": rows(3, 1)})["y"][0, 0] == 30, "a meta stays until it is rewritten"


def test_resets_give_the_seed(session):
    session.seed_state("total", rows(1, 7))
    session.run(rows(1, 1))
    np.testing.assert_array_equal(total_of(session), rows(1, 1))
    session.reset_states()
    np.testing.assert_array_equal(total_of(session), rows(1, 7))


def test_exported_states_go_on_in_another_session(program, session):
    value = np.array([[0.1, 0.2, 0.3, 0.4]], np.float32)
    session.import_state("total", value)
    other = program.session(threads=1)
    other.import_state("total", session.export_state("total"))
    for step in range(5):
        session.run(rows(1, step / 3), scale=value)
        other.run(rows(1, step / 3), scale=value)
    out = np.empty((1, 4), np.float32)
    assert session.export_state("total", out) is out
    assert out.tobytes() == total_of(other).tobytes()


def test_forks_go_on_apart(session):
    session.seed_state("total", rows(1, 9))
    session.run(rows(1, 1))
    fork = session.fork()
    np.testing.assert_array_equal(total_of(fork), rows(1, 1))
    fork.run(rows(1, 100))
    session.run(rows(1, 10))
    np.testing.assert_array_equal(total_of(fork), rows(1, 101))
    np.testing.assert_array_equal(total_of(session), rows(1, 11))
    fork.reset_states()
    np.testing.assert_array_equal(total_of(fork), rows(1, 9))


def test_forks_run_in_threads_of_their_own(session):
    forks = [session.fork() for _ in range(4)]

    def count(fork, step):
        for _ in range(50):
            fork.run(rows(1, step))

    threads = [threading.Thread(target=count, args=(f, i)) for i, f in enumerate(forks)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for i, fork in enumerate(forks):
        np.testing.assert_array_equal(total_of(fork), rows(1, 50 * i))


@pytest.mark.parametrize("give", ["import_state", "seed_state", "set_meta"])
def test_tensors_are_those_of_the_program(session, give):
    name = "scale" if give == "set_meta" else "total"
    what = "meta" if give == "set_meta" else "state"
    session.import_state("total", rows(1, 5))
    function = getattr(session, give)
    with pytest.raises(aicf.InvalidArgument, match=f"{what} '{name}': expected f32 1x4, got f32 4x1"):
        function(name, rows(1, 1).T)
    with pytest.raises(aicf.InvalidArgument, match="expected f32 1x4, got i32 1x4"):
        function(name, np.zeros((1, 4), np.int32))
    with pytest.raises(aicf.InvalidArgument, match=f"no {what} is named 'x'"):
        function("x", rows(1, 1))
    np.testing.assert_array_equal(total_of(session), rows(1, 5))


def test_what_receives_a_state_is_checked(session):
    for wrong in (np.empty((4, 1), np.float32), np.empty((1, 4), np.float64)):
        with pytest.raises(aicf.InvalidArgument, match="state 'total': expected f32 1x4"):
            session.export_state("total", wrong)
    with pytest.raises(aicf.InvalidArgument, match="not dense and writable"):
        session.export_state("total", np.empty((1, 8), np.float32)[:, ::2])


def test_a_states_memory_is_shared_not_copied(session):
    view = np.from_dlpack(session.state("total"))
    view[:] = 4
    session.run(rows(1, 1))
    np.testing.assert_array_equal(view, rows(1, 5))
    assert session.state("total").shape == (1, 4) and session.state("total").dtype == "f32"
    with pytest.raises(aicf.InvalidArgument, match="no state is named 'h'"):
        session.state("h")
