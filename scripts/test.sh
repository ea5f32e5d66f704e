#!/usr/bin/env bash
# All tests, from a fresh clone: installs what is missing, builds, runs. Tests that need a GPU, or data
# that is not there, say so and are skipped.
cd "$(dirname "$0")/.."
. scripts/common.sh

install_packages
find_nvrtc
models/ppocr/fetch.sh "$root/build/models/ppocr"
export AICF_PPOCR_MODELS=$root/build/models/ppocr

# The larger collection of models beside the checkout, when it is there.
data=$root/../shared/data
if [ -z "${AICF_TEST_MODELS:-}" ] && [ -e "$data/models.tar.zst" ]; then
  mkdir -p "$root/build/data"
  tar --zstd -xf "$data/models.tar.zst" -C "$root/build/data"
  export AICF_TEST_MODELS=$root/build/data/models
fi

scripts/check_layers.sh
build dev all
ctest --test-dir "$root/build/dev" --output-on-failure --no-tests=error -j "$(nproc)" "$@"

# What reads files from outside runs again under AddressSanitizer and UndefinedBehaviorSanitizer.
build asan "base_test schema_test compiler_test"
ctest --test-dir "$root/build/asan" --output-on-failure --no-tests=error -j "$(nproc)" \
  -R '^(base|schema|compiler)_test$'
