import errno
import fcntl
import json
import logging
import os
import re
import threading

import aicf
import numpy as np
import pytest
from conftest import in_threads, linear_expected, make_model, weights
from onnx import TensorProto, helper


def test_a_file_and_its_bytes_give_the_same_artifact(linear_model, linear, tmp_path):
    file = tmp_path / "linear.onnx"
    file.write_bytes(linear_model)
    assert aicf.compile(file).data == linear.data
    assert aicf.compile(str(file)).data == linear.data


def test_a_program_describes_itself(linear):
    assert linear.target.startswith("cpu:")
    assert [e.name for e in linear.entries] == ["main"]
    (x,) = linear.inputs
    assert (x.name, x.dtype, x.shape, x.nbytes) == ("x", "f32", (2, 3), 24)
    assert x.dynamic_axis is None and x.min_shape == x.shape
    assert linear.outputs[0].shape == (2, 4)
    assert linear.metadata == {"character": "ab"}
    assert linear.weights_bytes >= weights().nbytes
    assert "x" in repr(x) and "cpu" in repr(linear)


def test_decisions_are_data(linear):
    kinds = {d["kind"] for d in linear.decisions}
    assert "kernel" in kinds
    kernel = next(d for d in linear.decisions if d["kind"] == "kernel")
    assert {"subject", "choice", "reason", "alternatives"} <= kernel.keys()
    described = linear.describe()
    assert len(described["decisions"]) == len(linear.decisions)
    assert described["steps"]
    assert linear.provenance


def test_an_edited_decision_is_honoured(linear, linear_model, x):
    decisions = linear.decisions
    kernel = next(d for d in decisions if d["kind"] == "kernel" and d["alternatives"])
    legal = next(a for a in kernel["alternatives"] if not a.get("refusal"))
    kernel["choice"] = legal["choice"]
    edited = aicf.compile(linear_model, decisions=decisions)
    chosen = [d["choice"] for d in edited.decisions if d["kind"] == "kernel"]
    assert legal["choice"] in chosen
    np.testing.assert_allclose(edited.session().run(x)["y"], linear_expected(x), rtol=1e-6)


def test_warnings_reach_the_logger(linear_model, caplog):
    with caplog.at_level(logging.DEBUG, logger="aicf"):
        aicf.compile(linear_model)
    assert caplog.records == []
    aicf.compile(linear_model, math="tf32")
    (record,) = caplog.records
    assert (record.name, record.levelno) == ("aicf", logging.WARNING)
    assert "forms no products in tf32" in record.getMessage()


def test_warnings_come_before_the_error(linear_model, caplog):
    with pytest.raises(aicf.AicfError, match="no_such_kernel"):
        aicf.compile(linear_model, math="tf32", edits=["step.0.kernel=no_such_kernel"])
    assert any("forms no products in tf32" in r.getMessage() for r in caplog.records)


def test_warnings_of_threads_come_once_each(linear_model, caplog):
    in_threads([lambda: aicf.compile(linear_model, math="tf32")] * 4)
    assert len(caplog.records) == 4


def test_few_and_many_rows_share_weights():
    # With one row alone a product is predicted to be faster with its weights along the sum.
    w = helper.make_tensor("w", TensorProto.FLOAT, [1024, 512], np.linspace(-1, 1, 1024 * 512, dtype=np.float32))
    model = make_model(
        [helper.make_node("MatMul", ["x", "w"], ["y"], name="product")],
        [("x", TensorProto.FLOAT, ["rows", 1024])],
        [("y", TensorProto.FLOAT, ["rows", 512])],
        [w],
    )

    def compiled(**options):
        program = aicf.compile(model, target="cuda", precision="fp16", images=False, **options)
        turned = any(d["kind"] == "layout" and d["choice"] == "k innermost" for d in program.decisions)
        return program.weights_bytes, turned

    assert compiled(shapes={"x": (1, 1024)}) == (1024 * 512 * 2, True)
    buckets = {"one": {"x": (1, 1024)}, "many": {"x": (512, 1024)}}
    assert compiled(buckets=buckets) == (1024 * 512 * 2, False)
    model = make_model(
        [
            helper.make_node("MatMul", ["x", "w"], ["y"], name="few"),
            helper.make_node("MatMul", ["z", "w"], ["v"], name="many"),
        ],
        [("x", TensorProto.FLOAT, [1, 1024]), ("z", TensorProto.FLOAT, [512, 1024])],
        [("y", TensorProto.FLOAT, [1, 512]), ("v", TensorProto.FLOAT, [512, 512])],
        [w],
    )
    assert compiled() == (1024 * 512 * 2, False)


