"""The contract of a tool that reads files from elsewhere, and how a sweep of hostile models holds it to that.

A compilation ends by itself with a documented exit code, says at most one short line on stderr, and stays within
--seconds and --mebibytes. A sanitizer's report breaks the contract, too.
"""

import argparse
import multiprocessing
import os
import re
import resource

from process import Run

LEGAL = (0, 2, 3, 4, 7)
LONGEST_LINE = 16_100


def parser_of(description):
    """A parser with what every sweep can be asked."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--bin", required=True, help="directory with aicf-compile")
    parser.add_argument("--target", default="cpu")
    parser.add_argument("--kind", default="", help="regular expression that a case's name contains")
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--mebibytes", type=int, default=2048)
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--keep", help="directory that keeps the models that break the contract")
    parser.add_argument("--planted", action="store_true", help="expect one legal exit code fewer, and failures")
    return parser


def broken(run, options):
    """What of the contract a run broke; empty: nothing."""
    found = []
    legal = LEGAL[:-2] if options.planted else LEGAL
    if run.timed_out:
        found.append(f"took over {options.seconds} s")
    elif run.exit_code not in legal:
        found.append(f"exit code {run.exit_code}")
    if re.search(r"runtime error:|AddressSanitizer|LeakSanitizer", run.err):
        found.append("a sanitizer's report")
    lines = run.err.splitlines()
    if len(lines) > (run.exit_code != 0) and not found:
        found.append(f"{len(lines)} lines on stderr")
    if max(map(len, lines), default=0) > LONGEST_LINE:
        found.append(f"a line of {max(map(len, lines))} characters")
    if run.kibibytes > options.mebibytes * 1024:
        found.append(f"{run.kibibytes // 1024} MiB")
    return found


def compiled(label, model, output, options):
    """(exit code, failure texts) of one compilation."""
    command = [os.path.join(options.bin, "aicf-compile"), model, "-o", output, "--force", f"--target={options.target}"]
    run = Run(command + (["--no-images"] if options.target != "cpu" else []), options.seconds)
    said = next((line for line in run.err.splitlines() if "error" in line), run.err).strip()[:400]
    return run.exit_code, [f"FAIL {label}: {what}: {said}" for what in broken(run, options)]


def sweep(work, jobs, title, options):
    """Calls work(job) -> [(exit code, failure texts)] in --jobs processes, prints what broke the contract and a
    summary, and returns the script's exit code."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    total, codes, failures = 0, {}, 0
    with multiprocessing.Pool(options.jobs) as pool:
        for runs in pool.imap_unordered(work, jobs):
            for code, texts in runs:
                total += 1
                codes[code] = codes.get(code, 0) + 1
                failures += len(texts)
                for text in texts:
                    print(text, flush=True)
    ends = ", ".join(f"{codes[c]} x {c}" for c in sorted(codes))
    print(f"{total} hostile {title}, target {options.target}: exit codes {ends}; "
          + (f"{failures} failures" if failures else "all within the contract"))
    return 1 if failures or not total else 0
