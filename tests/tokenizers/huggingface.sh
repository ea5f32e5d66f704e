#!/usr/bin/env bash
# huggingface.sh TESTS: Hugging Face's tokenizers, trained here on random text, against this repository's.
# TESTS is tokenizers_tests. Exit code 77, which CTest takes as skipped, where AICF_PYTHON (by default
# python3) has no package tokenizers.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
python=${AICF_PYTHON:-python3}
if ! found=$("$python" -c 'import tokenizers' 2>&1); then
  echo "skipped: $python: ${found##*$'\n'}"
  echo "install: $python -m pip install --no-deps -r $here/requirements.txt"
  exit 77
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
PYTHONDONTWRITEBYTECODE=1 "$python" "$here/huggingface.py" "$folder"
AICF_TOKENIZER_CASES=$folder "$1" --gtest_filter='HuggingFace.*'