def test_an_impossible_edit_is_an_error(linear_model):
    with pytest.raises(aicf.AicfError, match="no_such_kernel"):
        aicf.compile(linear_model, edits=["step.0.kernel=no_such_kernel"])


def test_a_policy_names_kernels_of_the_target(linear_model):
    with pytest.raises(aicf.InvalidArgument, match="did you mean cpu.gemm.packed_baseline"):
        aicf.compile(linear_model, policy="gemm=packd_baseline")
    with pytest.raises(aicf.InvalidArgument, match="is a kernel for GPUs, and the target is cpu"):
        aicf.compile(linear_model, policy=["gemm=cuda.gemm.tiled"])
    aicf.compile(linear_model, policy="gemm=ref")


def test_a_program_is_compiled_again_for_another_target(linear, x):
    baseline = aicf.compile(linear, target="cpu:baseline")
    assert baseline.target == "cpu:baseline"
    np.testing.assert_allclose(baseline.session().run(x)["y"], linear_expected(x), rtol=1e-6)
    with pytest.raises(aicf.InvalidArgument, match="shapes"):
        aicf.compile(linear, shapes={"x": (4, 3)})


def test_a_cuda_plan_runs_on_the_reference(linear_model, x):
    program = aicf.compile(linear_model, target="cuda:sm_90a", images=False)
    assert program.target == "cuda:sm_90a"
    session = program.session("cpu")
    assert not session.on_cuda
    np.testing.assert_allclose(session.run(x)["y"], linear_expected(x), rtol=1e-6)


def operands(program):
    return [d["choice"] for d in program.decisions if d["kind"] == "operands"]


def test_samples_make_an_int8_program(linear_model, x):
    random = np.random.default_rng(1)
    samples = [random.uniform(-2, 3, (2, 3)).astype(np.float32) for _ in range(3)]
    program = aicf.compile(linear_model, precision="int8", calibrate=samples)
    assert operands(program) == ["i8"]
    session = program.session()
    y = np.stack([session.run(sample)["y"] for sample in samples])
    expected = linear_expected(np.stack(samples))
    assert not np.array_equal(y, expected)
    np.testing.assert_allclose(y, expected, atol=0.05)
    # By name, several samples in one array, and from an iterator.
    again = aicf.compile(linear_model, precision="int8", calibrate=iter([{"x": np.concatenate(samples)}]))
    assert again.data == program.data
    # What samples said stays with the program; a budget of no error gives the product back.
    assert aicf.compile(program).data == program.data
    wide = aicf.compile(linear_model, precision="int8", calibrate=samples, calibrate_method="entropy", max_error=0)
    assert operands(wide) == ["f32"]
    np.testing.assert_allclose(wide.session().run(x)["y"], linear_expected(x), rtol=1e-6)


def test_samples_that_do_not_fit_are_errors(linear_model, x):
    def refused(match, **options):
        with pytest.raises(aicf.InvalidArgument, match=match):
            aicf.compile(linear_model, **options)

    refused("needs samples", precision="int8")
    refused("needs precision", calibrate=[x])
    refused("need calibrate", precision="int8", max_error=0.1)
    refused("expected minmax", precision="int8", calibrate=[x], calibrate_method="mean")
    refused("from 0 on", precision="int8", calibrate=[x], max_error=float("nan"))
    refused("several samples", precision="int8", calibrate=x)
    refused(r"calibrate\[1\].*numpy arrays", precision="int8", calibrate=[x, {"x": [1, 2]}])
    refused(r"calibrate\[0\].*no input 'z'", precision="int8", calibrate=[{"x": x, "z": x}])
    refused("expected f32 2x3, found f64 2x3", precision="int8", calibrate=[x.astype(np.float64)])


