"""Embedders: vectors of texts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from aicf import _native
from aicf.closable import Closable
from aicf.errors import InvalidArgument
from aicf.language import Source, program_of, token_ids

__all__ = ["Embedder", "EmbedderInfo"]


@dataclass(frozen=True)
class EmbedderInfo:
    """What a text has to fit, and what it becomes."""

    architecture: str
    vocabulary: int
    """Token ids are below it."""
    context: int
    """Most tokens of a text."""
    size: int
    """Elements of a vector."""
    has_tokenizer: bool


class Embedder(Closable):
    """Turns texts into vectors with a compiled embedding model.

    >>> with aicf.Embedder("model.aicf") as embedder:
    ...     similarity = embedder.embed("the sky") @ embedder.embed("the sea")

    Every method may be called from any thread; texts are embedded one at a time, and the interpreter's lock is
    released meanwhile.
    """

    def __init__(self, source: Source, device: str = "", *, threads: int = 0) -> None:
        """Makes a session of the program with its tokenizer.

        source: a program, or an artifact's path or bytes, which :func:`aicf.load` then reads.
        device, threads: as for :meth:`aicf.Program.session`.

        Raises Unsupported for a program that is of no embedding model; what :func:`aicf.load` and
        :meth:`aicf.Program.session` raise.
        """
        self._native = _native.create_embedder(program_of(source)._native, device=device, threads=threads)

    def __repr__(self) -> str:
        try:
            return f"Embedder({self.info.architecture!r}, {self.device!r})"
        except InvalidArgument:
            return "Embedder(closed)"

    @property
    def info(self) -> EmbedderInfo:
        """What a text has to fit, and what it becomes."""
        return EmbedderInfo(**self._native.info)

    @property
    def device(self) -> str:
        """The device's name: "NVIDIA H200", or "cpu"."""
        return self._native.device_name

    @property
    def memory(self) -> dict[str, int]:
        """Bytes, as :attr:`aicf.Session.memory`."""
        return self._native.memory

    def encode(self, text: str, *, parse_special: bool = False) -> list[int]:
        """The token ids of a text, with the special tokens that the model wants around it. `parse_special` as
        for :meth:`aicf.Generator.encode`. Raises Unsupported without a tokenizer."""
        return self._native.encode(text, parse_special=parse_special)

    def embed(self, text: str | Iterable[int]) -> np.ndarray[Any, np.dtype[np.float32]]:
        """The vector of a text, or of its token ids: `info.size` numbers, from one run. Raises InvalidArgument
        for no token, more than the context, or an id outside the vocabulary; Unsupported for a text without a
        tokenizer; DeviceError."""
        ids = self.encode(text) if isinstance(text, str) else token_ids("text", text)
        return self._native.embed(ids)

    def close(self) -> None:
        """Frees the memory, once no thread is inside any more. From then on every method raises
        InvalidArgument. May be called again."""
        self._native.close()
