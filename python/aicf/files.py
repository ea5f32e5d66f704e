"""Files that are written whole or not at all. Internal."""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets

from aicf.errors import file_error

_MAX_STEM = 200  # bytes of the file's own name in the temporary's, which has at most 255


def write_whole(path: str, data: bytes) -> None:
    """Replaces a file by a new one, so that a reader sees the old or the new one, never a part. Raises
    FileError naming `path`."""
    try:
        _replace(path, data)
    except OSError as error:
        # The cause is left out because it names the temporary, which the caller knows nothing of.
        sentence = f'cannot write "{path}": {error.strerror}'
        raise file_error(sentence, path, error.errno) from None


def _replace(path: str, data: bytes) -> None:
    temporary, descriptor = _open_temporary(path)
    try:
        with open(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(descriptor)
            # The file stays open, and so locked, until it has its final name.
            os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        raise


def _open_temporary(path: str) -> tuple[str, int]:
    """A new file beside `path`, which no other call uses: its path and its descriptor.

    Its name and its lock are those of the tools (tools/common/atomic_file.cc), which remove such files where
    a killed process left them, and keep them while a writer holds the lock.
    """
    while True:
        temporary = _temporary_name(path)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        descriptor = os.open(temporary, flags, 0o666)
        # A file system without locks refuses the lock to whoever cleans up too.
        with contextlib.suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        # Between its creation and the lock a tool may have taken the file for one that was left behind.
        if os.fstat(descriptor).st_nlink > 0:
            return temporary, descriptor
        os.close(descriptor)


def _temporary_name(path: str) -> str:
    folder, name = os.path.split(path)
    stem = os.fsdecode(os.fsencode(name)[:_MAX_STEM])
    return os.path.join(folder, f".{stem}.{os.getpid()}-{secrets.randbits(64)}.aicf-tmp")
