"""Groups E and F: the artifacts that tests/faults/artifacts/corpus.cc writes, as its manifest lists them."""

import pathlib

FOLDER = pathlib.Path(__file__).resolve().parent / "artifacts"


def manifest(folder=FOLDER):
    """(name, exit code, part of the message, more arguments of aicf-run) of each."""
    rows = []
    for line in (pathlib.Path(folder) / "manifest.tsv").read_text().splitlines():
        name, code, sentence, flags = line.split("\t")
        rows.append((name, int(code), sentence, [f.replace("FOLDER", str(folder)) for f in flags.split()]))
    return rows


def row_of(name):
    """"f07_weights_outside" is of row F7; what has a letter alone is of no row but of a finding."""
    letter, number = name[0].upper(), name[1:3]
    return f"{letter}{int(number)}" if letter in "EF" and number.isdigit() else "F"


def names():
    return [f"{row_of(name)} {name}" for name, *_ in manifest()]
