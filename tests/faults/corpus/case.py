"""One row of the corpus: what is made, what is run, and how it has to end."""

import os
from dataclasses import dataclass
from typing import Callable

CASES = []


@dataclass
class Case:
    row: str  # of the catalogue of faults: "A3", "G4"
    name: str
    make: Callable  # folder -> the arguments of aicf-compile; writes what they name into the folder
    code: int  # exit code
    message: str  # part of the one line on stderr; where the code is 0, of stdout
    after: Callable = None  # folder -> None, or what is wrong there afterwards


def case(row, name, code, message, after=None):
    """Declares a case: its function writes files into a folder and returns the arguments."""

    def add(make):
        CASES.append(Case(row, name, make, code, message, after))
        return make

    return add


def put(folder, name, content):
    """Writes a file and gives its path."""
    path = os.path.join(folder, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(content)
    return path


def model(row, name, code, message):
    """Declares a case that is one file of bytes, compiled with nothing else said."""

    def add(make):
        def write(folder):
            return [put(folder, "model.onnx", make()), "-o", os.path.join(folder, "out.aicf")]

        CASES.append(Case(row, name, write, code, message))
        return make

    return add
