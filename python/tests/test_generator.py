"""Text of language models: one small model with random weights, and where it is there, one that tells stories."""

import gc
import os
import pathlib
import signal
import threading
import time

import aicf
import numpy as np
import pytest
from conftest import in_threads
from language_models import save_bert, save_llama

QUEUED = 3000  # requests that take seconds, one after the other


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    folder = save_llama(tmp_path_factory.mktemp("models") / "llama")
    return aicf.compile(folder, page=4, cache=160, prefill=[8, 16], decode=[1, 4])


@pytest.fixture(scope="module")
def single(tmp_path_factory):
    """Has pages for one request of 60 positions at a time."""
    folder = save_llama(tmp_path_factory.mktemp("models") / "llama")
    return aicf.compile(folder, page=4, cache=64, prefill=[8], decode=[1])


@pytest.fixture
def generator(program):
    with aicf.Generator(program, threads=1) as made:
        yield made


def queue(generator):
    """Requests that run before any other, in the order of their submission, for seconds."""
    return [generator.generate([1, 2, 3], ignore_end=True) for _ in range(QUEUED)]


# What it is.


def test_it_says_what_a_request_has_to_fit(generator):
    info = generator.info
    assert (info.architecture, info.vocabulary, info.context, info.page, info.pages) == ("llama", 32, 64, 4, 40)
    assert (info.slots, info.largest_prefill, info.largest_decode) == (4, 16, 4)
    assert info.end_tokens == (31,) and info.has_tokenizer and info.chat_template == "chatml"
    assert generator.device == "cpu" and repr(generator) == "Generator('llama', 'cpu')"
    assert generator.memory["state_bytes"] >= 2 * 160 * 8 * 4
    assert generator.unfinished == 0 and generator.free_pages == 40


def test_it_opens_a_program_a_path_and_bytes(program, tmp_path):
    program.save(tmp_path / "llama.aicf")
    texts = set()
    for source in (program, tmp_path / "llama.aicf", str(tmp_path / "llama.aicf"), program.data):
        with aicf.Generator(source, "cpu", threads=1) as generator:
            texts.add(generator.generate("abc", max_tokens=9).result().text)
    assert len(texts) == 1


def test_what_generates_no_text_is_refused(linear, tmp_path):
    for wrong in (linear, aicf.compile(save_bert(tmp_path / "bert"))):
        with pytest.raises(aicf.Unsupported):
            aicf.Generator(wrong)
    with pytest.raises(aicf.FileError):
        aicf.Generator(tmp_path / "absent.aicf")
    with pytest.raises(aicf.DeviceError):
        aicf.Generator(aicf.compile(save_llama(tmp_path / "llama")), "cuda:0")


# Text and tokens.


def test_text_becomes_ids_and_ids_text(generator):
    assert generator.encode("ab c.") == [0, 1, 26, 2, 27]
    assert generator.decode([0, 1, 26, 2, 27]) == "ab c."
    assert generator.decode(np.array([29, 0, 31])) == "a"
    assert generator.encode("<s>", parse_special=True) == [29]
    assert 29 not in generator.encode("<s>")
    with pytest.raises(aicf.InvalidArgument, match="32"):
        generator.decode([32])
    with pytest.raises(aicf.InvalidArgument, match="ids: expected 0 to 4294967295, got -1"):
        generator.decode([-1])
    with pytest.raises(TypeError):
        generator.decode([0.5])


def test_a_chat_has_the_models_form(generator):
    chat = [{"role": "user", "content": "hi <|im_end|>"}]
    ids = generator.encode_chat(chat)
    assert ids[0] == 30 and ids.count(31) == 1  # what the user spelled out stays text
    assert generator.decode(ids) == "user\nhi imend\nassistant\n"  # without what the vocabulary lacks
    assert generator.encode_chat("hi <|im_end|>") == ids
    assert generator.generate(chat, chat=True).prompt == ids
    assert generator.generate("hi <|im_end|>", chat=True).prompt == ids
    for wrong, sentence in (
        ([{"role": "teacher", "content": "hi"}], "teacher"),
        ([{"role": "user"}], "message 0: expected a dict with 'role' and 'content'"),
        ([1, 2], "message 0"),
        ([], "message"),
    ):
        with pytest.raises(aicf.InvalidArgument, match=sentence):
            generator.generate(wrong, chat=True)
    with pytest.raises(aicf.InvalidArgument, match="chat=True"):
        generator.generate(chat)


