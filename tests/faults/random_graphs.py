"""Random graphs: every way of compiling one gives the same results, those of an evaluation in float64.

    random_graphs.py --bin build/dev/bin [--count 100] [--seconds 600] [--seed 1] [--jobs 32]

A graph of 3 to 25 steps (an op, or the ops that an exporter writes for a layer) is evaluated by numpy while it is
made. It is compiled for this CPU, for cpu:baseline and for a CUDA target (planned, run by the reference kernels),
with every pass that can be disabled on, with all of them off, and with two of them off in turn, so that over many
graphs each pass is off on its own; once for another target; once with values stored in 16 bits, and once with
products in another math mode. One artifact of each graph is compiled again from the program that it carries, to the
same bytes. Some graphs have an open batch axis and are compiled with two buckets, some have a state and are run three
times. One process (serve_graphs) compiles and runs them all.

Exit code 1 where a compilation or a run fails, the process ends, or a result is off by more than 1e-4 of the largest
magnitude and by more than what roundings explain. What they do to a result is measured: the graph is evaluated with
every constant and every value that is stored on the way, in bodies of loops, too, off by as much as a rounding may
change, three times, and up to 256 times where that does not explain the result, then also with some values
that are not stored and stay as they are. Results in f32 that roundings take
beyond 1e-4 are counted, and so are those in 16 bits of which roundings may change half.

--plant KEY makes the CPU kernel KEY wrong in one element, --plant-precision fp16 or bf16 stores values in these 16 bits
also where results are judged as of a finer format; exit code 0 then means that this was found.
"""

import argparse
import collections
import itertools
import json
import multiprocessing
import os
import signal
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "graphs"), os.path.join(HERE, "corpus")]
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import numpy as np  # noqa: E402

from graph import Noise  # noqa: E402
from grown import grown  # noqa: E402
from server import Ended, Server  # noqa: E402

TOLERANCE = 1e-4
TARGETS = ("cpu", "cpu:baseline", "cuda:sm_90a")
FURTHER_TARGETS = ("cpu:avx2", "cuda:sm_80", "cuda:sm_89", "cuda:sm_100a", "cuda:sm_120")
# `unit` and `least` are what a rounding changes at most: part of a normal number, and the distance where numbers are
# smaller. `allowance` is how many times as far a result may be off as samples of roundings take it. A kernel's function
# of f32 may be off by six times a rounding (tanh in a product's epilogue, kernels/cpu/common/vector_functions.def), and
# its sums by a few; one that stores 16 bits by twice a rounding (docs/arithmetic.md). And samples do not show the
# largest change that there may be.
Format = collections.namedtuple("Format", "unit least allowance")
FORMATS = {"fp32": Format(2.0**-24, 2.0**-150, 8), "tf32": Format(2.0**-11, 2.0**-137, 4),
           "fp16": Format(2.0**-11, 2.0**-25, 4), "bf16": Format(2.0**-8, 2.0**-134, 4)}
LARGEST_OF_FP16 = 65504
# More are taken where few do not explain a result, since few may all happen to change a single number little. The first
# round every value; of the others, every second one leaves out values that a fused kernel may never store.
SAMPLES = (3, 32, 256)
RUNS_OF_STATES = 3


def passes_of(bin_dir):
    text = subprocess.run([os.path.join(bin_dir, "serve_graphs"), "--passes"], capture_output=True, text=True,
                          check=True).stdout
    return list(dict.fromkeys(text.split()))


