"""What a ``with`` block closes. Internal."""

from __future__ import annotations

from types import TracebackType
from typing import TypeVar

Owner = TypeVar("Owner", bound="Closable")


class Closable:
    """An object with a method ``close``, which leaving a ``with`` block calls."""

    def close(self) -> None:
        raise NotImplementedError

    def __enter__(self: Owner) -> Owner:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
