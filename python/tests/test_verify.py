import aicf
import numpy as np
import pytest


def test_every_step_is_compared(linear, x):
    for found in (linear.verify(), linear.verify({"x": x}), linear.verify(seed=3)):
        assert found.passed and found and found.first_failed is None
        assert found.device == "cpu" and found.entry == "main"
        assert len(found.steps) == len(linear.describe()["steps"])
        assert {"step", "kernel", "pass", "relative_l2"} <= found.steps[0].keys()
        assert [o["output"] for o in found.outputs] == ["y"]


def test_wrong_inputs_are_refused(linear, x):
    with pytest.raises(aicf.InvalidArgument, match="'q'"):
        linear.verify({"q": x})
    with pytest.raises(aicf.InvalidArgument, match="3x2"):
        linear.verify({"x": x.reshape(3, 2)})
    with pytest.raises(aicf.InvalidArgument, match="expected f32 2x3, got i32 2x3"):
        linear.verify({"x": x.astype(np.int32)})
    with pytest.raises(aicf.InvalidArgument, match="missing"):
        linear.verify({})


def test_a_cuda_plan_on_the_cpu_has_nothing_to_compare(linear_model):
    program = aicf.compile(linear_model, target="cuda:sm_90a", images=False)
    with pytest.raises(aicf.DeviceError):
        program.verify(device="cpu")
