#!/usr/bin/env bash
# python.sh SCRIPT ARGUMENTS...: a test in Python, with the interpreter that AICF_PYTHON names, by default
# python3. Exit code 77, which CTest takes as skipped, where that has not the packages of requirements.txt.
here=$(cd "$(dirname "$0")" && pwd)
python=${AICF_PYTHON:-python3}
if ! found=$("$python" -c 'import ml_dtypes, numpy, onnx
assert onnx.defs.onnx_opset_version() >= 28, "onnx " + onnx.__version__ + " is too old"' 2>&1); then
  echo "skipped: $python: ${found##*$'\n'}"
  echo "install: $python -m pip install -r $here/properties/requirements.txt"
  exit 77
fi
export PYTHONDONTWRITEBYTECODE=1
exec "$python" "$@"
