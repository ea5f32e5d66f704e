"""A process that is watched: how it ended, how long it took, how much memory."""

import os
import subprocess
import tempfile
import time


class Run:
    """One process: how it ended and what it took."""

    def __init__(self, command, seconds):
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            start = time.monotonic()
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=err)
            self.timed_out = False
            while True:
                pid, status, usage = os.wait4(process.pid, os.WNOHANG)
                if pid:
                    break
                if time.monotonic() - start > seconds and not self.timed_out:
                    self.timed_out = True
                    process.kill()
                time.sleep(0.002)
            process.returncode = os.waitstatus_to_exitcode(status)
            self.seconds = time.monotonic() - start
            self.exit_code, self.kibibytes = process.returncode, usage.ru_maxrss
            self.out, self.err = read(out), read(err)


def read(file):
    file.seek(0)
    return file.read(1 << 20).decode("utf-8", "replace")
