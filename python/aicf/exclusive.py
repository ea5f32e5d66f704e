"""What only one thread at a time may be inside of. Internal."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Concatenate, ParamSpec, TypeVar

from aicf.errors import InvalidArgument

Arguments = ParamSpec("Arguments")
Returned = TypeVar("Returned")
Owner = TypeVar("Owner", bound="Exclusive")


class Exclusive:
    """An object whose methods marked with :func:`exclusive` are for one thread at a time."""

    _what = "session"

    def __init__(self) -> None:
        # One that its own thread may take again, since these methods call each other, and since a caller's
        # tensor that a run reads may be this session's own.
        self._inside = threading.RLock()


def exclusive(
    method: Callable[Concatenate[Owner, Arguments], Returned],
) -> Callable[Concatenate[Owner, Arguments], Returned]:
    """Makes a method refuse its call while another thread is inside any method marked so.

    The library refuses only calls that meet inside it. A method here may consist of several of its calls,
    between which another thread could replace the inputs or the outputs. Methods of a single call are marked
    as well: otherwise they could come in between, or make the earlier caller the one that is refused.
    """

    @functools.wraps(method)
    def claimed(self: Owner, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Returned:
        if not self._inside.acquire(blocking=False):
            raise InvalidArgument(
                f"the {self._what} is busy: another thread is inside it; use one {self._what} per thread"
            )
        try:
            return method(self, *args, **kwargs)
        finally:
            self._inside.release()

    return claimed
