#!/usr/bin/env bash
# Compiles the real models for a target in several math modes: OUT/CASE.MATH.aicf.
#   bench/compile_models.sh BIN MODELS OUT TARGET "fp32 tf32 fp16" [CASE...]
set -euo pipefail
bin=$1 models=$2 out=$3 target=$4 maths=$5
shift 5
mkdir -p "$out"
python3 - "$models" "$@" <<'PY' | while read -r name model shapes; do
import json, pathlib, sys
wanted = sys.argv[2:]
for name, case in json.loads(pathlib.Path(sys.argv[1], "manifest.json").read_text()).items():
    if not case["model"].endswith(".onnx") or (wanted and name not in wanted):
        continue
    shapes = " ".join(f"--shapes={n}:{'x'.join(map(str, i['shape']))}" for n, i in case["inputs"].items())
    print(name, case["model"], shapes)
PY
  for math in $maths; do
    # shellcheck disable=SC2086 # shapes is a list of flags
    "$bin/aicf-compile" "$models/$model" -o "$out/$name.$math.aicf" --force --target="$target" --math="$math" --impossible-branches=nan $shapes \
      >"$out/$name.$math.log" 2>&1 || { echo "$name $math: $(tail -n 1 "$out/$name.$math.log")" >&2; }
  done
done
