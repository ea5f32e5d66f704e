"""Every call of the tools to the file system fails once, in every way that it can, or is the last of a killed process.

    system_calls.py --bin build/dev/bin --library build/dev/lib/libfail_call.so [--only REGEX] [--sample N]

Compilations, runs and inspections are traced once; then call N of the trace fails (preload/fail_call.cc), for every N
and every error that its kind knows, alone or with all later ones that the same error would hit. Interrupted calls and
halved transfers have to go unnoticed. Every other failure either goes unnoticed, too, or ends the tool with exit code
8 or 7 and one line; every output is then the old file or the new one, and no temporary file stays. Instead of failing
the call, SIGKILL may come, also in the middle of a write: then the next run removes what is left; and SIGTERM may come
right after it, which ends the tool with 143 and nothing left at once. Last, real
conditions: limits of file sizes, full and read-only disks, folders that are not there. Exit code 1 when one of that
does not hold; --planted leaves a temporary file behind in every attempt, and expects that it is found.
"""

import argparse
import collections
import errno
import multiprocessing
import os
import random
import re
import resource
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "corpus")]

from system_call_tools import SCENARIOS  # noqa: E402

HARMLESS = ("EINTR", "short")
DISK = ("EIO", "ENOSPC", "EDQUOT")
ERRORS = {
    "open": ("EINTR", "EIO", "EMFILE", "EACCES", "ENOMEM"),
    "create": ("EINTR", *DISK, "EMFILE", "EACCES", "EROFS"),
    "read": ("EINTR", "short", "EIO"),
    "write": ("EINTR", "short", *DISK),
    "sync": ("EINTR", *DISK),
    "close": ("EINTR", *DISK),
    "rename": (*DISK, "EACCES"),
    "unlink": ("EIO", "EACCES"),
    "link": (*DISK, "EACCES"),
    "stat": ("EIO", "EACCES", "ENOMEM"),
    "lock": ("EINTR", "ENOLCK"),
    "list": ("EIO", "EACCES", "EMFILE"),
    "mkdir": (*DISK, "EACCES", "EROFS"),
    "map": ("ENOMEM",),
}
# Without these an output cannot be there, so that the tool cannot have succeeded.
NEEDED = ("create", "write", "sync", "rename")
OLD = b"what was there before"

Attempt = collections.namedtuple("Attempt", "scenario at kind path how sticky")


def content(path):
    with open(path, "rb") as file:
        return file.read()


def files_in(folder):
    """Of the folder and those below it; where the kernel cache has what it likes, but no temporary."""
    found = set()
    for root, _, names in os.walk(folder):
        for name in names:
            path = os.path.relpath(os.path.join(root, name), folder)
            if not (path.startswith("cache/") and path.endswith(".cubin")):
                found.add(path)
    return found


class Trial:
    """One scenario in a folder of its own, with old outputs where new ones are to be."""

    def __init__(self, options, scenario, inputs, expected):
        self.options, self.scenario, self.inputs, self.expected = options, scenario, inputs, expected

    def fill(self, folder):
        self.folder = folder
        for name in self.scenario.outputs:
            os.makedirs(os.path.dirname(os.path.join(folder, name)), exist_ok=True)
            with open(os.path.join(folder, name), "wb") as file:
                file.write(OLD)
        if self.scenario.cache:
            cache = os.path.join(self.inputs, self.scenario.name, "cache")
            if self.scenario.cache == "filled" and os.path.isdir(cache):
                shutil.copytree(cache, os.path.join(folder, "cache"))
            else:
                os.makedirs(os.path.join(folder, "cache"), exist_ok=True)
        self.before = files_in(folder)

    def run(self, extra=None, **more):
        """(exit code, stderr) of the tool with more environment."""
        environment = dict(os.environ, **(extra or {}))
        command = self.scenario.command(self.options.bin, os.path.join(self.inputs, self.scenario.name), self.folder)
        try:
            done = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.PIPE, timeout=60, cwd=self.inputs, **more)
        except subprocess.TimeoutExpired:
            return "no end after 60 s", ""
        return done.returncode, done.stderr.decode("utf-8", "replace")

    def state(self):
        """How many of the outputs are old and how many new; of the others the first one's name."""
        counts = {"old": 0, "new": 0}
        for name in self.scenario.outputs:
            path = os.path.join(self.folder, name)
            found = content(path) if os.path.exists(path) else None
            if found == OLD:
                counts["old"] += 1
            elif self.is_new(name, found):
                counts["new"] += 1
            else:
                return f"{name} is torn: {'absent' if found is None else len(found)}"
        return counts

    def is_new(self, name, found):
        if found is None:
            return False
        if name in self.scenario.varying:
            return self.scenario.varying[name](found)
        return found == self.expected[name]

    def left(self):
        return files_in(self.folder) - self.before

    def after_the_next_run(self):
        """What is wrong once the tool has run again with nothing in its way."""
        code, err = self.run()
        if code != 0:
            return f"the next run ends with {code}: {err[:300]}"
        state = self.state()
        if state != {"old": 0, "new": len(self.scenario.outputs)}:
            return f"after the next run: {state}"
        return f"left after the next run: {self.left()}" if self.left() else None

    def judge(self, code, err, must_succeed, must_fail, may_leave):
        """What is wrong with how the tool ended; None: nothing."""
        # A cache that cannot be written is worth a line, too.
        lines = [line for line in err.splitlines() if ": warning: " not in line]
        state = self.state()
        if isinstance(state, str):
            return f"exit code {code}: {state}"
        if code == 0:
            if must_fail:
                return "the failure went unnoticed"
            if state["old"]:
                return f"exit code 0 with {state['old']} old outputs"
        elif code not in (7, 8) or len(lines) != 1:
            return f"exit code {code}, {len(lines)} lines: {err[:300]}"
        elif must_succeed:
            return f"exit code {code}: {err[:300]}"
        left = self.left()
        if self.options.planted:
            left = left | {"planted"}
        if not left:
            return None
        return self.after_the_next_run() if may_leave else f"exit code {code} leaves {left}"


