"""Exceptions, one class for each code of the library's Status.

Every class derives from :class:`AicfError`, and where Python has a fitting class, from that too. The
message names the object, what was expected and what was found.
"""

from __future__ import annotations

import errno
import os

__all__ = [
    "AicfError",
    "BadArtifact",
    "BadModel",
    "CheckFailed",
    "DeviceError",
    "FileError",
    "InternalError",
    "InvalidArgument",
    "ResourceError",
    "Unsupported",
]


class AicfError(Exception):
    """Base of all errors of this package."""

    code: str = "internal"
    """The code's name, as the tools print it: "invalid-argument", "bad-model", ..."""


class CheckFailed(AicfError):
    """An accuracy or verification check ran and failed."""

    code = "check-failed"


class InvalidArgument(AicfError, ValueError):
    """The caller's arguments are wrong: an unknown name, another shape or dtype, a busy session."""

    code = "invalid-argument"


class BadModel(AicfError):
    """The source model is malformed."""

    code = "bad-model"


class Unsupported(AicfError, NotImplementedError):
    """Valid, but outside what aicf can do; for a model it names everything at once."""

    code = "unsupported"


class BadArtifact(AicfError):
    """The artifact is corrupt or inconsistent."""

    code = "bad-artifact"


class DeviceError(AicfError, RuntimeError):
    """A device is missing, incompatible or lost."""

    code = "device"


class ResourceError(AicfError, MemoryError):
    """Memory or another budget is exhausted."""

    code = "resource"


class FileError(AicfError, OSError):
    """The operating system refused a file operation. Its `errno` and `filename` are None where they are not
    known."""

    code = "io"

    def __str__(self) -> str:
        # With a file name OSError would print its own sentence in place of the library's.
        return str(self.args[0]) if len(self.args) == 1 else super().__str__()


class InternalError(AicfError):
    """A defect in aicf."""

    code = "internal"


_BY_CODE = {
    cls.code: cls
    for cls in (
        CheckFailed,
        InvalidArgument,
        BadModel,
        Unsupported,
        BadArtifact,
        DeviceError,
        ResourceError,
        FileError,
        InternalError,
    )
}


def of_code(code: str) -> type[AicfError]:
    """The class for a code's name; :class:`InternalError` for one that is not known."""
    return _BY_CODE.get(code, InternalError)


def file_error(sentence: str, path: str, number: int | None) -> FileError:
    """The error of an operation on the file that the caller names `path`; `number` is its errno."""
    error = FileError(sentence)
    error.filename = path
    error.errno = number
    return error


def errno_of(sentence: str) -> int | None:
    """The errno of an error of the library, whose Status has only the sentence: it ends with the operating
    system's own words for the cause. None if it does not."""
    for number in errno.errorcode:
        if sentence.endswith(f": {os.strerror(number)}"):
            return number
    return None
