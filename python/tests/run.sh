#!/usr/bin/env bash
# Puts a wheel together from a build folder, installs it into a fresh virtual environment and runs pytest
# there. Exit code 77, with the reason: skipped.
#   run.sh BUILD_DIR      AICF_PYTHON names an interpreter with the packages of python/requirements.txt
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
build=$1
python=${AICF_PYTHON:-python3}
skip() { echo "skipped: $*"; exit 77; }

[ -n "$(find "$build/python/aicf" -name '_native*.so' 2>/dev/null)" ] ||
  skip "the build has no Python module (AICF_BUILD_PYTHON=ON)"
"$python" -c 'import numpy, onnx, pytest, nanobind, scikit_build_core' 2>/dev/null ||
  skip "$python lacks the packages of python/requirements.txt and tests/properties/requirements.txt"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export PIP_DISABLE_PIP_VERSION_CHECK=1 PYTHONDONTWRITEBYTECODE=1
"$python" -m pip wheel --quiet --no-deps --no-build-isolation --wheel-dir "$work" "$root" \
  -C build-dir="$work/build" -C cmake.define.AICF_PREBUILT="$build"
"$python" -m venv "$work/venv"
"$work/venv/bin/python" -m pip install --quiet --no-deps --no-index "$work"/aicf-*.whl
# numpy, onnx and pytest are those of the interpreter that the wheel was made with.
site=$("$python" -c 'import numpy, os; print(os.path.dirname(os.path.dirname(numpy.__file__)))')
echo "$site" >"$(echo "$work"/venv/lib/python3.*/site-packages)/tools.pth"
export AICF_FAKE_CUDA=$build/python/fake_cuda
cd "$work"
"$work/venv/bin/python" -m pytest -q -p no:cacheprovider "$root/python/tests"
