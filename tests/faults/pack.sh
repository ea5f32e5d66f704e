#!/usr/bin/env bash
# pack.sh BIN OUT.tar.xz [SANITISED [MORE]]: what campaign.sh needs on another machine, in one file that unpacks to
# faults/: the programs of the folder BIN without debugging information, mutate_artifacts of the folder SANITISED, the
# scripts, the committed artifacts, and the folder MORE with further ones for a GPU: real/ and index/ (index_operands.py
# --keep) for the bands, new/*.cuda_new.aicf for endurance.
set -euo pipefail
[ $# -ge 2 ] || { sed -n 2,6p "$0"; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
to=$folder/faults
mkdir -p "$to"/{bin,models,tests/{faults,exporters,artifacts,endurance}}
for program in aicf-compile aicf-run aicf-inspect serve_graphs mutate_artifacts failing_calls guard_bands endure gpu_tests; do
  strip -o "$to/bin/$program" "$1/$program"
done
for library in libfail_call.so libfail_alloc.so; do strip -o "$to/bin/$library" "$1/../lib/$library"; done
[ $# -lt 3 ] || strip --strip-debug -o "$to/bin/mutate_artifacts.asan" "$3/mutate_artifacts"
cp -r "$here"/{*.py,*.sh,corpus,graphs} "$to/tests/faults/"
rm -rf "$to/tests/faults/corpus/artifacts"
cp "$root/tests/exporters/builder.py" "$to/tests/exporters/"
cp "$root"/tests/artifacts/{gguf.py,*.aicf} "$to/tests/artifacts/"
cp "$root/tests/endurance/campaign.sh" "$to/tests/endurance/"
"${AICF_PYTHON:-python3}" - "$here" "$to/models/product.onnx" <<'END'
import sys
sys.path.insert(0, sys.argv[1] + "/corpus")
import numpy as np
from onnx import helper
from onnx_models import constant, info, whole
weights = np.random.default_rng(3).random((256, 256)).astype(np.float32)
model = whole([helper.make_node("MatMul", ["x", "w"], ["y"])], [info("x", (64, 256))], [info("y", (64, 256))],
              [constant("w", weights, np.float32)])
open(sys.argv[2], "wb").write(model.SerializeToString())
END
[ $# -lt 4 ] || cp -r "$4" "$to/more"
find "$folder" -name __pycache__ -prune -exec rm -rf {} +
tar -C "$folder" -cf - faults | xz --lzma2=preset=6,dict=128MiB >"$2"
ls -l "$2"
