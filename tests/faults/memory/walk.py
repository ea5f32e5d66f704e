"""A tool whose request N for memory fails, for many N: it ends with 0 or 7 and one line, by no signal.

walk.py PRELOAD.so STRIDE TOOL ARGUMENTS...
"""

import os
import subprocess
import sys


class Walk:
    def __init__(self, preload, command):
        self.preload, self.command = preload, command
        self.failed, self.found = 0, 0

    def run(self, at, sticky):
        environment = dict(os.environ, LD_PRELOAD=self.preload, AICF_FAIL_AT=str(at), AICF_FAIL_IN_MAIN="1")
        if sticky:
            environment["AICF_FAIL_STICKY"] = "1"
        return subprocess.run(self.command, env=environment, capture_output=True, timeout=60)

    def judge(self, at, sticky):
        """Whether the tool ran to its end all the same."""
        done = self.run(at, sticky)
        # What the system's loader cannot have, before the program begins, is its own affair.
        if done.returncode == 127 and b"shared librar" in done.stderr:
            return False
        self.failed += done.returncode == 7
        lines = done.stderr.count(b"\n")
        if done.returncode not in (0, 7) or lines != (1 if done.returncode == 7 else 0):
            self.found += 1
            print(f"request {at}{' and all later' if sticky else ''}: {done.returncode} {done.stderr[-200:]}")
        return done.returncode == 0


def main():
    preload, stride, *command = sys.argv[1:]
    walk = Walk(preload, command)
    at = 1
    while not walk.judge(at, sticky=True):
        at += int(stride)
    for request in range(1, at, int(stride)):
        walk.judge(request, sticky=False)
    print(f"{os.path.basename(command[0])}: requests 1 to {at}, {walk.failed} failed with 7, {walk.found} found")
    return 1 if walk.found or not walk.failed else 0


if __name__ == "__main__":
    sys.exit(main())