def ways_of(graph, seed, passes):
    """Options of serve_graphs for each way; "off" are the passes that are disabled."""
    ways = [{"target": target} for target in TARGETS]
    # The artifact, compiled again from the program that it carries, has to have the same bytes.
    ways[seed % len(ways)]["again"] = True
    ways += [{"target": target, "off": passes} for target in ("cpu", "cuda:sm_90a")]
    for k in range(2):
        ways.append({"target": TARGETS[(seed + k) % 3], "off": [passes[(2 * seed + k) % len(passes)]]})
    ways.append({"target": FURTHER_TARGETS[seed % len(FURTHER_TARGETS)]})
    if graph.smooth:
        target = "cuda:sm_90a" if seed % 2 else "cpu"
        ways.append({"target": target, "precision": ("fp16", "bf16")[seed // 2 % 2]})
        ways.append({"target": "cuda:sm_90a", "math": ("tf32", "fp16", "bf16")[seed % 3]})
    return ways


def format_of(way):
    """The name of the coarsest format that a way rounds values to."""
    return way.get("precision", way.get("math", "fp32"))


def feeds_of(graph, seed):
    """Inputs of every run, one after the other."""
    if graph.batch is None:
        return [dict(graph.feeds)] * (RUNS_OF_STATES if graph.states else 1)
    rng = np.random.default_rng(seed)
    others = [graph.batch + 2, 1]
    return [dict(graph.feeds)] + [
        {name: rng.uniform(-1, 1, (n, *a.shape[1:])).astype(np.float32) if a.dtype == np.float32 else a
         for name, a in graph.feeds.items()} for n in others]


def evaluate(graph, feeds, noise=None):
    """Values after each run; states go on."""
    values, carried = [], {}
    for one in feeds:
        values.append(graph.evaluate({**one, **carried}, noise))
        carried = {past: np.asarray(values[-1][present], np.float32) for past, present in graph.states}
    return values


class Expected:
    """What runs have to give, and how far roundings may take them from it."""

    def __init__(self, graph, feeds):
        self.graph, self.feeds = graph, feeds
        self.values, self.samples = evaluate(graph, feeds), {}

    def spread(self, form, count, run, name):
        """The largest change of a value among `count` evaluations with noise, and what storing it may change."""
        samples = self.samples.setdefault(form, [])
        unit, least, _ = FORMATS[form]
        samples += [evaluate(self.graph, self.feeds, Noise(unit, least, k, k >= SAMPLES[0] and k % 2 == 0))
                    for k in range(len(samples), count)]
        want = self.values[run][name]
        changes = [np.abs(noisy[run][name] - want).max(initial=0) for noisy in samples[:count]]
        return max(changes) + unit * np.abs(want).max(initial=0)

    def overflows(self, run, form):
        """Whether the 5 bits of a format's exponents may be too few for a value on the way."""
        return form == "fp16" and max(np.abs(v).max(initial=0) for v in self.values[run].values()) > LARGEST_OF_FP16 / 8

    def judge(self, run, name, got, form):
        """"", "ill-conditioned", or how far the result is off."""
        want = self.values[run][name]
        if got.shape != want.shape:
            return f"{name} is {got.shape}, not {want.shape}"
        if not np.isfinite(got).all():
            return "ill-conditioned" if self.overflows(run, form) else f"{name} is not finite (run {run})"
        off, size = (np.abs(a).max(initial=0) for a in (got.astype(np.float64) - want, want))
        if off <= TOLERANCE * max(1, size):
            return ""
        for count in SAMPLES:
            allowed = FORMATS[form].allowance * self.spread(form, count, run, name)
            if off <= allowed:
                return "ill-conditioned" if form == "fp32" or allowed > 0.5 * size else ""
        return f"{name} is off by {off:.3g} of {size:.3g} (run {run}, allowed {allowed:.3g})"


def questions(graph, feeds, ways):
    """Tensors, and the ways with their runs."""
    pasts = {past for past, _ in graph.states}
    tensors, runs = [], []
    for one in feeds:
        names = [n for n in one if n not in pasts]
        runs.append(list(range(len(tensors), len(tensors) + len(names))))
        tensors += [(n, np.asarray(one[n], order="C")) for n in names]
    for way in ways:
        way["states"] = graph.states
        if graph.batch is None:
            way["runs"] = runs
            continue
        way["buckets"] = [{"name": f"b{k}", "shapes": {n: a.shape for n, a in feeds[k].items()}} for k in range(2)]
        # The last one is padded, where an entry point allows that.
        way["runs"] = runs
    return tensors, ways


def planted(ways, precision):
    """The ways as they are compiled where values lose bits of which the judge does not know."""
    finer = [form for form, f in FORMATS.items() if f.unit < FORMATS[precision].unit]
    return [{**way, "precision": precision} if format_of(way) in finer else way for way in ways]


def label(seed, way):
    off = way.get("off", [])
    without = "" if not off else f", without {off[0] if len(off) == 1 else 'any pass'}"
    return f"seed {seed}, {way['target']} {format_of(way)}{without}"


def refused_padding(graph, answer):
    return graph.batch is not None and answer["stage"] == "run" and "no entry point takes" in answer["message"]


def judge_way(graph, expected, ends, way, answer, counts):
    """Failures of one way."""
    if isinstance(answer, dict) and not refused_padding(graph, answer):
        return [f"{answer['stage']} ended with {answer['code']}: {answer['message'][:300]}"]
    runs = answer.get("runs", []) if isinstance(answer, dict) else answer
    states = {present for _, present in graph.states}
    found = []
    for run, outputs in enumerate(runs):
        for name in ends:
            if name in states:
                continue
            if name not in outputs:
                found.append(f"there is no output {name}")
                continue
            verdict = expected.judge(run, name, outputs[name], format_of(way))
            counts["results"] += 1
            if verdict == "ill-conditioned":
                counts["ill-conditioned results"] += 1
            elif verdict:
                found.append(verdict)
    return found


def keep_model(options, seed, model, feeds):
    if options.keep:
        os.makedirs(options.keep, exist_ok=True)
        with open(os.path.join(options.keep, f"{seed}.onnx"), "wb") as file:
            file.write(model)
        np.savez(os.path.join(options.keep, f"{seed}.npz"), **feeds[0])


def check(seed):
    """(what is wrong with the graph of a seed, counts)."""
    counts, found = collections.Counter(), []
    graph = grown(seed)
    ends = graph.outputs()
    model = graph.model(ends)
    feeds = feeds_of(graph, seed)
    expected = Expected(graph, feeds)
    tensors, ways = questions(graph, feeds, ways_of(graph, seed, worker.passes))
    counts.update({f"op {node.op_type}": 1 for node in graph.nodes})
    loses = worker.options.plant_precision
    asked = planted(ways, loses) if loses else ways
    done = 0
    try:
        for way, answer in zip(ways, worker.server.ask(model, tensors, asked)):
            done += 1
            counts["ways"] += 1
            counts.update(f"off {p}" for p in way.get("off", []) if len(way["off"]) == 1)
            found += [f"{label(seed, way)}: {text}" for text in judge_way(graph, expected, ends, way, answer, counts)]
    except Ended as ended:
        found.append(f"{label(seed, ways[min(done, len(ways) - 1)])}: {ended}")
    if found:
        keep_model(worker.options, seed, model, feeds)
    counts["graphs"] += 1
    counts["nodes"] += len(graph.nodes)
    counts["graphs with a batch axis"] += graph.batch is not None
    counts["graphs with a state"] += bool(graph.states)
    return found, counts


class Worker:
    def __init__(self, options, passes):
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        plant = [f"--plant={options.plant}"] if options.plant else []
        self.options, self.passes = options, passes
        self.server = Server([os.path.join(options.bin, "serve_graphs"), *plant])


def begin(options, passes):
    global worker
    worker = Worker(options, passes)


def summary(options, counts, failures, seconds, passes):
    ops = sorted(k[3:] for k in counts if k.startswith("op "))
    off = [counts[f"off {p}"] for p in passes]
    return {"seed": options.seed, "graphs": counts["graphs"], "nodes": counts["nodes"], "ways": counts["ways"],
            "results": counts["results"], "ill_conditioned_results": counts["ill-conditioned results"],
            "graphs_with_a_batch_axis": counts["graphs with a batch axis"],
            "graphs_with_a_state": counts["graphs with a state"], "ops": len(ops), "op_names": ops,
            "passes": len(passes), "least_times_a_pass_was_off": min(off), "failures": failures,
            "seconds": round(seconds, 1)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--bin", required=True)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=1e9, help="no new graph after so long")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--keep", help="directory that keeps the models of graphs that fail")
    parser.add_argument("--summary", help="file for the counts, as JSON")
    parser.add_argument("--plant", help="key of a CPU kernel that shall be wrong")
    parser.add_argument("--plant-precision", choices=("fp16", "bf16"), help="what values shall be stored in")
    options = parser.parse_args()
    passes = passes_of(options.bin)
    began, counts, failures = time.monotonic(), collections.Counter(), 0

    def seeds():
        for seed in range(options.seed, options.seed + options.count):
            if time.monotonic() - began > options.seconds:
                return
            in_flight.acquire()
            yield seed

    in_flight = multiprocessing.Semaphore(4 * options.jobs)
    with multiprocessing.Pool(options.jobs, begin, (options, passes)) as pool:
        for found, more in pool.imap_unordered(check, seeds()):
            in_flight.release()
            counts.update(more)
            failures += bool(found)
            for text in itertools.islice(found, 3):
                print(f"FAIL {text}", flush=True)
    result = summary(options, counts, failures, time.monotonic() - began, passes)
    if options.summary:
        with open(options.summary, "w") as file:
            json.dump(result, file, indent=1)
    print(json.dumps({k: v for k, v in result.items() if k != "op_names"}))
    if options.plant or options.plant_precision:
        print("the planted defect was found" if failures else "the planted defect was missed")
        return 0 if failures else 1
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