def environment_of(options, attempt):
    out = {"LD_PRELOAD": os.path.abspath(options.library), "AICF_FAIL_AT": str(attempt.at),
           "AICF_FAIL_WITH": str(getattr(errno, attempt.how, attempt.how))}
    if attempt.sticky:
        kinds = [kind for kind, errors in ERRORS.items() if attempt.how in errors]
        out.update(AICF_FAIL_STICKY="1", AICF_FAIL_KINDS=f",{','.join(kinds)},")
    return out


def try_one(job):
    """What is wrong with one attempt; None: nothing."""
    options, inputs, expected, attempt = job
    trial = Trial(options, SCENARIOS[attempt.scenario], inputs, expected)
    with tempfile.TemporaryDirectory(dir=inputs) as folder:
        trial.fill(folder)
        code, err = trial.run(environment_of(options, attempt))
        if attempt.how in ("kill", "torn"):
            # A call that another thread got to first is the last of nobody.
            state = trial.state()
            if code not in (-9, 0) or isinstance(state, str):
                return f"exit code {code}: {state}"
            return trial.after_the_next_run()
        if attempt.how == "term":
            state, left = trial.state(), trial.left()
            fine = code == 143 and not isinstance(state, str) and not left
            return None if fine else f"exit code {code}: {state}, left {left}"
        harmless = attempt.how in HARMLESS
        needed = attempt.kind in NEEDED and ".aicf-tmp" in attempt.path and not harmless
        # A file that cannot be removed stays until the next run, and so does one that cannot be found.
        may_leave = attempt.kind in ("unlink", "list") or (attempt.sticky and not harmless)
        return trial.judge(code, err, harmless, needed, may_leave)


def trace(options, scenario, inputs):
    """(calls as (kind, path), outputs by name) of a run with nothing in its way."""
    trial = Trial(options, scenario, inputs, {})
    with tempfile.TemporaryDirectory(dir=inputs) as folder, tempfile.NamedTemporaryFile(mode="r") as calls:
        trial.fill(folder)
        code, err = trial.run({"LD_PRELOAD": os.path.abspath(options.library), "AICF_TRACE_TO": calls.name})
        if code != 0:
            sys.exit(f"FAIL {scenario.name} without failures: exit code {code}: {err}")
        expected = {name: content(os.path.join(folder, name)) for name in scenario.outputs}
        return [tuple(line.rstrip("\n").split(" ", 1)) for line in calls], expected


def attempts_of(name, calls):
    for number, (kind, path) in enumerate(calls, 1):
        for how in ERRORS[kind]:
            yield Attempt(name, number, kind, path, how, False)
            if how != "EINTR":  # one that never ends is a process that waits
                yield Attempt(name, number, kind, path, how, True)
        yield Attempt(name, number, kind, path, "kill", False)
        yield Attempt(name, number, kind, path, "term", False)
        if kind == "write":
            yield Attempt(name, number, kind, path, "torn", False)


