#!/usr/bin/env python3
"""Switches off every legality check, one after the other, and says which of them no test misses.

    mutate_checks.py [--build build/dev] [--only REGEX] [--survivors] [--table FILE]
    mutate_checks.py --self-test

The sources that decide what is legal (SOURCES) are copied, each refusal's conditions are rewritten so that
an environment variable switches one off (sites.py), and the test programs are linked once with the copies
(scratch.py, under build/mutation). A first run notes which test makes which check refuse; then each check is
switched off for the tests where it refuses, until one fails. A check that no test misses is a survivor: a test
case is lacking, or the check is redundant and belongs into equivalent.txt with the reason. --survivors
looks again at those of the last run only. Exit code 1: there are survivors that equivalent.txt does not name.

The test programs of the build must be up to date. About ten minutes on one core.
"""

import argparse
import collections
import concurrent.futures
import glob
import json
import os
import re
import subprocess
import sys
import time

import scratch
import sites

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
EQUIVALENT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "equivalent.txt")
SOURCES = ["schema/verify*.cc", "schema/loop_tree.cc", "kernels/abi/validate*", "kernels/abi/check_variant.cc",
           "kernels/abi/tensor_map.cc", "kernels/abi/parameters.cc", "kernels/abi/problem.cc",
           "kernels/abi/expr.cc", "kernels/cuda/*/*.cc", "kernels/cuda/*/*.h", "kernels/cpu/*/*host*.h",
           "kernels/cpu/*/info.cc"]
NO_CHECKS = re.compile(r"_test\.cc$|/choose\.cc$|choice")
# Test programs, and which of their tests are asked: those of rules, not those that compute for minutes or
# measure time.
PROGRAMS = {
    "schema_test": "*-*CostGrows*:*AThousandSteps*:*Quickly*:*StayWithinTheBudget*",
    "kernels_test": "Validate*:ExprRules*:CudaRefusals*:CpuRefusals*:TensorMap*:Attention*:Excite*:Expr*:View*"
                    ":Problem*:Parameters*:CudaRows*:MatmulLayout*:CheckVariant*:AppendingAttention*",
    "artifacts_tests": "All/Committed*:Perturbed*",
}
# A check that no test asks for, planted by --self-test: it has to be found.
PLANT = ("kernels/abi/validate.cc", "Status CheckElementwise(const Problem& p) {\n",
         '  if (p.inputs.size() > 4242) return Bad(p, "planted");\n'
         '  if (p.inputs.size() > 0 && p.core_inputs < 0) return Bad(p, "planted, too");\n')


def source_files():
    paths = {p for pattern in SOURCES for p in glob.glob(os.path.join(ROOT, pattern))}
    return sorted(os.path.relpath(p, ROOT) for p in paths if not NO_CHECKS.search(p))


def rewrite_all(tree, plant):
    """Rewrites every source; gives name and place of each site, by number. A file's numbers follow from its
    place in the list of files, so that a change of one leaves the others as they are."""
    names, places, seen = {}, {}, collections.Counter()
    for first, path in enumerate(source_files()):
        with open(os.path.join(ROOT, path)) as f:
            text = f.read()
        if plant and path == PLANT[0]:
            text = text.replace(PLANT[1], PLANT[1] + PLANT[2])
        rewritten, found = sites.rewrite(text, 1000 * first)
        if not found:
            continue
        tree.put(path, rewritten)
        for number, site in enumerate(found, 1000 * first):
            name = f"{path} | {site.text}"
            seen[name] += 1
            names[number] = name if seen[name] == 1 else f"{name} | {seen[name]}"
            places[number] = f"{path}:{site.line}"
    return names, places


