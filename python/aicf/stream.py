"""Streams: the text of one request of a generator."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from aicf import _native
from aicf.closable import Closable
from aicf.exclusive import Exclusive, exclusive

__all__ = ["Generation", "TextPart", "TextStream"]


@dataclass(frozen=True)
class TextPart:
    """What is new of a request."""

    text: str
    """Continues the text so far: whole characters, no part of a stop text. Empty without a tokenizer."""
    tokens: list[int]
    """Drawn since the last part, the one that ends the text included."""
    finish: str | None
    """How it ended (see :attr:`TextStream.finish`); None: it goes on."""


@dataclass(frozen=True)
class Generation:
    """All of a request that has ended."""

    text: str
    """What continues the prompt, without special tokens, the token that ended it, and any part of a stop text."""
    tokens: list[int]
    """All that were drawn, those that ended it included."""
    finish: str
    """How it ended; see :attr:`TextStream.finish`."""
    prompt_tokens: int
    preemptions: int
    """How often it gave its pages of the cache to older requests, to be computed once more."""
    first_token_ms: float
    """From its begin to the first token; 0: there was none."""
    total_ms: float
    """From its begin to its end."""


class TextStream(Exclusive, Closable):
    """The text of one request, made by :meth:`aicf.Generator.generate`.

    Iterating gives the pieces of the text as they come. A wait can be interrupted (KeyboardInterrupt); nothing
    is lost then, and the next call goes on. One thread at a time reads a stream, a second one gets
    InvalidArgument ("busy"); :meth:`cancel` and :meth:`close` may be called by any thread.

    A stream that nobody refers to any more ends its request, as :meth:`close` does, and so does leaving
    a ``with`` block.
    """

    _what = "stream"

    def __init__(self, native: _native.NativeRequest, prompt: list[int]) -> None:
        super().__init__()
        self._native = native
        self._prompt = prompt
        self._pieces: list[str] = []
        self._tokens: list[int] = []
        self._finish: str | None = None

    def __repr__(self) -> str:
        return f"TextStream({len(self._tokens)} tokens, finish {self._finish!r})"

    # What has come so far.

    @property
    def prompt(self) -> list[int]:
        """The token ids of the prompt."""
        return list(self._prompt)

    @property
    def text(self) -> str:
        """All text that was read so far."""
        return "".join(self._pieces)

    @property
    def tokens(self) -> list[int]:
        """All tokens that were read so far."""
        return list(self._tokens)

    @property
    def finish(self) -> str | None:
        """How the text ended, as far as it was read: "length" (`max_tokens`), "context" (the model's context, or
        the whole cache, is full), "end-token" (the model ended it), "stop-token", "stop-text" or "cancelled";
        None while it goes on."""
        return self._finish

    # Reading.

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        while self._finish is None:
            part = self.read()
            if part.text:
                return part.text
        raise StopIteration

    @exclusive
    def read(self) -> TextPart:
        """Waits until there is something new, and gives that. After the end parts are empty, with the same
        `finish`. Raises InvalidArgument when the stream or the generator was closed before the end;
        DeviceError, ResourceError."""
        if self._finish is not None:
            return TextPart("", [], self._finish)
        return self._keep(*self._native.next())

    @exclusive
    def poll(self) -> TextPart:
        """What is new, maybe nothing, without waiting for a run. Somebody else has to make runs: threads that
        wait for other streams, or :meth:`aicf.Generator.step`. Raises as :meth:`read`."""
        if self._finish is not None:
            return TextPart("", [], self._finish)
        return self._keep(*self._native.take())

    @exclusive
    def result(self) -> Generation:
        """Waits until the request has ended, and gives all of it, what was read before included. Raises as
        :meth:`read`."""
        while self._finish is None:
            self.read()
        return Generation(*self._native.result)

    # Its end.

    def cancel(self) -> None:
        """Ends the request with the tokens that it has: what was not read yet comes, and then "cancelled". A
        request that has ended stays as it is. Raises InvalidArgument for a stream or a generator that is
        closed."""
        self._native.cancel()

    def close(self) -> None:
        """Ends the request and drops what was not read; a thread that waits for it gets InvalidArgument. May be
        called again; what was read stays, and so does the result of a request whose end was read."""
        self._native.release()

    def _keep(self, text: str, tokens: list[int], finish: str | None) -> TextPart:
        if text:
            self._pieces.append(text)
        self._tokens += tokens
        self._finish = finish
        return TextPart(text, tokens, finish)
