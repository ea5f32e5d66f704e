"""DLPack in both directions. On a machine without a GPU the other library is numpy, or this file's own."""

import aicf
import numpy as np
import pytest
from conftest import linear_expected


class Tensor:
    """A tensor that offers nothing but the DLPack protocol."""

    def __init__(self, array):
        self._array = array

    @property
    def shape(self):
        return self._array.shape

    def __dlpack__(self, **arguments):
        return self._array.__dlpack__(**arguments)

    def __dlpack_device__(self):
        return self._array.__dlpack_device__()


@pytest.fixture
def session(linear):
    return linear.session(threads=1)


def test_tensors_of_other_libraries_are_taken(session, x):
    np.testing.assert_allclose(session.run(Tensor(x))["y"], linear_expected(x), rtol=1e-6)
    with pytest.raises(aicf.InvalidArgument, match="expected f32 2x3, got i64 2x3"):
        session.run(Tensor(x.astype(np.int64)))
    with pytest.raises(aicf.InvalidArgument, match="not dense and row-major"):
        session.set_input("x", Tensor(np.asfortranarray(x)))
    with pytest.raises(aicf.InvalidArgument, match="element type"):
        session.set_input("x", Tensor(x.astype(np.complex64)))


def test_the_sessions_memory_is_shared_not_copied(session, x):
    mine = np.from_dlpack(session.input("x"))
    assert mine.shape == (2, 3) and mine.dtype == np.float32
    mine[:] = x
    session.enqueue()
    out = np.from_dlpack(session.output("y"))
    np.testing.assert_allclose(out, linear_expected(x), rtol=1e-6)
    mine[:] = 2 * x
    session.enqueue()
    np.testing.assert_allclose(out, linear_expected(2 * x), rtol=1e-6)  # the same memory


def test_shared_memory_outlives_the_session(linear, x):
    session = linear.session(threads=1)
    session.run(x)
    view = session.output("y")
    assert view.__dlpack_device__() == (1, 0)
    del session
    np.testing.assert_allclose(np.from_dlpack(view), linear_expected(x), rtol=1e-6)


def test_unknown_names(session):
    with pytest.raises(aicf.InvalidArgument, match="no input is named 'q'"):
        session.input("q")
    with pytest.raises(aicf.InvalidArgument, match="no output is named 'q'"):
        session.output("q")