def run(program, tests, timeout, **environment):
    """The exit code of some tests of a program, and what it printed."""
    arguments = [program, "--gtest_fail_fast", "--gtest_brief=0", "--gtest_filter=" + ":".join(tests)]
    try:
        done = subprocess.run(arguments, env={**os.environ, **environment}, timeout=timeout, text=True,
                              errors="replace", stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return done.returncode, done.stdout
    except subprocess.TimeoutExpired:
        return 124, ""


def trace(programs, folder):
    """For every site the tests that make it refuse: (milliseconds, program, test), the quickest first."""
    refusing = collections.defaultdict(list)
    for program in programs:
        notes = os.path.join(folder, os.path.basename(program) + ".trace")
        tests = [PROGRAMS[os.path.basename(program)]]
        open(notes, "w").close()  # a program in which nothing refuses writes none
        code, text = run(program, tests, 1800, AICF_MUTANT_TRACE=notes)
        if code != 0:
            sys.exit(f"{program} fails with every check in place:\n{text[-2000:]}")
        times = dict(re.findall(r"^\[       OK \] (\S+?)(?:, where .*)? \((\d+) ms\)$", text, re.M))
        with open(notes) as f:
            for line in f:
                site, test = line.split()
                refusing[int(site)].append((int(times.get(test, 0)), program, test))
    return {site: sorted(tests) for site, tests in refusing.items()}


def batches(tests):
    """Some quick tests first, then the others, each batch of one program and some seconds at most."""
    rest = list(tests)
    while rest:
        program = rest[0][1]
        batch, spent = [], 0
        for test in rest:
            if test[1] == program and len(batch) < (8 if len(rest) == len(tests) else 100) and spent < 20000:
                batch.append(test)
                spent += test[0]
        rest = [t for t in rest if t not in batch]
        yield program, [t[2] for t in batch]


def killer(site, tests):
    """A program that misses the check; None: none does."""
    for program, names in batches(tests):
        if run(program, names, 120, AICF_MUTANT=str(site))[0] != 0:
            return os.path.basename(program)
    return None


def read_equivalent():
    """Site name -> reason. A line is a site's name, ' : ' and one sentence."""
    with open(EQUIVALENT) as f:
        lines = [line.rstrip("\n") for line in f if line.strip() and not line.startswith("#")]
    return dict(line.rsplit(" : ", 1) for line in lines)


def group_of(name):
    path = name.split(" | ")[0]
    parts = path.split("/")
    return "/".join(parts[:2]) if path.startswith("kernels") else parts[0]


def write_table(path, results, equivalent):
    """Counts per folder, and every reason of a check that is kept without a test."""
    counts = collections.defaultdict(collections.Counter)
    for name, result in results.items():
        kind = "killed" if result else "equivalent" if name in equivalent else "survived"
        counts[group_of(name)][kind] += 1
        counts["all"][kind] += 1
    killers = collections.Counter(r for r in results.values() if r)
    lines = ["# Legality checks, each switched off in turn", "",
             "`python3 tests/mutation/mutate_checks.py --table bench/results/verifier_mutation.md`, on a `dev` build; what it",
             "counts depends on no machine.", "",
             "A site is one condition of one refusal, or one use of a shared check. Killed: a test fails without it.",
             "Equivalent: whatever it refuses is refused by another check, or cannot be built; the reasons are in",
             "`tests/mutation/equivalent.txt`.", "",
             "| sources | sites | killed | equivalent | survived |", "|---|---|---|---|---|"]
    for group in sorted(counts, key=lambda g: (g == "all", g)):
        c = counts[group]
        lines.append(f"| {group} | {sum(c.values())} | {c['killed']} | {c['equivalent']} | {c['survived']} |")
    lines += ["", "Killed first by: " + ", ".join(f"`{p}` {n}" for p, n in killers.most_common()) + ".", ""]
    with open(path, "w") as f:
        f.write("\n".join(lines))


def campaign(numbers, names, places, refusing, jobs, expected=()):
    """Site name -> what killed it. Survivors are printed, but for those that are `expected`."""
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        killers = pool.map(lambda site: killer(site, refusing.get(site, [])), numbers)
        results = {}
        for done, (site, found) in enumerate(zip(numbers, killers), 1):
            results[names[site]] = found
            if found is None and names[site] not in expected:
                why = "no test misses it" if site in refusing else "no test makes it refuse"
                print(f"survivor {places[site]}: {names[site].split(' | ', 1)[1]} ({why})", flush=True)
            if done % 100 == 0:
                print(f"  {done} of {len(numbers)}", flush=True)
    return results


def self_test(names, places, refusing):
    planted = [s for s, name in names.items() if "4242" in name or "> 0 && p.core_inputs" in name]
    known = [s for s, name in names.items() if name == "kernels/abi/validate.cc | p.epilogue.empty()"]
    results = campaign(planted + known, names, places, refusing, 1)
    good = all(results[names[s]] is None for s in planted) and all(results[names[s]] for s in known)
    good = good and len(planted) == 2 and len(known) == 1
    print("self-test: " + ("the planted checks survive, a tested one does not" if good else "FAILED"))
    return 0 if good else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default="build/dev", help="a build whose test programs are up to date")
    parser.add_argument("--only", default="", help="sites whose names match this pattern")
    parser.add_argument("--survivors", action="store_true", help="only what survived the last run")
    parser.add_argument("--programs", default=",".join(PROGRAMS), help="test programs")
    parser.add_argument("--jobs", type=int, default=1, help="compilers and tests at once")
    parser.add_argument("--table", help="write the counts to this file")
    parser.add_argument("--self-test", action="store_true", help="plant checks without tests, and find them")
    options = parser.parse_args()
    folder = os.path.join(ROOT, "build", "mutation")
    tree = scratch.Scratch(ROOT, os.path.join(ROOT, options.build), folder, options.jobs)
    names, places = rewrite_all(tree, options.self_test)
    started = time.time()
    objects = tree.compile_all(tree.objects())
    chosen = ["kernels_test"] if options.self_test else options.programs.split(",")
    programs = [tree.link(program, objects) for program in chosen]
    print(f"{len(names)} sites, {len(objects)} objects compiled, {time.time() - started:.0f} s", flush=True)
    refusing = trace(programs, folder)
    if options.self_test:
        return self_test(names, places, refusing)
    store = os.path.join(folder, "results.json")
    results = json.load(open(store)) if os.path.exists(store) else {}
    results = {name: r for name, r in results.items() if name in names.values()}
    numbers = [s for s, name in names.items() if re.search(options.only, name)
               and not (options.survivors and results.get(name))]
    equivalent = read_equivalent()
    results.update(campaign(numbers, names, places, refusing, options.jobs, equivalent))
    with open(store, "w") as f:
        json.dump(results, f, indent=1)
    for name in sorted(set(equivalent) - set(names.values())):
        print(f"equivalent.txt names no site: {name}")
    for name in sorted(n for n in equivalent if results.get(n)):
        print(f"equivalent.txt names a check that a test misses: {name}")
    open_ones = [n for n in names.values() if n in results and results[n] is None and n not in equivalent]
    print(f"{len(results)} of {len(names)} sites judged: {sum(map(bool, results.values()))} killed, "
          f"{len(open_ones)} survivors, {time.time() - started:.0f} s")
    if options.table:
        write_table(options.table, results, equivalent)
    return 1 if open_ones else 0


if __name__ == "__main__":
    sys.exit(main())
