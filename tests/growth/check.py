"""What compilations take grows with the graph, not with its square.

    check.py --bin build/dev/bin                        # graphs of 8,000 and of 32,000 nodes
    check.py --bin build/release/bin --nodes 1000000    # one graph of each kind, in a table

Every kind of graph (graphs.py) is compiled with N and with 4 N nodes. Instructions and memory may grow to 4.6 times.
Where the system lets nobody count instructions, the processor's time may grow to 8 times, because a busy machine and
caches that are too small spoil it; the least of up to four is taken. Exit code 1 otherwise. With --control a program
that takes quadratic time stands in for the compiler, and exit code 0 means that this was seen.
"""

import argparse
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from graphs import KINDS  # noqa: E402
from instructions import Instructions  # noqa: E402

TARGETS = ("cpu", "cuda:sm_90a")
MOST_WORK = {"instructions": 4.6, "seconds": 8}
MOST_MEMORY, ATTEMPTS = 4.6, 4
STAND_IN = "import sys; n = int(sys.argv[1]) // 4\nfor i in range(n * n): pass"


class Failed(Exception):
    pass


def counter():
    try:
        return Instructions()
    except OSError as error:
        print(f"instructions are not counted here ({error}): times of the processor are compared")
        return None


def measured(command, instructions=None):
    """(billions of instructions or else seconds of the processor, MiB) of a process."""
    before = instructions.count() if instructions else 0
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    said = process.stderr.read().decode(errors="replace")
    _, status, usage = os.wait4(process.pid, 0)
    if os.waitstatus_to_exitcode(status) != 0:
        raise Failed(f"ended with {os.waitstatus_to_exitcode(status)}: {said.strip()[-300:]}")
    work = (instructions.count() - before) / 1e9 if instructions else usage.ru_utime + usage.ru_stime
    return work, usage.ru_maxrss / 1024


class Compiler:
    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        self.instructions = None if options.nodes else counter()
        self.unit = "instructions" if self.instructions else "seconds"

    def file(self, kind, nodes):
        path = os.path.join(self.folder, f"{kind}.{nodes}.onnx")
        if not os.path.exists(path):
            with open(path, "wb") as file:
                file.write(KINDS[kind](nodes))
        return path

    def run(self, kind, nodes, target):
        if self.options.control:
            return measured([sys.executable, "-c", STAND_IN, str(nodes)], self.instructions)
        tool = os.path.join(self.options.bin, "aicf-compile")
        return measured([tool, self.file(kind, nodes), "-o", os.path.join(self.folder, "out.aicf"), "--force",
                         f"--target={target}", "--no-images", *self.options.flag], self.instructions)


def growth(compiler, kind, target, nodes):
    """"", or what grew too much."""
    small = [float("inf"), float("inf")]
    large = [float("inf"), float("inf")]
    for _ in range(ATTEMPTS):
        small = [min(pair) for pair in zip(small, compiler.run(kind, nodes, target))]
        large = [min(pair) for pair in zip(large, compiler.run(kind, 4 * nodes, target))]
        work, memory = large[0] / small[0], large[1] / small[1]
        if work <= MOST_WORK[compiler.unit] and memory <= MOST_MEMORY:
            break
    unit = "e9 instructions" if compiler.instructions else "s"
    print(f"{kind:10} {target:12} {nodes} nodes {small[0]:.2f} {unit}, {small[1]:.0f} MiB; {4 * nodes} nodes "
          f"{large[0]:.2f} {unit}, {large[1]:.0f} MiB: {work:.2f} and {memory:.2f} times", flush=True)
    wrong = [f"{what} grow to {much:.2f} times" for what, much, most in
             ((compiler.unit, work, MOST_WORK[compiler.unit]), ("bytes", memory, MOST_MEMORY)) if much > most]
    return ", ".join(wrong)


def check_growth(compiler, options):
    failures = []
    for kind in options.kinds:
        for target in options.targets:
            wrong = growth(compiler, kind, target, options.small)
            if wrong:
                failures.append(f"{kind} for {target}: {wrong}")
    for text in failures:
        print(f"FAIL {text}")
    if options.control:
        print("the quadratic stand-in was seen" if failures else "the quadratic stand-in was missed")
        return not failures
    return bool(failures)


def print_table(compiler, options):
    print("| graph | target | processor s | peak MiB |\n|---|---|--:|--:|", flush=True)
    for kind in options.kinds:
        for target in options.targets:
            options.flag = [f"--budget=nodes:{2 * options.nodes}"]
            seconds, mebibytes = compiler.run(kind, options.nodes, target)
            print(f"| {kind} | {target} | {seconds:.1f} | {mebibytes:.0f} |", flush=True)
        os.remove(compiler.file(kind, options.nodes))
    return False


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--bin", required=True)
    parser.add_argument("--small", type=int, default=8000, help="nodes of the smaller graph")
    parser.add_argument("--nodes", type=int, help="compile graphs of so many nodes once instead")
    parser.add_argument("--kinds", default=",".join(KINDS), type=lambda text: text.split(","))
    parser.add_argument("--targets", default=",".join(TARGETS), type=lambda text: text.split(","))
    parser.add_argument("--flag", action="append", default=[], help="a further flag of aicf-compile")
    parser.add_argument("--control", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        compiler = Compiler(options, folder)
        try:
            failed = (print_table if options.nodes else check_growth)(compiler, options)
        except Failed as failure:
            print(f"FAIL {failure}")
            return 1
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
