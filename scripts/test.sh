#!/usr/bin/env bash
# All tests, from a fresh clone: installs what is missing, builds, runs. Tests that need a GPU, or data
# that is not there, say so and are skipped.
cd "$(dirname "$0")/.."
. scripts/common.sh

install_packages "${test_packages[@]}"
find_nvrtc
find_python
models/ppocr/fetch.sh "$root/build/models/ppocr"
export AICF_PPOCR_MODELS=$root/build/models/ppocr

# The larger collection of models beside the checkout, when it is there.
data=$root/../shared/data
if [ -z "${AICF_TEST_MODELS:-}" ] && [ -e "$data/models.tar.zst" ]; then
  mkdir -p "$root/build/data"
  tar --zstd -xf "$data/models.tar.zst" -C "$root/build/data"
  export AICF_TEST_MODELS=$root/build/data/models
fi

# The ONNX standard's test cases; without them the tests take what libonnx-testdata installed.
if [ -z "${AICF_ONNX_SUITE:-}" ] && [ -e "$data/onnx-suite.tar.zst" ]; then
  mkdir -p "$root/build/data"
  tar --zstd -xf "$data/onnx-suite.tar.zst" -C "$root/build/data"
  export AICF_ONNX_SUITE=$root/build/data/onnx-suite
fi

scripts/check_layers.sh
build dev all -DAICF_BUILD_PYTHON=ON -DPython_EXECUTABLE="$AICF_PYTHON"
ctest --test-dir "$root/build/dev" --output-on-failure --no-tests=error -j "$(nproc)" "$@"

# What reads files from outside, and the runtime, runs again under AddressSanitizer and
# UndefinedBehaviorSanitizer.
build asan "base_test schema_test compiler_test runtime_test"
ctest --test-dir "$root/build/asan" --output-on-failure --no-tests=error -j "$(nproc)" \
  -R '^(base|schema|compiler|runtime)_test$'
