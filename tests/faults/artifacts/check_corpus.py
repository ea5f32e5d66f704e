"""Every hostile artifact of the corpus through aicf-run: its exit code, one line that names what is wrong, and soon.

check_corpus.py AICF-RUN FOLDER
"""

import pathlib
import subprocess
import sys

SECONDS = 10


def judge(tool, path, code, sentence):
    command = [tool, path, "--duration=0", "--warm-up=0", "--iterations=1", "--max-operations=1e9"]
    try:
        done = subprocess.run(command, capture_output=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return f"no end within {SECONDS} s"
    error = done.stderr.decode(errors="replace")
    if done.returncode != code:
        return f"exit code {done.returncode}, expected {code}: {error.strip()}"
    if error.count("\n") != (code != 0) or sentence not in error:
        return f"expected one line with '{sentence}': {error.strip()}"
    return ""


def main():
    tool, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    rows = [line.split("\t") for line in (folder / "manifest.tsv").read_text().splitlines()]
    listed = {name for name, _, _ in rows}
    wrong = [f"{path.name}: not in the manifest" for path in folder.glob("*.aicf") if path.stem not in listed]
    for name, code, sentence in rows:
        why = judge(tool, str(folder / (name + ".aicf")), int(code), sentence)
        if why:
            wrong.append(f"{name}: {why}")
    print("\n".join(wrong + [f"{len(rows)} files, {len(wrong)} wrong"]))
    return 1 if wrong or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
