"""The tables of compare_torch.py."""

import collections

PROFILE_ROWS = 15


def us(ms):
    return f"{ms * 1e3:.1f}"


def short(flags):
    """Flags without the folders of files."""
    return " ".join(part.split("=")[0] + "=" + part.split("=", 1)[1].rsplit("/", 1)[-1] if "=" in part else part
                    for part in flags.split())


def head(facts, args):
    return [f"Device: {facts['device']} (name, driver); {facts['aicf']}; PyTorch {facts.get('torch', '?')}, "
            f"cuDNN {facts.get('cudnn', '?')}, {args.dtype}", f"Command: {facts['command']}"]


def main_rows(rows):
    for row in rows:
        forms, best = row["torch"]["forms"], row.get("best_torch")
        made = row["aicf"].get(row.get("best_aicf") or "", {})
        yield [row["model"], *(us(forms[f]["latency_ms"]) if f in forms else "-"
                               for f in ("eager", "reduce-overhead", "max-autotune")),
               us(made["latency_ms"]) if made else "none right",
               f"{row['ratio_latency_ms']:.2f}" if made else "-",
               us(forms[best]["gpu_ms"]) if best else "-", us(made["gpu_ms"]) if made else "-",
               f"{row['ratio_gpu_ms']:.2f}" if made else "-",
               short(row["best_aicf"]) if made else "-"]


MAIN = ["model", "eager", "compile", "autotune", "aicf", "ratio", "torch GPU", "aicf GPU", "ratio GPU", "aicf's flags"]


def detail_rows(rows):
    for row in rows:
        for form, made in row["torch"]["forms"].items():
            yield [row["model"], f"torch {form}", us(made["latency_ms"]), us(made["gpu_ms"]),
                   f"{made['error']['max']:.1e}", f"{made['error']['rms']:.1e}", ""]
        for form, why in row["torch"]["failures"].items():
            yield [row["model"], f"torch {form}", "-", "-", "-", "-", why[:120]]
        for flags, made in row["aicf"].items():
            if "problem" in made:
                yield [row["model"], f"aicf {short(flags)}", "-", "-", "-", "-", made["problem"][-200:]]
            else:
                yield [row["model"], f"aicf {short(flags)}", us(made["latency_ms"]), us(made["gpu_ms"]),
                       f"{made['error']['max']:.1e}", f"{made['error']['rms']:.1e}",
                       f"{made['steps']} steps" + ("" if made.get("right") else ", too inaccurate")]


DETAIL = ["model", "form", "latency us", "GPU us", "max error", "RMS error", "note"]


def rate(amount, ms, unit, digits):
    """amount per time in `unit`; a step that took no measurable time has none."""
    return f"{amount / ms / unit:.{digits}f}" if ms > 0 else "-"


def by_kernel(profile):
    """(kernel, us, steps, GB/s, TFLOP/s) by falling time, of one profile."""
    sums = collections.defaultdict(lambda: [0.0, 0, 0.0, 0.0])
    for step in profile:
        total = sums[step["kernel"]]
        for place, value in enumerate((step["ms"], 1, step["bytes"], step["flop"])):
            total[place] += value
    for kernel, (ms, count, moved, flop) in sorted(sums.items(), key=lambda item: -item[1][0])[:PROFILE_ROWS]:
        yield [kernel, us(ms), str(count), us(ms / count), rate(moved, ms, 1e6, 0), rate(flop, ms, 1e9, 1)]


def slowest(profile):
    for step in sorted(profile, key=lambda s: -s["ms"])[:PROFILE_ROWS]:
        yield [str(step["step"]), step["kernel"], us(step["ms"]), rate(step["bytes"], step["ms"], 1e6, 0),
               rate(step["flop"], step["ms"], 1e9, 1), step.get("grid", ""), step.get("block", ""),
               " ".join(step["sources"])[:60]]


KERNELS = ["kernel", "us", "steps", "us each", "GB/s", "TFLOP/s"]
STEPS = ["step", "kernel", "us", "GB/s", "TFLOP/s", "grid", "block", "nodes"]


def profiles(rows):
    """(title, header, rows) of every profile: by kernel, and the slowest steps."""
    for row in rows:
        for flags, made in row["aicf"].items():
            if "profile" in made:
                where = f"{row['model']}, {short(flags)}"
                yield f"{where}: by kernel", KERNELS, list(by_kernel(made["profile"]))
                yield f"{where}: slowest steps", STEPS, list(slowest(made["profile"]))


def aligned(header, rows):
    rows = [header, *rows]
    widths = [max(len(row[i]) for row in rows) for i in range(len(header))]
    return [" ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows]


def piped(header, rows):
    return ["| " + " | ".join(cells) + " |" for cells in [header, ["---"] * len(header), *rows]]


EXPLAINED = ("Medians in us. eager, compile, autotune, aicf: from the call to the results, each one CUDA graph. "
             "GPU: replays back to back. ratio: PyTorch's fastest over aicf; above 1 aicf is faster.")


def text(facts, args, rows):
    lines = [*head(facts, args), EXPLAINED, *aligned(MAIN, list(main_rows(rows))), "",
             *aligned(DETAIL, list(detail_rows(rows)))]
    for title, header, table in profiles(rows):
        lines += ["", title, *aligned(header, table)]
    return "\n".join(lines)


def markdown(facts, args, rows):
    lines = ["# aicf beside PyTorch", "", *head(facts, args), "", EXPLAINED, "", *piped(MAIN, list(main_rows(rows))),
             "", "## Every form", "", *piped(DETAIL, list(detail_rows(rows)))]
    for title, header, table in profiles(rows):
        lines += ["", f"## {title}", "", *piped(header, table)]
    return "\n".join(lines) + "\n"