def conditions(options, scenario, inputs, expected):
    """(name, what is wrong or None) for real limits and places."""
    sizes = [0, 1, 4096, *(len(bytes_) // 2 for bytes_ in expected.values()),
             *(len(bytes_) - 1 for bytes_ in expected.values())]
    for size in sorted(set(sizes)):
        trial = Trial(options, scenario, inputs, expected)
        with tempfile.TemporaryDirectory(dir=inputs) as folder:
            trial.fill(folder)
            limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))  # noqa: E731
            code, err = trial.run(preexec_fn=limit)
            too_large = any(len(bytes_) > size for name, bytes_ in expected.items() if name not in scenario.varying)
            yield f"files of at most {size} bytes", trial.judge(code, err, False, too_large, False)
    for name, mount in (("a full disk", "size=16k"), ("a read-only disk", "ro")):
        trial = Trial(options, scenario, inputs, expected)
        with tempfile.TemporaryDirectory(dir=inputs) as folder:
            yield name, on_a_disk(trial, folder, mount)
    trial = Trial(options, scenario, inputs, expected)
    with tempfile.TemporaryDirectory(dir=inputs) as folder:
        trial.fill(folder)
        trial.folder = os.path.join(folder, "absent")
        code, err = trial.run()
        fine = code == 8 and len(err.splitlines()) == 1 and files_in(folder) == trial.before
        # aicf-run makes the folder that it is told to write into.
        fine = fine or (code == 0 and scenario.makes_folders)
        yield "a folder that is not there", None if fine else f"exit code {code}: {err[:300]}"


def on_a_disk(trial, folder, mount):
    """The tool on a file system of its own, where this machine lets one be mounted."""
    script = f"mount -t tmpfs -o {mount} tmpfs '{folder}' && shift && exec \"$@\""
    probe = subprocess.run(["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script, "sh", "-", "true"],
                           capture_output=True)
    if probe.returncode != 0:
        return None
    trial.folder = folder
    command = trial.scenario.command(trial.options.bin, os.path.join(trial.inputs, trial.scenario.name), folder)
    done = subprocess.run(["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script + "; exit", "sh", "-",
                           *command], capture_output=True, text=True, timeout=60)
    # Small outputs fit; the disk then is full of them.
    fits = mount != "ro" and sum(map(len, trial.expected.values())) < 12_000
    fine = done.returncode == 8 and len(done.stderr.splitlines()) == 1 or (fits and done.returncode == 0)
    return None if fine else f"exit code {done.returncode}: {done.stderr[:300]}"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--bin", required=True)
    parser.add_argument("--library", required=True)
    parser.add_argument("--only", default="", help="regular expression of the scenarios' names")
    parser.add_argument("--sample", type=int, default=0, help="this many of all attempts; 0: all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--planted", action="store_true", help="expect failures")
    options = parser.parse_args()
    options.bin = os.path.abspath(options.bin)
    return options


def main():
    options = arguments()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    jobs, failures, calls = [], 0, 0
    with tempfile.TemporaryDirectory() as inputs:
        for name, scenario in SCENARIOS.items():
            if not re.search(options.only, name):
                continue
            os.makedirs(os.path.join(inputs, name))
            if not scenario.prepare(options.bin, os.path.join(inputs, name)):
                print(f"{name}: left out")
                continue
            traced, expected = trace(options, scenario, inputs)
            calls += len(traced)
            jobs += [(options, inputs, expected, attempt) for attempt in attempts_of(name, traced)]
            for what, wrong in conditions(options, scenario, inputs, expected):
                if wrong:
                    failures += 1
                    print(f"FAIL {name}: {what}: {wrong}", flush=True)
        if options.sample:
            jobs = random.Random(options.seed).sample(jobs, min(options.sample, len(jobs)))
        with multiprocessing.Pool(options.jobs) as pool:
            for job, wrong in zip(jobs, pool.imap(try_one, jobs, chunksize=4)):
                if wrong:
                    failures += 1
                    a = job[3]
                    print(f"FAIL {a.scenario}: call {a.at} ({a.kind} {a.path}): {a.how}"
                          f"{' from then on' if a.sticky else ''}: {wrong}", flush=True)
    kills = sum(job[3].how in ("kill", "torn") for job in jobs)
    terms = sum(job[3].how == "term" for job in jobs)
    print(f"{len(jobs)} attempts over {calls} calls, {kills} of them with SIGKILL and {terms} with SIGTERM: "
          f"{failures} failures")
    return (failures == 0) if options.planted else (failures != 0 or not jobs)


if __name__ == "__main__":
    sys.exit(main())
