"""Random instances of every supported op against plain references.

    run.py --bin build/dev/bin [--target cpu|cuda:sm_90a] [--device cpu|cuda:0] [--only REGEX] [--count N]

Needs numpy and onnx (requirements.txt). A CUDA target with --device=cpu is planned without device code
and executed on the reference kernels. Exit code 1 when an instance fails, when an op of
`aicf-compile --list-ops` has neither a generator nor a reason in exclusions.py, or has fewer instances
than asked for.
"""

import argparse
import importlib
import multiprocessing
import os
import re
import sys
import time
import traceback

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

from check import failures, report  # noqa: E402
from exclusions import EXCLUDED  # noqa: E402
from generate import groups, make  # noqa: E402
from registry import GENERATORS  # noqa: E402
from sources import KINDS, unseen  # noqa: E402
from tools import Tools, supported_ops  # noqa: E402

for file in sorted(os.listdir(HERE)):
    if re.match(r"(ops|contrib)_\w+\.py$", file):
        importlib.import_module(file[:-3])


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--bin", required=True, help="directory with aicf-compile and aicf-run")
    parser.add_argument("--target", default="cpu")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--only", default="", help="regular expression that an op's whole name matches")
    parser.add_argument("--count", type=int, default=20, help="instances of each op's newest form")
    parser.add_argument("--seed", type=int, default=20240917)
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--keep", help="directory that keeps the files of instances that fail")
    parser.add_argument("--verbose", action="store_true", help="a line per op")
    return parser.parse_args()


def check_op(job):
    """(op, instances, failure texts, seconds)."""
    name, options = job
    tools = Tools(options.bin, options.target, options.device, images=options.device != "cpu")
    start, texts, total, kinds = time.monotonic(), [], 0, {}
    try:
        for schema, opset, indices in groups(name, options.count):
            cases = [make(name, schema, opset, index, options.seed) for index in indices]
            total += len(cases)
            for case in cases:
                for position, found in case.kinds.items():
                    kinds.setdefault(position, []).append(found)
            texts += [report(c, why, tools, options.keep) for c, why in failures(tools, cases, opset)]
    except Exception:  # a fault of a generator is a failure of its op, not of the run
        texts.append(f"FAIL {name}: {traceback.format_exc()}")
    texts += [f"FAIL {name}: operand {position} is never {kind}"
              for position, found in sorted(kinds.items())
              if len(found) >= max(total, 2 * len(KINDS))  # an operand that every instance has
              for kind in unseen(set().union(*found))]
    return name, total, texts, time.monotonic() - start


def incomplete(listed):
    """What the tables lack or have too much."""
    out = [f"FAIL {n}: no generator, and no reason in exclusions.py" for n in listed
           if n not in GENERATORS and n not in EXCLUDED]
    out += [f"FAIL {n}: has a generator or an exclusion but is not supported"
            for n in sorted({*GENERATORS, *EXCLUDED} - set(listed))]
    return out + [f"FAIL {n}: excluded, and has a generator" for n in EXCLUDED if n in GENERATORS]


def main():
    options = arguments()
    listed = supported_ops(options.bin)
    texts = incomplete(listed)
    jobs = [(n, options) for n in listed if n in GENERATORS and re.fullmatch(options.only or ".*", n)]
    if not jobs:
        texts.append(f"FAIL no op matches '{options.only}'")
        print(texts[-1])
    print(f"seed {options.seed}, target {options.target}, device {options.device}, {len(jobs)} ops")
    total = 0
    with multiprocessing.Pool(options.jobs) as pool:
        for name, count, wrong, seconds in pool.imap_unordered(check_op, jobs):
            total += count
            texts += wrong
            if count < options.count and not wrong:
                texts.append(f"FAIL {name}: {count} instances instead of {options.count}")
            if options.verbose or wrong:
                print(f"{name}: {count} instances, {len(wrong)} failures, {seconds:.1f} s", flush=True)
            for text in wrong:
                print(text, flush=True)
    for text in incomplete(listed):
        print(text)
    print(f"{total} instances of {len(jobs)} ops, {len(EXCLUDED)} ops excluded: "
          + (f"{len(texts)} failures" if texts else "all right"))
    return 1 if texts else 0


if __name__ == "__main__":
    sys.exit(main())
