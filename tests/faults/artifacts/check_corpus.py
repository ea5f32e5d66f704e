"""Every hostile artifact of the corpus through aicf-run: its exit code, its one line, and soon.

check_corpus.py AICF-RUN FOLDER [--update]
"""

import os
import pathlib
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.dirname(HERE), os.path.join(os.path.dirname(HERE), "corpus")]

import messages  # noqa: E402
from artifact_files import manifest, row_of  # noqa: E402
from process import Run  # noqa: E402

SECONDS, MEBIBYTES = 10, 2048


def judge(run, code, sentence, expected, found):
    if run.timed_out:
        return f"no end within {SECONDS} s"
    if run.exit_code != code:
        return f"exit code {run.exit_code}, expected {code}: {run.err.strip()}"
    if run.err.count("\n") != (code != 0) or sentence not in run.err:
        return f"expected one line with '{sentence}': {run.err.strip()}"
    if run.kibibytes > MEBIBYTES * 1024:
        return f"{run.kibibytes // 1024} MiB"
    return "" if found == expected else f"says '{found}', expected '{expected}'"


def main():
    tool, folder, update = sys.argv[1], pathlib.Path(sys.argv[2]).resolve(), "--update" in sys.argv[3:]
    rows = manifest(folder)
    listed = {name for name, *_ in rows}
    wrong = [f"{path.name}: not in the manifest" for path in folder.glob("*.aicf") if path.stem not in listed]
    known, said = messages.load(), {}
    for name, code, sentence, flags in rows:
        command = [tool, str(folder / (name + ".aicf")), "--duration=0", "--warm-up=0", "--iterations=1",
                   "--max-operations=1e9", *flags]
        run = Run(command, SECONDS)
        key = f"{row_of(name)} {name}"
        said[key] = messages.normal(run.err, str(folder))
        why = judge(run, code, sentence, said[key] if update else known.get(key), said[key])
        if why:
            wrong.append(f"{name}: {why}")
    if update:
        messages.update(said)
    print("\n".join(wrong + [f"{len(rows)} files, {len(wrong)} wrong"]))
    return 1 if wrong or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
