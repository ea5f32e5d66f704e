#!/usr/bin/env python3
"""Runs the fuzz targets and says what they found.

    run.py --bin build/fuzz/bin --seeds build/fuzz-seeds --work build/fuzz-work [--seconds 60] [TARGET...]
    run.py ... --executions 1000000 --jobs 32    a campaign: several processes for a target, until each has both
    run.py ... --self-test                       the planted defects, each of which has to be found

Without names every target runs for --seconds of processor time, at most --jobs processes at once, and none beyond
--wall seconds from now. A process ends with a finding: a crash, a report of a sanitizer, a leak, an input over
--timeout seconds, over --mebibytes, or an error that is aicf's own (exit code 70); its target goes on until it has
--findings of them. Inputs that found something new are kept in WORK/corpus/TARGET, findings in WORK/found/TARGET-*
with what the process said, all logs in WORK/logs. Prints a line per target, and --report FILE has the same as
FILE.json and as a table, FILE.md; exit code 1 when there is a finding, or when a planted defect is missed. Needs
nothing but Python: the program of --bin and the seeds can be carried elsewhere.
"""

import argparse
import collections
import concurrent.futures
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import time

# Inputs of more bytes are slow, and say nothing that smaller ones do not.
LARGEST = collections.defaultdict(lambda: 16384, {
    "onnx": 8192, "onnx_compile": 4096, "gguf": 24576, "config": 24576, "safetensors": 24576, "artifact": 65536,
    "execute": 65536, "recompile": 65536, "npy": 2048, "decisions": 4096, "timing_cache": 4096, "policy": 1024,
    "command_line": 512})
# Where most inputs are taken and pass tens of thousands of edges, the weighing of inputs by their rarest features (below)
# would cost more than the executions.
UNWEIGHED = {"onnx_compile", "policy"}
# What each planted defect is and how libFuzzer or a sanitizer calls it.
COMMON_PLANTS = {"leak": "detected memory leaks", "hang": "libFuzzer: timeout", "memory": "libFuzzer: out-of-memory"}
TARGET_PLANT = "AddressSanitizer: (heap-buffer-overflow|SEGV)|were written|depend on bytes"
PROGRAM = "aicf-fuzz"
# Lines of a log about inputs that found something new.
LEARNT = re.compile(r"#\d+\s+(NEW|REDUCE|RELOAD|pulse)\b")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("targets", nargs="*", metavar="TARGET")
    parser.add_argument("--bin", required=True, help="folder of aicf-fuzz")
    parser.add_argument("--seeds", required=True, help="what seeds.py wrote")
    parser.add_argument("--work", required=True, help="corpora, findings and logs; goes on with those that are there")
    parser.add_argument("--seconds", type=float, default=60, help="of processor time for each target (default 60)")
    parser.add_argument("--executions", type=int, default=0, help="at least so many for each target, too")
    parser.add_argument("--wall", type=float, default=1e9, help="seconds until everything ends, whatever is left to do")
    parser.add_argument("--round", type=float, default=300, help="longest run of one process, in seconds")
    parser.add_argument("--findings", type=int, default=1, help="as many end a target (default 1)")
    parser.add_argument("--report", help="FILE.json and FILE.md are written with the results")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--timeout", type=int, default=10, help="seconds for one input")
    parser.add_argument("--mebibytes", type=int, default=2048, help="memory of a process")
    parser.add_argument("--self-test", action="store_true", help="find the planted defects instead")
    parser.add_argument("--self-test-seconds", type=float, default=120, help="time to find one")
    parser.add_argument("--seed", type=int, default=1, help="of the first process; each has one of its own")
    args = parser.parse_args()
    # The target of command lines works in a folder of its own, where relative paths would lead nowhere.
    for name in ("bin", "seeds", "work"):
        setattr(args, name, os.path.abspath(getattr(args, name)))
    return args


