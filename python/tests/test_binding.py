"""Memory of the caller in place of a session's own, on the CPU; test_cuda.py and test_torch.py on GPUs."""

import gc
import weakref

import aicf
import numpy as np
import pytest
from conftest import linear_expected
from test_dlpack import Tensor
from test_states import program, rows  # noqa: F401  (a fixture)


@pytest.fixture
def session(linear):
    return linear.session(threads=1)


def aligned(values):
    array = aicf.aligned_array(values.shape, values.dtype)
    array[...] = values
    return array


def test_runs_use_the_callers_arrays(session, x):
    mine, out = aligned(x), aicf.aligned_array((2, 4), "f32")
    session.bind(inputs={"x": mine}, outputs={"y": out})
    result = session.run()["y"]
    assert result is out
    np.testing.assert_allclose(out, linear_expected(x), rtol=1e-6)
    mine *= 2
    session.enqueue()
    np.testing.assert_allclose(out, linear_expected(2 * x), rtol=1e-6)
    assert np.shares_memory(np.from_dlpack(session.output("y")), out)
    with pytest.raises(aicf.InvalidArgument, match="bound to memory of the caller"):
        session.set_input("x", x)
    with pytest.raises(aicf.InvalidArgument, match="bound to memory of the caller"):
        session.get_output("y")
    session.bind(inputs={"x": None}, outputs={"y": None})
    np.testing.assert_allclose(session.run(x)["y"], linear_expected(x), rtol=1e-6)
    np.testing.assert_allclose(out, linear_expected(2 * x), rtol=1e-6)


def test_tensors_of_other_libraries_are_bound(session, x):
    mine, out = aligned(x), aicf.aligned_array((2, 4), np.float32)
    session.bind(inputs={"x": Tensor(mine)}, outputs={"y": Tensor(out)})
    session.enqueue()
    np.testing.assert_allclose(out, linear_expected(x), rtol=1e-6)


def test_a_session_writes_where_another_one_reads(linear, x):
    first, second = linear.session(threads=1), linear.session(threads=1)
    second.bind(inputs={"x": first.input("x")})
    first.set_input("x", x)
    np.testing.assert_allclose(second.run()["y"], linear_expected(x), rtol=1e-6)
    del first
    gc.collect()
    np.testing.assert_allclose(second.run()["y"], linear_expected(x), rtol=1e-6)


def test_what_is_bound_stays_alive_and_no_longer(session, x):
    mine = aligned(x)
    there = weakref.ref(mine)
    session.bind(inputs={"x": mine})
    del mine
    gc.collect()
    assert there() is not None
    np.testing.assert_allclose(session.run()["y"], linear_expected(x), rtol=1e-6)
    session.bind(inputs={"x": None})
    gc.collect()
    assert there() is None


def test_states_are_bound_for_all_entry_points(program):  # noqa: F811
    session = program.session(threads=1)
    mine = aligned(rows(1, 20))
    session.bind(states={"total": mine})
    session.run(x=rows(1, 1), scale=rows(1, 1))
    session.run(x=rows(3, 1), scale=rows(1, 1))
    np.testing.assert_array_equal(mine, rows(1, 24))
    fork = session.fork()
    fork.run(x=rows(1, 1))
    np.testing.assert_array_equal(fork.export_state("total"), rows(1, 25))
    np.testing.assert_array_equal(mine, rows(1, 24))
    session.bind(states={"total": None})
    np.testing.assert_array_equal(session.export_state("total"), rows(1, 0))


def test_what_cannot_be_bound_is_refused(session, x):
    good = aligned(x)
    off = aicf.aligned_array((2, 4), "f32").reshape(-1)[1:7].reshape(2, 3)
    frozen = aicf.aligned_array((2, 4), "f32")
    frozen.flags.writeable = False
    cases = [
        ({"inputs": {"q": good}}, "no input is named 'q'"),
        ({"inputs": {"x": good.T}}, "not dense"),
        ({"inputs": {"x": good.reshape(3, 2)}}, "input 'x': expected f32 2x3, got f32 3x2"),
        ({"inputs": {"x": aligned(x.astype(np.int32))}}, "expected f32 2x3, got i32 2x3"),
        ({"inputs": {"x": Tensor(good.reshape(3, 2))}}, "expected f32 2x3, got f32 3x2"),
        ({"inputs": {"x": off}}, "not aligned to 64 bytes"),
        ({"inputs": {"x": [1, 2]}}, "expected an array or a tensor with DLPack"),
        ({"outputs": {"y": frozen}}, "output 'y': the array is read-only"),
        ({"outputs": {"y": Tensor(frozen)}}, "output 'y': the memory is read-only"),
        ({"inputs": {"x": session.input("x")}}, "this session's own"),
    ]
    for arguments, sentence in cases:
        with pytest.raises(aicf.InvalidArgument, match=sentence):
            session.bind(**arguments)
    # Of several tensors none is bound when one is refused.
    with pytest.raises(aicf.InvalidArgument):
        session.bind(inputs={"x": good}, outputs={"y": frozen})
    np.testing.assert_allclose(session.run(x)["y"], linear_expected(x), rtol=1e-6)
    # A frozen array may be read.
    good.flags.writeable = False
    session.bind(inputs={"x": good})
    np.testing.assert_allclose(session.run()["y"], linear_expected(x), rtol=1e-6)


def test_aligned_arrays():
    for shape in [(), (0,), (3,), (2, 3, 5)]:
        for dtype in ("f32", "u8", np.int64):
            array = aicf.aligned_array(shape, dtype)
            assert array.shape == shape and (array.size == 0 or array.ctypes.data % 256 == 0)
            assert array.flags.c_contiguous and array.flags.writeable and not array.any()


def test_the_protocol_of_shared_tensors(session):
    shared = session.input("x")
    assert shared.__dlpack_device__() == (1, 0)
    assert repr(shared) == "SharedTensor('x', f32, (2, 3))"
    for arguments, error in [
        ({"stream": 1}, ValueError),
        ({"copy": True}, BufferError),
        ({"dl_device": (2, 0)}, BufferError),
    ]:
        with pytest.raises(error):
            shared.__dlpack__(**arguments)
    assert np.from_dlpack(shared).shape == (2, 3)