def test_without_a_tokenizer_there_are_ids(tmp_path):
    program = aicf.compile(save_llama(tmp_path / "llama", tokenizer=False), context=32)
    generator = aicf.Generator(program, threads=1)
    assert not generator.info.has_tokenizer
    stream = generator.generate([0, 1, 2], max_tokens=5, ignore_end=True)
    assert list(stream) == [] and len(stream.tokens) == 5 and stream.text == ""
    for call in (
        lambda: generator.encode("a"),
        lambda: generator.decode([1]),
        lambda: generator.encode_chat("a"),
        lambda: generator.generate("a"),
        lambda: generator.generate([1], stop="a"),
    ):
        with pytest.raises(aicf.Unsupported, match="tokenizer"):
            call()


# Generating.


def test_pieces_parts_and_the_result_are_the_same_text(generator):
    stream = generator.generate("abc", max_tokens=20, ignore_end=True)
    pieces = list(stream)
    assert len(pieces) > 5 and "".join(pieces) == stream.text
    result = stream.result()
    assert (result.text, result.tokens, result.finish) == (stream.text, stream.tokens, "length")
    assert (stream.finish, result.prompt_tokens, result.preemptions) == ("length", 3, 0)
    assert 0 < result.first_token_ms <= result.total_ms
    assert len(result.tokens) == 20 and generator.decode(result.tokens) == result.text
    assert stream.read() == aicf.TextPart("", [], "length") == stream.poll()
    other = generator.generate([0, 1, 2], max_tokens=20, ignore_end=True)
    parts = [other.read()]
    while parts[-1].finish is None:
        parts.append(other.read())
    assert "".join(p.text for p in parts) == result.text and sum((p.tokens for p in parts), []) == result.tokens
    assert generator.generate("abc", max_tokens=20, ignore_end=True).result().text == result.text
    assert generator.unfinished == 0 and generator.free_pages == 40


def test_options_of_drawing(generator):
    def drawn(**options):
        return generator.generate("abc", max_tokens=30, ignore_end=True, **options).result().tokens

    greedy = drawn()
    assert drawn(seed=5) == greedy
    assert drawn(temperature=1, seed=3) == drawn(temperature=1, seed=3) != drawn(temperature=1, seed=4)
    for one in ({"top_k": 1}, {"top_p": 1e-6}, {"min_p": 1}):
        assert drawn(temperature=1, seed=3, **one) == greedy


def test_what_ends_a_text(generator):
    whole = generator.generate("abc", max_tokens=30, ignore_end=True).result()
    at = next(i for i in range(3, 20) if whole.text.count(whole.text[i : i + 2]) == 1)
    stopped = generator.generate("abc", max_tokens=30, ignore_end=True, stop=["never", whole.text[at : at + 2]])
    assert stopped.result().text == whole.text[:at] and stopped.finish == "stop-text"
    by_one = generator.generate("abc", max_tokens=30, ignore_end=True, stop=whole.text[at : at + 2])
    assert by_one.result().text == whole.text[:at]
    token = whole.tokens[4]
    by_token = generator.generate("abc", ignore_end=True, stop_tokens=[token]).result()
    assert by_token.finish == "stop-token" and by_token.tokens[-1] == token
    assert by_token.tokens == whole.tokens[: whole.tokens.index(token) + 1]
    full = generator.generate("abc", ignore_end=True).result()
    assert full.finish == "context" and len(full.tokens) + 3 >= 64


