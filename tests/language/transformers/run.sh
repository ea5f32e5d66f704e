#!/usr/bin/env bash
# run.sh TESTS: models of transformers with random weights, compiled from the folders that it saves, against its
# results. TESTS is language_tests. Exit code 77, which CTest takes as skipped, where AICF_PYTHON (by default
# python3) has not the packages of requirements.txt.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
python=${AICF_PYTHON:-python3}
if ! found=$("$python" -c 'import torch, transformers' 2>&1); then
  echo "skipped: $python: ${found##*$'\n'}"
  echo "install: $python -m pip install -r $here/requirements.txt"
  exit 77
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export HF_HUB_OFFLINE=1 PYTHONDONTWRITEBYTECODE=1
"$python" "$here/write_cases.py" "$folder"
AICF_TRANSFORMERS_CASES=$folder "$1" --gtest_filter='*Transformers.*'
