"""Generators: text of language models."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from aicf import _native
from aicf.closable import Closable
from aicf.errors import InvalidArgument
from aicf.language import Source, program_of, token_ids, whole_number
from aicf.stream import TextStream

__all__ = ["Generator", "LanguageInfo"]

Message = Mapping[str, str]
Prompt = str | Sequence[int] | Sequence[Message]


@dataclass(frozen=True)
class LanguageInfo:
    """What a request has to fit, and what there is."""

    architecture: str
    vocabulary: int
    """Token ids are below it."""
    context: int
    """Most positions of a request, prompt and answer together; limited by the cache as well."""
    trained_context: int
    page: int
    """Positions in a page of the cache."""
    pages: int
    """Pages of the cache, which all requests share."""
    slots: int
    """Most requests at work at once; others wait for their turn."""
    largest_prefill: int
    """Tokens of a prompt that one run takes."""
    largest_decode: int
    """Requests that one run decodes."""
    end_tokens: tuple[int, ...]
    """Tokens with which the model ends a text."""
    has_tokenizer: bool
    """Without one, prompts are token ids, and so is what is generated."""
    chat_template: str
    """Its family; empty: none is known."""


class Generator(Closable):
    """Generates text with a compiled language model.

    >>> generator = aicf.Generator("smollm2.aicf")
    >>> for piece in generator.generate("Why is the sky blue?", chat=True, max_tokens=100):
    ...     print(piece, end="", flush=True)

    Any number of requests may be in progress: each call of :meth:`generate` begins one, and every run of the
    model computes the next token of as many of them as it has room for. Runs are made by the threads that wait
    for text, one at a time, and serve all requests; the interpreter's lock is released meanwhile.

    Which tokens are drawn depends on the prompt, the options and the seed. But the model's numbers may differ in
    their last bits when other requests run at the same time, so that a close call between two tokens falls the
    other way, unless `batch_invariant` is set.

    Every method may be called from any thread.
    """

    def __init__(
        self,
        source: Source,
        device: str = "",
        *,
        threads: int = 0,
        batch_invariant: bool = False,
        prefills_in_a_row: int = 4,
    ) -> None:
        """Makes a session of the program with its cache and its tokenizer.

        source: a program, or an artifact's path or bytes, which :func:`aicf.load` then reads.
        device: "" is the program's own target (cuda:0 for CUDA); "cpu"; "cuda:N".
        threads: CPU threads; 0 is one per core available.
        batch_invariant: results depend on the request alone, bit for bit. Costs time, because every decode
            then runs in the largest entry point.
        prefills_in_a_row: limit of consecutive runs for prompts while other requests wait for their next token.

        Raises Unsupported for a program that generates no text; what :func:`aicf.load` and
        :meth:`aicf.Program.session` raise.
        """
        program = program_of(source)
        self._native = _native.create_generator(
            program._native,
            device=device,
            threads=threads,
            batch_invariant=batch_invariant,
            prefills_in_a_row=prefills_in_a_row,
        )

    def __repr__(self) -> str:
        try:
            return f"Generator({self.info.architecture!r}, {self.device!r})"
        except InvalidArgument:
            return "Generator(closed)"

    # What it is.

    @property
    def info(self) -> LanguageInfo:
        """What a request has to fit, and what there is."""
        return LanguageInfo(**self._native.info)

    @property
    def device(self) -> str:
        """The device's name: "NVIDIA H200", or "cpu"."""
        return self._native.device_name

    @property
    def memory(self) -> dict[str, int]:
        """Bytes, as :attr:`aicf.Session.memory`; the cache is part of state_bytes."""
        return self._native.memory

    @property
    def unfinished(self) -> int:
        """Requests that have not ended."""
        return self._native.unfinished

    @property
    def free_pages(self) -> int:
        """Pages of the cache that no request has."""
        return self._native.free_pages

    # Text and tokens.

    def encode(self, text: str, *, parse_special: bool = False, add_special: bool = True) -> list[int]:
        """The token ids of a text.

        parse_special: special tokens that are spelled out become those tokens; leave it off for text that
            others wrote.
        add_special: the tokens for begin and end go around the text where the model wants them.

        Raises Unsupported without a tokenizer.
        """
        return self._native.encode(text, parse_special=parse_special, add_special=add_special)

    def encode_chat(self, messages: str | Iterable[Message]) -> list[int]:
        """The token ids of a chat in the form that the model was trained on, up to the point where the model is
        to answer.

        messages: ``{"role": "user", "content": "..."}`` and so on, with the roles "system", "user" and
            "assistant"; or a text, which is a single message of the user. Special tokens that a message spells
            out stay ordinary text.

        Raises Unsupported without a tokenizer, or where the model has no chat template of a known family;
        InvalidArgument for no message, an unknown role, or a system message where the template takes none.
        """
        if isinstance(messages, str):
            messages = [{"role": "user", "content": messages}]
        return self._native.encode_chat([_message(i, m) for i, m in enumerate(messages)])

    def decode(self, ids: Iterable[int]) -> str:
        """The text of token ids; special tokens leave nothing in it. Ids one by one need not give whole
        characters: the pieces of a :class:`aicf.TextStream` do. Raises Unsupported without a tokenizer,
        InvalidArgument for an id outside the vocabulary."""
        return self._native.decode(token_ids("ids", ids))

    # Generating.

    def generate(
        self,
        prompt: Prompt,
        *,
        chat: bool = False,
        max_tokens: int | None = None,
        temperature: float = 0,
        top_k: int = 0,
        top_p: float = 1,
        min_p: float = 0,
        seed: int = 0,
        stop: str | Iterable[str] = (),
        stop_tokens: Iterable[int] = (),
        ignore_end: bool = False,
    ) -> TextStream:
        """Begins a request, and gives the stream of its text: iterate over it for the pieces as they come, or
        take all of it with :meth:`aicf.TextStream.result`.

        The request goes on whenever any thread waits for text of this generator. It ends early when the stream
        is closed or no longer referred to.

        prompt: a text, which :meth:`encode` turns into ids; token ids; or with `chat` the messages of
            :meth:`encode_chat`.
        max_tokens: most tokens of the answer; None is as many as the context has room for.
        temperature: 0 is always the most probable token, whatever `top_k`, `top_p`, `min_p` and `seed` say.
        top_k: draws among this many most probable tokens; 0 is all.
        top_p: draws among the most probable tokens that add up to this probability.
        min_p: draws among the tokens with at least this part of the highest probability.
        seed: equal seeds give equal draws.
        stop: texts that end the answer, which has no part of them. Needs a tokenizer.
        stop_tokens: further tokens that end it.
        ignore_end: the model's own end tokens do not end it.

        Raises InvalidArgument for an empty prompt, one that is longer than the context, an id outside the
        vocabulary, or a number out of its range; Unsupported for a text without a tokenizer, and as
        :meth:`encode_chat`; ResourceError.
        """
        ids = self._prompt_ids(prompt, chat)
        most = 0 if max_tokens is None else whole_number("max_tokens", max_tokens, 1, 2**63 - 1)
        native = self._native.submit(
            prompt=ids,
            max_new_tokens=most,
            temperature=float(temperature),
            top_k=whole_number("top_k", top_k, 0, 2**31 - 1),
            top_p=float(top_p),
            min_p=float(min_p),
            seed=whole_number("seed", seed, -(2**63), 2**63 - 1),
            ignore_end=ignore_end,
            stop_tokens=token_ids("stop_tokens", stop_tokens),
            stop_texts=[stop] if isinstance(stop, str) else list(stop),
        )
        return TextStream(native, ids)

    def step(self) -> int:
        """Makes one run for the requests whose turn it is, and returns how many have not ended after it; does
        nothing where all have. For loops of the caller, with :meth:`aicf.TextStream.poll`: who waits for a
        stream needs no steps. Raises DeviceError; the requests are then as they were before."""
        return self._native.step()

    # Its end.

    def close(self) -> None:
        """Frees the memory, once the run that goes on is over. From then on every method raises
        InvalidArgument, and so does reading a stream that has not ended, in threads that wait for it as well.
        May be called again."""
        self._native.close()

    def _prompt_ids(self, prompt: Prompt, chat: bool) -> list[int]:
        if chat:
            return self.encode_chat(prompt)  # type: ignore[arg-type]  # ids are refused there
        if isinstance(prompt, str):
            return self.encode(prompt)
        if any(isinstance(item, Mapping) for item in prompt):
            raise InvalidArgument("the prompt has messages: they need chat=True")
        return token_ids("prompt", prompt)


def _message(number: int, message: Message) -> tuple[str, str]:
    if not isinstance(message, Mapping) or not message.keys() == {"role", "content"}:
        raise InvalidArgument(f"message {number}: expected a dict with 'role' and 'content', got {message!r:.200}")
    return message["role"], message["content"]
