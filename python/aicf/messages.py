"""The library's messages, handed to the logger "aicf" of Python's own logging.

The library keeps a message until a call that may have caused it returns, because the thread that has the message
does not hold the interpreter's lock. With calls on several threads, the one that returns first hands over all.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from aicf import _native

__all__ = ["handing_over"]

_logger = logging.getLogger("aicf")


@contextmanager
def handing_over() -> Iterator[None]:
    """Hands the messages of what happens inside to the logger at the end, also when that is an exception."""
    try:
        yield
    finally:
        for level, text in _native.take_messages():
            _logger.log(level, "%s", text)