def test_bound_inputs_are_no_inputs(x):
    model = make_model(
        [helper.make_node("Reshape", ["x", "shape"], ["y"])],
        [("x", TensorProto.FLOAT, [2, 3]), ("shape", TensorProto.INT64, [1])],
        [("y", TensorProto.FLOAT, [6])],
    )
    program = aicf.compile(model, bind={"shape": np.array([6], np.int64)})
    assert [t.name for t in program.inputs] == ["x"]
    np.testing.assert_array_equal(program.session().run(x)["y"], x.reshape(6))
    with pytest.raises(aicf.InvalidArgument, match="numpy array"):
        aicf.compile(model, bind={"shape": [6]})


def test_refusals_are_exceptions_with_the_sentence(linear_model, tmp_path):
    with pytest.raises(aicf.BadModel) as bad:
        aicf.compile(b"no model")
    assert "(bytes)" in str(bad.value) and "/proc" not in str(bad.value)
    with pytest.raises(aicf.FileError):
        aicf.compile(tmp_path / "absent.onnx")
    with pytest.raises(OSError):
        aicf.compile(tmp_path / "absent.onnx")
    with pytest.raises(aicf.InvalidArgument, match='"nowhere"'):
        aicf.compile(linear_model, shapes={"nowhere": (1,)})
    with pytest.raises(aicf.InvalidArgument, match="expected fp32, tf32, fp16, bf16, fp8 or int8, got 'int4'"):
        aicf.compile(linear_model, math="int4")
    unsupported = make_model(
        [helper.make_node("RandomNormalLike", ["x"], ["y"])],
        [("x", TensorProto.FLOAT, [2])],
        [("y", TensorProto.FLOAT, [2])],
    )
    with pytest.raises(aicf.Unsupported) as refusal:
        aicf.compile(unsupported)
    assert refusal.value.code == "unsupported"
    with pytest.raises(aicf.Unsupported):
        aicf.compile(linear_model, target="toaster")


