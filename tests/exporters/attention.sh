#!/usr/bin/env bash
# attention.py with the interpreter that AICF_PYTHON names, by default python3. Exit code 77, which CTest
# takes as skipped, where that has neither numpy nor onnx.
export PYTHONDONTWRITEBYTECODE=1
exec "${AICF_PYTHON:-python3}" "$(cd "$(dirname "$0")" && pwd)/attention.py" "$@"
