"""Compiling language models."""

import os
import pathlib

import aicf
import pytest
from language_models import save_bert, save_llama


@pytest.fixture(scope="module")
def llama(tmp_path_factory):
    return save_llama(tmp_path_factory.mktemp("models") / "llama")


def shapes_of(program):
    return {e.name: next(m for m in e.metas if m.name == "pages").shape for e in program.entries}


def test_a_folder_is_compiled_with_the_usual_entry_points(llama):
    program = aicf.compile(llama)
    assert [e.name for e in program.entries] == ["prefill_8", "prefill_16", "prefill_32", "prefill_64", "decode_1",
                                                 "decode_2", "decode_4", "decode_8"]
    assert all(o.name == "token" for e in program.entries for o in e.outputs)


def test_context_cache_and_entry_points_are_options(llama):
    program = aicf.compile(llama, context=32, page=4, cache=40, prefill=(8, 16), decode=[1, 3], cache_precision="fp16",
                           logits=True)
    assert shapes_of(program) == {"prefill_8": (1, 8), "prefill_16": (1, 8), "decode_1": (1, 8), "decode_3": (3, 8)}
    keys = next(s for s in program.states if s.name.startswith("keys"))
    assert (keys.dtype, keys.shape) == ("f16", (10, 4, 1, 8))
    assert {o.name for o in program.entries[0].outputs} == {"token", "logits"}


@pytest.mark.parametrize(
    "options, sentence",
    [
        ({"context": 0}, "context: expected 1 to 2147483648, got 0"),
        ({"prefill": [8, -1]}, "prefill: expected 1 to"),
        ({"decode": []}, "decode: expected at least one size"),
        ({"cache_precision": "f8"}, "cache_precision"),
    ],
)
def test_what_no_size_can_be_is_refused(llama, options, sentence):
    with pytest.raises(aicf.InvalidArgument, match=sentence):
        aicf.compile(llama, **options)


def test_they_are_for_language_models_and_fixed_in_a_program(llama, linear_model):
    with pytest.raises(aicf.Unsupported, match="floats of 16 or 32 bits"):
        aicf.compile(llama, cache_precision="int8")
    with pytest.raises(aicf.InvalidArgument, match="are for language models"):
        aicf.compile(linear_model, context=32)
    program = aicf.compile(llama, context=32)
    with pytest.raises(aicf.InvalidArgument, match="about the model"):
        aicf.compile(program, decode=[1])
    assert shapes_of(aicf.compile(program)) == shapes_of(program)


def test_math_that_is_given_holds_for_quantised_weights():
    folder = os.environ.get("AICF_TEST_MODELS")
    model = pathlib.Path(folder or ".") / "llm/stories260K/stories260K.Q4_0.gguf"
    if not model.exists():
        pytest.skip("AICF_TEST_MODELS names no folder with llm/stories260K")
    options = {"context": 32, "prefill": [8], "decode": [1], "target": "cpu:baseline"}
    usual, exact, rounded = (aicf.compile(model, **options, **more) for more in ({}, {"math": "fp32"}, {"math": "int8"}))
    assert usual.provenance["math"] == "int8" and usual.data == rounded.data
    assert exact.provenance["math"] == "fp32"


def test_an_embedding_model(tmp_path):
    program = aicf.compile(save_bert(tmp_path / "bert"), prefill=[4, 16])
    assert [e.name for e in program.entries] == ["embed_4", "embed_16"]
