"""What generators and embedders have in common. Internal."""

from __future__ import annotations

import operator
import os
from collections.abc import Iterable
from typing import Any

from aicf.compiler import load
from aicf.errors import InvalidArgument
from aicf.program import Program

Source = Program | str | os.PathLike[str] | bytes


def program_of(source: Source) -> Program:
    """The program, or the one that is loaded from the artifact's path or bytes."""
    return source if isinstance(source, Program) else load(source)


def whole_number(name: str, value: Any, least: int, most: int) -> int:
    """`value` as an int in [least, most]. Raises TypeError, InvalidArgument."""
    number = operator.index(value)
    if not least <= number <= most:
        raise InvalidArgument(f"{name}: expected {least} to {most}, got {number}")
    return number


def token_ids(name: str, ids: Iterable[Any]) -> list[int]:
    """Token ids as a list. The library compares them with the vocabulary."""
    return [whole_number(name, token, 0, 2**32 - 1) for token in ids]