def fixed_addresses():
    """A prefix that runs a program without address randomisation, which old AddressSanitizers need where a kernel
    has 32 bits of it; nothing where that is not allowed."""
    prefix = ["setarch", os.uname().machine, "-R"]
    try:
        done = subprocess.run([*prefix, "true"], capture_output=True, check=False)
        return prefix if done.returncode == 0 else []
    except OSError:
        return []


class Result:
    """Of one process, or of all of a target."""

    def __init__(self):
        self.executions = self.seconds = self.wall = 0.0
        self.edges = self.features = self.corpus = self.megabytes = self.slowest = self.processes = 0
        self.findings = []

    def add(self, other):
        self.executions += other.executions
        self.seconds += other.seconds
        self.wall += other.wall
        self.processes += other.processes
        for name in ("edges", "features", "corpus", "megabytes", "slowest"):
            setattr(self, name, max(getattr(self, name), getattr(other, name)))
        self.findings += other.findings

    @property
    def finding(self):
        """Each once, in a line."""
        return "; ".join(dict.fromkeys(self.findings))

    @property
    def rate(self):
        return self.executions / max(self.seconds, 1e-9)

    def as_dict(self):
        return {"executions": int(self.executions), "cpu_seconds": round(self.seconds, 1), "per_second": round(self.rate),
                "edges": self.edges, "features": self.features, "corpus": self.corpus, "mebibytes": self.megabytes,
                "slowest_seconds": self.slowest, "processes": self.processes, "findings": self.findings}


class Fuzzer:
    def __init__(self, options):
        self.options = options
        self.program = os.path.join(os.path.abspath(options.bin), PROGRAM)
        self.prefix = fixed_addresses()
        self.work = os.path.abspath(options.work)
        self.next_seed = options.seed
        self.lock = threading.Lock()
        for folder in ("corpus", "found", "logs", "scratch"):
            os.makedirs(os.path.join(self.work, folder), exist_ok=True)

    def targets(self):
        done = subprocess.run([*self.prefix, self.program, "--list"], capture_output=True, check=True, text=True)
        return done.stdout.split()

    def environment(self, plant):
        env = dict(os.environ, AICF_FUZZ_PLANT=plant,
                   UBSAN_OPTIONS="print_stacktrace=1:halt_on_error=1", LSAN_OPTIONS="print_suppressions=0",
                   ASAN_OPTIONS="detect_leaks=1:detect_stack_use_after_return=0:handle_abort=1:malloc_context_size=2:"
                                "quarantine_size_mb=32")
        return env

    def command(self, target, corpus, seconds, seed, executions):
        o = self.options
        words = os.path.join(o.seeds, target + ".dict")
        return [*self.prefix, self.program, f"--target={target}", f"-max_total_time={max(1, round(seconds))}",
                f"-timeout={o.timeout}", f"-rss_limit_mb={o.mebibytes}", f"-max_len={LARGEST[target]}", f"-seed={seed}",
                "-print_final_stats=1", "-detect_leaks=1", "-reload=1", "-report_slow_units=5",
                # Inputs are weighed by few of their rarest features: by as many as libFuzzer takes, the weighing
                # takes more time than most executions do; without any, inputs that are refused soon win.
                *(["-entropic=0"] if target in UNWEIGHED else
                  ["-entropic_feature_frequency_threshold=8", "-entropic_number_of_rarest_features=16"]),
                *([f"-runs={executions}"] if executions else []),
                *([f"-dict={words}"] if os.path.exists(words) and os.path.getsize(words) else []),
                f"-artifact_prefix={os.path.join(self.work, 'found', target + '-')}",
                corpus, *([os.path.join(o.seeds, target)] if os.path.isdir(os.path.join(o.seeds, target)) else [])]

    def run(self, target, seconds, plant="", executions=0):
        """One process; tried again where AddressSanitizer cannot place its shadow."""
        with self.lock:
            seed, self.next_seed = self.next_seed, self.next_seed + 1
        corpus = os.path.join(self.work, "corpus", target)
        if plant:
            corpus = tempfile.mkdtemp(dir=os.path.join(self.work, "scratch"))
        os.makedirs(corpus, exist_ok=True)
        log = os.path.join(self.work, "logs", f"{target}-{plant or seed}.log")
        command = self.command(target, corpus, seconds, seed, executions)
        for _ in range(20):
            result, text = self.once(command, log, plant)
            if "INFO: Seed" in text:
                break
        if plant:
            shutil.rmtree(corpus, ignore_errors=True)
        return result, text

    def once(self, command, log, plant):
        start = time.monotonic()
        with open(log, "wb") as file:
            process = subprocess.Popen(command, stderr=file, stdout=subprocess.DEVNULL, env=self.environment(plant))
            _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        with open(log, encoding="utf-8", errors="replace") as file:
            text = file.read()
        result = Result()
        result.processes = 1
        result.wall = time.monotonic() - start
        result.seconds = usage.ru_utime + usage.ru_stime
        result.executions = number(r"stat::number_of_executed_units: (\d+)", text)
        result.megabytes = usage.ru_maxrss // 1024
        result.slowest = number(r"stat::slowest_unit_time_sec:\s+(\d+)", text)
        for line in re.findall(r"cov: (\d+) ft: (\d+) corp: (\d+)", text)[-1:]:
            result.edges, result.features, result.corpus = map(int, line)
        if process.returncode != 0:
            result.findings = [describe(process.returncode, text)]
            with open(os.path.join(self.work, "found", os.path.basename(log)), "w", encoding="utf-8") as file:
                file.writelines(l + "\n" for l in text.splitlines() if not LEARNT.match(l))
        return result, text