def test_saving_and_loading(linear, tmp_path, x):
    file = tmp_path / "linear.aicf"
    linear.save(file)
    assert file.read_bytes() == linear.data
    for program in (aicf.load(file), aicf.load(str(file)), aicf.load(linear.data)):
        np.testing.assert_array_equal(program.session().run(x)["y"], linear.session().run(x)["y"])
        assert program.decisions == linear.decisions
        assert program.data == linear.data
    assert list(tmp_path.iterdir()) == [file]
    damaged = bytearray(linear.data)
    damaged[len(damaged) // 2] ^= 1
    with pytest.raises(aicf.BadArtifact):
        aicf.load(bytes(damaged))


def test_errors_of_files_name_the_callers_path(linear, tmp_path):
    for number, path, work in [
        (errno.ENOENT, tmp_path / "absent" / "x.aicf", linear.save),
        (errno.ENOENT, tmp_path / "absent" / "x.html", linear.report),
        (errno.ENOENT, tmp_path / "absent.aicf", aicf.load),
        (errno.EISDIR, tmp_path, linear.save),
        (None, tmp_path, aicf.load),  # a refusal of the library's own
    ]:
        with pytest.raises(aicf.FileError) as refusal:
            work(path)
        assert isinstance(refusal.value, OSError) and refusal.value.code == "io"
        assert (refusal.value.errno, refusal.value.filename) == (number, str(path))
        sentence = str(refusal.value)
        assert f'"{path}"' in sentence and ".tmp" not in sentence and ".aicf-tmp" not in sentence
        if number is not None:
            assert sentence.endswith(f": {os.strerror(number)}")
    assert not list(tmp_path.iterdir()) and not list(tmp_path.parent.glob(".*.aicf-tmp"))


def test_threads_save_to_one_path(linear, tmp_path, monkeypatch):
    """Both are in the middle of writing at once; each has a temporary of its own, named and locked so that the
    tools keep it, and would remove it if this process were killed."""
    file = tmp_path / "linear.aicf"
    both = threading.Barrier(2, timeout=60)
    found, errors = [], []

    def look(descriptor):
        both.wait()
        for temporary in tmp_path.iterdir():
            with temporary.open("rb") as other:
                try:
                    fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    found.append((temporary.name, temporary.read_bytes() == linear.data))
        both.wait()

    def save():
        try:
            linear.save(file)
        except Exception as error:
            errors.append(error)

    monkeypatch.setattr(os, "fsync", look)
    in_threads([save, save])
    assert not errors
    names = {name for name, whole in found if whole}
    assert len(names) == 2 and len(found) == 4
    assert all(re.fullmatch(r"\.linear\.aicf\.\d+-\d+\.aicf-tmp", name) for name in names)
    assert list(tmp_path.iterdir()) == [file] and file.read_bytes() == linear.data


def test_saved_files_have_the_usual_mode_and_any_name(linear, tmp_path):
    usual = tmp_path / "usual"
    usual.touch()
    for name in ("x.aicf", "a" + "ä" * 127):  # the longest name that there is, cut inside a character
        linear.save(tmp_path / name)
        assert (tmp_path / name).stat().st_mode == usual.stat().st_mode
        assert (tmp_path / name).read_bytes() == linear.data


def test_a_file_that_changed_is_found_out(linear, tmp_path):
    file = tmp_path / "linear.aicf"
    linear.save(file)
    loaded = aicf.load(file)
    aicf.compile(linear, target="cpu:baseline").save(file)
    with pytest.raises(aicf.BadArtifact, match="another one"):
        _ = loaded.decisions


# The first two keys of RFC 8032.
PRIVATE = """-----BEGIN PRIVATE KEY-----
MC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g
-----END PRIVATE KEY-----
"""
PUBLIC = """-----BEGIN PUBLIC KEY-----
MCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=
-----END PUBLIC KEY-----
"""
OTHER = PUBLIC.replace("11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=", "PUAXw+hDiVqStwqnTRt+vJyYLM8uxJaMwM1V8Sr0Zgw=")


def test_a_required_signature(linear, x, tmp_path):
    file = tmp_path / "signed.aicf"
    linear.signed(PRIVATE).save(file)
    for program in (aicf.load(file, require_signature=OTHER + PUBLIC), aicf.load(file),
                    aicf.load(file.read_bytes(), require_signature=PUBLIC)):
        np.testing.assert_array_equal(program.session().run(x)["y"], linear.session().run(x)["y"])
        assert program.decisions == linear.decisions
    with pytest.raises(aicf.BadArtifact, match="not trusted"):
        aicf.load(file, require_signature=OTHER)
    with pytest.raises(aicf.BadArtifact, match="not signed"):
        aicf.load(linear.data, require_signature=PUBLIC)
    with pytest.raises(aicf.InvalidArgument, match="PUBLIC KEY"):
        aicf.load(file, require_signature="")
    with pytest.raises(aicf.InvalidArgument, match="PRIVATE KEY"):
        linear.signed(PUBLIC)


def test_stripped_artifacts_have_no_decisions(linear_model):
    assert aicf.compile(linear_model, strip=True).decisions == []


def test_the_report_is_one_page(linear, tmp_path):
    file = tmp_path / "report.html"
    page = linear.report(file, title="linear & co")
    assert file.read_text() == page
    assert page.startswith("<!doctype html>") or page.lower().startswith("<!doctype html>")
    assert "linear \\u0026 co" in page and "product" in page


def test_decisions_survive_json(linear):
    assert json.loads(json.dumps(linear.decisions)) == linear.decisions
