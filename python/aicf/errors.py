"""Exceptions, one class for each code of the library's Status.

Every class derives from :class:`AicfError`, and where Python has a fitting class, from that too. The
message names the object, what was expected and what was found.
"""

from __future__ import annotations

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
    """The operating system refused a file operation."""

    code = "io"


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
