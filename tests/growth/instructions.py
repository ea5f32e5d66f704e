"""The processor's own count of the instructions that child processes execute: the same however busy the machine is."""

import ctypes
import os
import struct

PERF_EVENT_OPEN = {"x86_64": 298, "aarch64": 241}
HARDWARE, INSTRUCTIONS = 0, 1
INHERIT, EXCLUDE_KERNEL, EXCLUDE_HYPERVISOR = 1 << 1, 1 << 5, 1 << 6


class Instructions:
    """Counts of this process and the children that it starts from now on and has waited for."""

    def __init__(self):
        """Errors: OSError where the system lets nobody count."""
        number = PERF_EVENT_OPEN.get(os.uname().machine)
        if number is None:
            raise OSError("no number of perf_event_open is known for this machine")
        # struct perf_event_attr in its first version of 64 bytes: type, size, config, period, sample and read
        # formats, flags, and what only samples need.
        attributes = struct.pack("<IIQQQQQIIQ", HARDWARE, 64, INSTRUCTIONS, 0, 0, 0,
                                 INHERIT | EXCLUDE_KERNEL | EXCLUDE_HYPERVISOR, 0, 0, 0)
        library = ctypes.CDLL(None, use_errno=True)
        self.file = library.syscall(number, attributes, 0, -1, -1, 0)
        if self.file < 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))

    def count(self):
        return struct.unpack("<Q", os.read(self.file, 8))[0]
