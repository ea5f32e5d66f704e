"""Which case of the corpus, or which test, stands for which row of the catalogue of faults.

A row without either is an error, and so is a test that is named here and is not there."""

import os
import re

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..")
LAST = {"A": 23, "B": 13, "C": 14, "D": 10, "E": 15, "F": 25, "G": 9}
ROWS = [f"{group}{n}" for group, last in LAST.items() for n in range(1, last + 1)]

# Rows, and rows of the groups about libraries and environments, whose faults are no single file or command
# line: the test, what is to be found in it, and what the fault needs instead.
ELSEWHERE = {
    "B6": ("tests/faults/paths/race_paths.cc", "a folder and a link", "two threads: files exchanged while they are opened"),
    "B10": ("compiler/import/onnx_functions_test.cc", "ExternalDataInAFunctionIsConfined",
            "one function reads the data of every tensor, wherever it stands"),
    "B11": ("compiler/import/onnx_tensor_test.cc", "B11 no directory", "a model from memory; the tools read files only"),
    "C14": ("runtime/text/chat_test.cc", "ChatTemplates", "templates are recognised, never run: nothing could be seen"),
    "E1": ("schema/structure_test.cc", "E1BuffersAboveTheLimitNeverReachTheVerifier", "a file of 2 GiB"),
    "E3": ("schema/reader.cc", "aligned_alloc", "sections are read into aligned memory of their own, wherever a file has them"),
    "E6": ("schema/artifact.fbs", "table Program", "the format has no unions"),
    "E10": ("schema/artifact.fbs", "table Program", "the format has no keyed vectors"),
    "E14": ("tests/faults/artifacts/mutate_artifacts.cc", "every-bit", "every bit, with hashes recomputed, and then executed"),
    "F20": ("schema/artifact.fbs", "table Program", "the format has no shape expressions; every extent is a number"),
    "G7": ("tests/cli/output_test.cc", "ClosedDescriptorsNeverReceiveAnOutputFile", "closed descriptors and readers that leave"),
    "H6": ("tests/threads/c_api_test.cc", "TEST", "two threads in one session"),
    "H9": ("runtime/c_api_test.cc", "SessionsOutliveTheirProgramsHandle", "stale handles"),
    "I1": ("tests/cli/endtoend_test.cc", "TEST", "a machine without a GPU"),
    "I6": ("tests/faults/memory/failing_memory.cc", "--plant", "the Nth request for memory fails"),
    "I8": ("tests/cli/output_test.cc", "AFullDiskIsIo", "a full device"),
    "I10": ("tests/faults/kills.py", "SIGKILL", "signals at random moments"),
    "I14": ("schema/reader_test.cc", "AShrinkingFileIsAnError", "a file that changes while it is read"),
    "I15": ("schema/reader_test.cc", "SurvivesReplacementOfTheFile", "a file that is replaced after it was opened"),
}

# What an attack on the project found, each with the cases that keep it closed (a pattern of their names), or a test.
FINDINGS = {
    "Resize attributes that are no number": r"^F r_resize_",
    "real-valued attributes of every family": r"^F r_(fill|epsilon|attention|roi_scale|resize)",
    "pools and RoiAlign that never end": r"^F (r_pool|r_roi|ok_pool)",
    "loops without end in an artifact": r"^F w_",
    "chains of aliases at load": ("schema/verify_memory_test.cc", "ChainsOfAliases", "time, of 100,000 buffers"),
    "a thousand entry points over 100,000 buffers": ("schema/verify_test.cc", "CostGrowsLinearly", "time, of many buffers"),
    "loops and scans of 10^5 and more trips": r"^A22 (Loop of|Scan over)",
    "nested loops": r"^A22 1,000 trips in each",
    "10^5 inputs or outputs": r"^A20 .*(in|out)puts",
    "chains of 10^6 nodes": r"^A20 1,100,000 nodes",
    "folding of non-maximum suppression": r"^A22 non-maximum suppression",
    "long names repeated by unrolling": r"^A22 names of 10 kB",
    "allocations that fail": ("tests/faults/allocations.py", "fail_alloc", "the Nth allocation fails"),
    "exit 70 for a Sum of 10,000 operands": r"^A20 Sum of one operand",
    "exit 70 for names that are no text": r"^A20 (node|value|input) named with",
    "exit 70 for a huge loss": r"^A22 a loss over",
    "counts of 16 bits that wrap": r"^A20 Mean of one operand 65,540 times",
    "overflow of MaxUnpool's kernel": r"^A16 MaxUnpool",
    "overflow of block sizes": r"^A16 (Quantize|Dequantize)Linear in blocks",
    "overflow of DeformConv": r"^A1[67] DeformConv",
    "overflow of com.microsoft.Attention": r"^A18 qkv sizes",
    "messages that repeat a long argument": r"^(A20 an attribute of 200 kB|G9 an argument)",
    "temporary files of killed compilations": ("tests/cli/output_test.cc", "WhatAKilledToolLeftIsSweptByTheNext",
                                               "a process that is killed"),
}


def missing_test(place):
    """Why the test that is said to be elsewhere is not there; empty: it is."""
    path, needle, _ = place
    try:
        with open(os.path.join(ROOT, path), encoding="utf-8") as file:
            return "" if needle in file.read() else f"{path} has no '{needle}'"
    except OSError:
        return f"there is no {path}"


def table(names):
    """(row, what stands for it, what is wrong or empty) of every row and finding. `names` are "ROW name"."""
    rows = []
    for row in ROWS + sorted(r for r in ELSEWHERE if r not in ROWS):
        own = [n.partition(" ")[2] for n in names if n.partition(" ")[0] == row]
        if own:
            rows.append((row, "; ".join(own), ""))
        elif row in ELSEWHERE:
            path, needle, why = ELSEWHERE[row]
            rows.append((row, f"{path}: {needle} ({why})", missing_test(ELSEWHERE[row])))
        else:
            rows.append((row, "", "no case"))
    for finding, cover in FINDINGS.items():
        if isinstance(cover, tuple):
            rows.append((finding, f"{cover[0]}: {cover[1]} ({cover[2]})", missing_test(cover)))
        else:
            own = [n for n in names if re.search(cover, n)]
            rows.append((finding, "; ".join(own), "" if own else "no case"))
    return rows