def number(pattern, text):
    found = re.findall(pattern, text)
    return int(found[-1]) if found else 0


def describe(code, text):
    """What ended a process, in a line."""
    for pattern in (r"(aicf-fuzz: [^\n]{0,200})", r"ERROR: (\w+Sanitizer: [^\n]{0,120})", r"(runtime error: [^\n]{0,160})",
                    r"ERROR: (libFuzzer: [^\n]{0,80})"):
        found = re.findall(pattern, text)
        if found:
            own = re.findall(r"#\d+ 0x\w+ in ((?:aicf::|\w+::)[^\n(]{0,80})", text)
            return found[0] + (f" in {own[0]}" if own else "")
    return f"ended with {code}: {text[-200:]!r}"


class Campaign:
    """Which target the next free place works on: the one with the most left to do that nobody does yet."""

    SHORTEST = 15  # seconds of one process, most of which reading the corpus may take

    def __init__(self, fuzzer, targets):
        self.fuzzer, self.options, self.targets = fuzzer, fuzzer.options, targets
        self.totals = {t: Result() for t in targets}
        self.running = collections.Counter()
        self.planned = collections.Counter()  # seconds of those that run
        self.end = time.monotonic() + self.options.wall
        self.lock = threading.Lock()

    def left(self, target):
        """Seconds of processor time until the target has enough, beside those that are planned."""
        total = self.totals[target]
        if len(total.findings) >= self.options.findings:
            return 0
        rate = total.rate if total.executions else 1000
        left = max(self.options.seconds - total.seconds, (self.options.executions - total.executions) / max(rate, 1))
        return left - self.planned[target]

    def next(self):
        """A target and how long one process runs; or None, and whether something may be left to do later."""
        with self.lock:
            seconds = self.end - time.monotonic()
            if seconds < min(5, self.options.wall / 2):
                return None, False
            most = 1 if not self.options.executions else self.options.jobs
            enough = self.options.seconds / 20  # a process's share of a processor is seldom a whole one
            open_targets = [t for t in self.targets if self.left(t) > enough and self.running[t] < most]
            if not open_targets:
                return None, any(self.running.values())
            target = max(open_targets, key=self.left)
            wanted = max(self.left(target), min(self.SHORTEST, self.options.seconds))
            seconds = min(self.options.round, wanted, seconds)
            self.running[target] += 1
            self.planned[target] += seconds
            return target, seconds

    def work(self):
        while True:
            target, seconds = self.next()
            if target is None:
                if not seconds:
                    return
                time.sleep(0.5)
                continue
            result, _ = self.fuzzer.run(target, seconds)
            with self.lock:
                self.running[target] -= 1
                self.planned[target] -= seconds
                self.totals[target].add(result)
            if result.finding:
                print(f"FOUND {target}: {result.finding}", flush=True)

    def run(self):
        threads = [threading.Thread(target=self.work) for _ in range(self.options.jobs)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return self.totals


def write_report(path, options, totals):
    with open(path + ".json", "w", encoding="utf-8") as file:
        json.dump({"jobs": options.jobs, "seed": options.seed, "targets": {t: r.as_dict() for t, r in totals.items()}}, file,
                  indent=1)
    with open(path + ".md", "w", encoding="utf-8") as file:
        file.write("| target | executions | CPU s | per s | edges | corpus | findings |\n|---|--:|--:|--:|--:|--:|---|\n")
        file.writelines(f"| `{t}` | {int(r.executions):,} | {r.seconds:,.0f} | {r.rate:,.0f} | {r.edges} | {r.corpus} | "
                        f"{r.finding or 'none'} |\n" for t, r in totals.items())


def campaign(fuzzer, targets):
    totals = Campaign(fuzzer, targets).run()
    if fuzzer.options.report:
        write_report(fuzzer.options.report, fuzzer.options, totals)
    print(f"{'target':14} {'executions':>11} {'CPU s':>7} {'per s':>7} {'edges':>7} {'features':>8} {'corpus':>6} "
          f"{'MiB':>5} {'slowest s':>9}  finding")
    for t in targets:
        r = totals[t]
        print(f"{t:14} {int(r.executions):11,} {r.seconds:7.0f} {r.rate:7.0f} {r.edges:7} "
              f"{r.features:8} {r.corpus:6} {r.megabytes:5} {r.slowest:9}  {r.finding or 'none'}")
    found = [t for t in targets if totals[t].finding]
    print(f"{len(targets)} targets, {int(sum(r.executions for r in totals.values())):,} executions, {len(found)} with findings")
    return 1 if found else 0


def self_test(fuzzer, targets):
    """Every target finds its own defect; one finds what ends any input."""
    plants = [(t, "target", TARGET_PLANT) for t in targets]
    plants += [("policy" if "policy" in targets else targets[0], kind, words) for kind, words in COMMON_PLANTS.items()]
    missed = []

    def one(target, plant, words):
        result, text = fuzzer.run(target, fuzzer.options.self_test_seconds, plant)
        found = bool(re.search(words, text)) and bool(result.finding)
        print(f"{'found ' if found else 'MISSED'} {target:14} {plant:7} {result.wall:5.1f} s "
              f"{int(result.executions):9,} executions  {result.finding}", flush=True)
        if not found:
            missed.append(target)

    with concurrent.futures.ThreadPoolExecutor(fuzzer.options.jobs) as pool:
        list(pool.map(lambda plant: one(*plant), plants))
    print(f"{len(plants) - len(missed)} of {len(plants)} planted defects found")
    return 1 if missed else 0


def main():
    options = arguments()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if not os.path.exists(os.path.join(options.bin, PROGRAM)):
        print(f"{options.bin} has no {PROGRAM}")
        return 2
    fuzzer = Fuzzer(options)
    known = fuzzer.targets()
    unknown = [t for t in options.targets if t not in known]
    if unknown:
        print(f"no target {', '.join(unknown)}; there are {', '.join(known)}")
        return 2
    targets = options.targets or known
    return self_test(fuzzer, targets) if options.self_test else campaign(fuzzer, targets)


if __name__ == "__main__":
    sys.exit(main())