@pytest.mark.parametrize(
    "prompt, options, sentence",
    [
        ([], {}, "the prompt is empty"),
        ([32], {}, "32"),
        ([1] * 65, {}, "65"),
        ([-1], {}, "prompt: expected 0 to"),
        ("a", {"max_tokens": 0}, "max_tokens: expected 1 to"),
        ("a", {"temperature": -1}, "temperature"),
        ("a", {"temperature": float("nan")}, "temperature"),
        ("a", {"top_k": -1}, "top_k: expected 0 to"),
        ("a", {"top_p": 2}, "top_p"),
        ("a", {"min_p": -1}, "min_p"),
        ("a", {"seed": 2**63}, "seed"),
        ("a", {"stop": ""}, "stop"),
        ("a", {"stop_tokens": [99]}, "99"),
    ],
)
def test_what_is_wrong_has_a_sentence(generator, prompt, options, sentence):
    with pytest.raises(aicf.InvalidArgument, match=sentence):
        generator.generate(prompt, **options)
    assert generator.unfinished == 0


# Several at once.


def prompts():
    random = np.random.default_rng(7)
    return [random.integers(0, 29, random.integers(1, 30)).tolist() for _ in range(12)]


def test_requests_take_turns_and_give_what_each_gives_alone(program):
    options = {"temperature": 1, "ignore_end": True, "max_tokens": 30}
    with aicf.Generator(program, threads=1, batch_invariant=True) as generator:
        alone = [generator.generate(p, seed=i, **options).result().tokens for i, p in enumerate(prompts())]
        streams = [generator.generate(p, seed=i, **options) for i, p in enumerate(prompts())]
        streams[5].read()
        assert len(streams[0].poll().tokens) > 0  # made progress with the other
        assert generator.unfinished > 6
        assert [s.result().tokens for s in streams] == alone
        assert any(s.result().preemptions > 0 for s in streams)

        found = [None] * 12

        def run(i):
            found[i] = generator.generate(prompts()[i], seed=i, **options).result().tokens

        in_threads([lambda i=i: run(i) for i in range(12)])
        assert found == alone


def test_steps_of_the_caller_and_polls(generator):
    streams = [generator.generate([i], max_tokens=5 + i, ignore_end=True) for i in range(3)]
    assert streams[0].poll() == aicf.TextPart("", [], None)
    steps = 0
    while generator.step() > 0:
        steps += 1
    assert 6 <= steps < 15
    assert generator.step() == 0
    assert [len(s.poll().tokens) for s in streams] == [5, 6, 7]
    assert [s.finish for s in streams] == ["length"] * 3


def test_one_thread_at_a_time_reads_a_stream(single):
    with aicf.Generator(single, threads=1) as generator:
        ahead = queue(generator)
        stream = generator.generate([1])
        failures = []

        def read():
            try:
                stream.read()
            except aicf.InvalidArgument as error:
                failures.append(str(error))

        threads = [threading.Thread(target=read) for _ in range(2)]
        for t in threads:
            t.start()
        while not failures:  # the other one waits, and this thread goes on
            time.sleep(0.001)
        assert failures == ["the stream is busy: another thread is inside it; use one stream per thread"]
        assert generator.unfinished > 1
        stream.cancel()
        for t in threads:
            t.join()
        assert stream.result().finish == "cancelled" and len(failures) == 1
        assert len(ahead) == QUEUED and generator.unfinished > 1


# Ends before the end.


def test_a_cancelled_request_keeps_what_it_has(generator):
    stream = generator.generate("abc", ignore_end=True)
    first = stream.read()
    stream.cancel()
    result = stream.result()
    assert result.finish == stream.finish == "cancelled" and result.tokens[: len(first.tokens)] == first.tokens
    stream.cancel()
    assert generator.free_pages == 40
    ended = generator.generate("abc", max_tokens=1, ignore_end=True)
    assert ended.result().finish == "length"
    ended.cancel()
    assert ended.finish == "length"


def test_a_closed_stream_ends_its_request(generator):
    with generator.generate("abc", ignore_end=True) as stream:
        piece = next(stream)
    assert generator.unfinished == 0 and generator.free_pages == 40
    for call in (stream.read, stream.poll, stream.result, stream.cancel, lambda: next(stream)):
        with pytest.raises(aicf.InvalidArgument, match="the stream is closed"):
            call()
    assert stream.text == piece and stream.finish is None
    stream.close()
    with generator.generate("abc", max_tokens=2, ignore_end=True) as stream:
        text = "".join(stream)
    assert stream.result().text == text  # it had ended before


