"""Vectors of texts, of a small model with random weights."""

import aicf
import numpy as np
import pytest
from conftest import in_threads
from language_models import save_bert, save_llama


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    return aicf.compile(save_bert(tmp_path_factory.mktemp("models") / "bert"), prefill=[4, 16])


@pytest.fixture
def embedder(program):
    with aicf.Embedder(program, threads=1) as made:
        yield made


def test_it_says_what_a_text_has_to_fit(embedder):
    info = embedder.info
    assert (info.architecture, info.vocabulary, info.context, info.size) == ("bert", 10, 16, 8)
    assert info.has_tokenizer and embedder.device == "cpu" and embedder.memory["weights_bytes"] > 0
    assert repr(embedder) == "Embedder('bert', 'cpu')"


def test_a_text_becomes_a_vector(embedder):
    ids = embedder.encode("The sky is blue")
    assert ids == [1, 5, 6, 7, 8, 2]
    vector = embedder.embed("The sky is blue")
    assert vector.dtype == np.float32 and vector.shape == (8,)
    np.testing.assert_allclose(vector @ vector, 1, rtol=1e-5)
    np.testing.assert_array_equal(vector, embedder.embed(ids))
    np.testing.assert_array_equal(vector, embedder.embed(np.array(ids)))
    assert abs(vector - embedder.embed("The sea")).max() > 1e-3
    vector[0] = 7  # the caller's own
    assert embedder.embed(ids)[0] != 7


def test_threads_share_it(embedder):
    texts = ["the sky", "the sea is blue", "a", "blue blue blue"]
    expected = [embedder.embed(t) for t in texts]
    equal = []
    in_threads([lambda t=t, e=e: equal.append((embedder.embed(t) == e).all()) for t, e in zip(texts, expected)] * 5)
    assert len(equal) == 20 and all(equal)


def test_what_is_wrong_has_a_sentence(embedder, linear, tmp_path):
    for wrong, sentence in (([], "0 tokens"), ([1] * 17, "17 tokens"), ([10], "10"), ([-1], "text: expected 0 to")):
        with pytest.raises(aicf.InvalidArgument, match=sentence):
            embedder.embed(wrong)
    for program in (linear, aicf.compile(save_llama(tmp_path / "llama"))):
        with pytest.raises(aicf.Unsupported):
            aicf.Embedder(program)


def test_a_closed_one_says_so(program, tmp_path):
    program.save(tmp_path / "bert.aicf")
    with aicf.Embedder(tmp_path / "bert.aicf") as embedder:
        embedder.embed([1])
    embedder.close()
    assert repr(embedder) == "Embedder(closed)"
    for call in (
        lambda: embedder.info,
        lambda: embedder.device,
        lambda: embedder.memory,
        lambda: embedder.encode("a"),
        lambda: embedder.embed([1]),
    ):
        with pytest.raises(aicf.InvalidArgument, match="the embedder is closed"):
            call()
