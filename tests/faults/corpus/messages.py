"""The exact line on stderr of every case, in messages.json; runs with --update write it."""

import json
import os
import re

FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "messages.json")
LONGEST = 400  # of longer lines the beginning is kept, and how long they are


def normal(err, folder):
    """The line without what differs from run to run: where the files lie."""
    text = err.rstrip("\n").replace(os.path.realpath(folder), "FOLDER").replace(folder, "FOLDER")
    return text if len(text) <= LONGEST else f"{text[:LONGEST]} ({len(re.sub('FOLDER', '', text))} characters)"


def load():
    with open(FILE, encoding="utf-8") as file:
        return json.load(file)


def update(found):
    """Replaces the messages of these cases and keeps the others."""
    known = {**load(), **found} if os.path.exists(FILE) else found
    with open(FILE, "w", encoding="utf-8") as file:
        json.dump(dict(sorted(known.items())), file, indent=0, ensure_ascii=True)
        file.write("\n")
