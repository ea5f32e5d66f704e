"""CUDA tensors of PyTorch in and out without copies. Skipped without torch or without a GPU."""

import aicf
import numpy as np
import pytest
from conftest import linear_expected
from test_states import BUCKETS, rows, running_total_model

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="PyTorch sees no GPU")


def compiled(model, **options):
    try:
        return aicf.compile(model, target="cuda:sm_90a", kernel_cache="none", **options)
    except aicf.AicfError as error:
        pytest.skip(f"no device code: {error}")


@pytest.fixture(scope="module")
def program(linear_model):
    return compiled(linear_model)


def on_gpu(array):
    return torch.from_numpy(np.array(array)).cuda()


def test_runs_use_torchs_memory(program, x):
    session = program.session(transfers=False)
    mine, out = on_gpu(x), torch.zeros(2, 4, device="cuda")
    session.bind(inputs={"x": mine}, outputs={"y": out})
    assert session.run()["y"] is out
    np.testing.assert_allclose(out.cpu().numpy(), linear_expected(x), rtol=1e-5)
    mine.mul_(2)
    torch.cuda.synchronize()
    session.enqueue()
    np.testing.assert_allclose(out.cpu().numpy(), linear_expected(2 * x), rtol=1e-5)


def test_torch_reads_and_writes_the_sessions_memory(program, x):
    stream = torch.cuda.Stream()
    session = program.session(transfers=False, stream=stream.cuda_stream, sync="none")
    with torch.cuda.stream(stream):
        torch.from_dlpack(session.input("x")).copy_(on_gpu(x))
        session.enqueue()
        doubled = torch.from_dlpack(session.output("y")) * 2
    stream.synchronize()
    np.testing.assert_allclose(doubled.cpu().numpy(), 2 * linear_expected(x), rtol=1e-5)


def test_work_of_another_stream_comes_first(program, x):
    """The tensor is still being made in torch's stream when it is bound."""
    session = program.session(transfers=False)
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        torch.cuda._sleep(200_000_000)
        mine = on_gpu(x) * 1
        session.bind(inputs={"x": mine})
    np.testing.assert_allclose(session.run()["y"], linear_expected(x), rtol=1e-5)


def test_results_are_ordered_before_the_consumers_stream(program, x):
    session = program.session(transfers=False, sync="event")
    torch.from_dlpack(session.input("x")).copy_(on_gpu(x))
    torch.cuda.synchronize()
    for _ in range(50):
        session.enqueue()
        got = torch.from_dlpack(session.output("y")).clone()
        np.testing.assert_allclose(got.cpu().numpy(), linear_expected(x), rtol=1e-5)


def test_states_stay_in_torchs_memory():
    program = compiled(
        running_total_model(), buckets=BUCKETS, states={"total": "total_next"}, metas=["scale"]
    )
    session = program.session()
    total = on_gpu(rows(1, 20))
    session.bind(states={"total": total})
    session.run(x=rows(1, 1), scale=rows(1, 1))
    np.testing.assert_array_equal(session.run(x=rows(3, 1), scale=rows(1, 2))["y"], rows(1, 48))
    np.testing.assert_array_equal(total.cpu().numpy(), rows(1, 24))
    fork = session.fork()
    fork.run(x=rows(1, 1), scale=rows(1, 1))
    np.testing.assert_array_equal(fork.export_state("total"), rows(1, 25))
    np.testing.assert_array_equal(total.cpu().numpy(), rows(1, 24))


def test_host_tensors_are_refused_on_a_gpu(program, x):
    session = program.session()
    with pytest.raises(aicf.InvalidArgument, match="expected memory of device"):
        session.bind(inputs={"x": torch.from_numpy(x.copy())})
    with pytest.raises(aicf.InvalidArgument, match="got a numpy array"):
        session.bind(inputs={"x": x})