def test_a_stream_that_is_dropped_ends_its_request(generator):
    for _piece in generator.generate("abc", ignore_end=True):
        break
    gc.collect()
    assert generator.unfinished == 0 and generator.free_pages == 40


def test_a_stream_outlives_the_generators_name(program):
    stream = aicf.Generator(program, threads=1).generate("abc", max_tokens=7, ignore_end=True)
    gc.collect()
    assert len(stream.result().tokens) == 7


def test_a_closed_generator_says_so(program):
    with aicf.Generator(program, threads=1) as generator:
        stream = generator.generate("abc", ignore_end=True)
        stream.read()
        ended = generator.generate("abc", max_tokens=3, ignore_end=True)
        ended.result()
    generator.close()
    assert repr(generator) == "Generator(closed)"
    assert len(ended.result().tokens) == 3
    for call in (
        lambda: generator.info,
        lambda: generator.device,
        lambda: generator.memory,
        lambda: generator.unfinished,
        lambda: generator.free_pages,
        lambda: generator.encode("a"),
        lambda: generator.decode([1]),
        lambda: generator.generate([1]),
        generator.step,
        stream.read,
        stream.poll,
        stream.cancel,
    ):
        with pytest.raises(aicf.InvalidArgument, match="the generator is closed"):
            call()
    stream.close()


def test_closing_ends_the_waits_of_other_threads(single):
    generator = aicf.Generator(single, threads=1)
    ahead = queue(generator)
    streams = [generator.generate([i]) for i in range(3)]
    failures = []

    def read(stream):
        try:
            stream.result()
        except aicf.InvalidArgument as error:
            failures.append(str(error))

    threads = [threading.Thread(target=read, args=[s]) for s in streams]
    for t in threads:
        t.start()
    while ahead[0].poll().finish is None:
        time.sleep(0.001)
    begin = time.monotonic()
    streams[0].close()
    threads[0].join()
    generator.close()
    for t in threads:
        t.join()
    assert time.monotonic() - begin < 1
    assert failures == ["the stream is closed"] + ["the generator is closed"] * 2


def test_an_interrupt_ends_a_wait_and_loses_nothing(single):
    with aicf.Generator(single, threads=1) as generator:
        ahead = queue(generator)
        stream = generator.generate([1, 2], max_tokens=5, ignore_end=True)
        for wait in (stream.read, stream.result, generator_loop(generator)):
            timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
            timer.start()
            begin = time.monotonic()
            with pytest.raises(KeyboardInterrupt):
                wait()
            assert time.monotonic() - begin < 1
            timer.join()
        assert stream.finish is None and generator.unfinished > 1
        del ahead
        assert len(stream.result().tokens) == 5


def generator_loop(generator):
    def steps():
        while generator.step() > 0:
            pass

    return steps


def test_an_interrupt_ends_a_wait_for_another_threads_run(single):
    with aicf.Generator(single, threads=1) as generator:
        ahead = queue(generator)
        busy = threading.Thread(target=lambda: ahead[-1].result())
        busy.start()
        stream = generator.generate([1, 2], max_tokens=5, ignore_end=True)
        timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            stream.read()
        timer.join()
        assert busy.is_alive()
        for waiting in ahead:
            waiting.cancel()
        busy.join()
        assert len(stream.result().tokens) == 5


# A model that makes sense.


def test_a_story():
    model = pathlib.Path(os.environ.get("AICF_TEST_MODELS", ".")) / "llm/stories260K/stories260K.F32.gguf"
    if not model.exists():
        pytest.skip("AICF_TEST_MODELS names no folder with llm/stories260K")
    program = aicf.compile(model, context=128, prefill=[32], decode=[1, 4])
    with aicf.Generator(program, threads=1) as generator:
        stream = generator.generate("Once upon a time", max_tokens=40)
        assert "".join(stream).startswith(", there was a little girl named Lily.")
        assert stream.prompt == [1, 403, 407, 261, 378] and stream.tokens[:3] == [432, 383, 286]
        assert generator.decode(stream.prompt) == "Once upon a time"
        stopped = generator.generate("Once upon a time", stop=["little girl", "never"]).result()
        assert (stopped.text, stopped.finish) == (", there was a ", "stop-text")
