#!/usr/bin/env bash
# All tests, from a fresh clone: installs what is missing, builds, runs. Tests that need a GPU, or data
# that is not there, say so and are skipped. Arguments are ctest's.
cd "$(dirname "$0")/.."
. scripts/common.sh

install_packages "${test_packages[@]}"
find_nvrtc
find_python
models/fetch.sh ppocr "$root/build/models/ppocr"
export AICF_PPOCR_MODELS=$root/build/models/ppocr
models/fetch.sh smollm2 "$root/build/models/smollm2"
export AICF_TEST_SMOLLM2=$root/build/models/smollm2/smollm2.gguf

# Larger collections than those that come with the packages, each a folder or an archive of one:
#   AICF_TEST_MODELS  models with inputs and reference outputs, and a manifest.json
#   AICF_ONNX_SUITE   the ONNX standard's test cases; by default what libonnx-testdata installed
for collection in AICF_TEST_MODELS AICF_ONNX_SUITE; do
  if [ -n "${!collection:-}" ]; then
    folder=$(unpacked "${!collection}")
    export "$collection=$folder"
  fi
done

scripts/check_layers.sh
build dev all -DAICF_BUILD_PYTHON=ON -DPython_EXECUTABLE="$AICF_PYTHON"
ctest --test-dir "$root/build/dev" --output-on-failure --no-tests=error -j "$(nproc)" "$@"

# What reads files from outside, and the runtime, runs again under AddressSanitizer and
# UndefinedBehaviorSanitizer; then a minute of fuzzing for every target, and the defects that it has to find
# (tests/fuzz). AICF_FUZZ_SECONDS asks for more or less.
export AICF_FUZZ_SECONDS=${AICF_FUZZ_SECONDS:-60}
build fuzz "base_test schema_test compiler_test runtime_test aicf-fuzz"
ctest --test-dir "$root/build/fuzz" --output-on-failure --no-tests=error -j "$(nproc)" \
  -R '^(base|schema|compiler|runtime)_test$'
tests/fuzz/check.sh "$root/build/dev/bin" "$root/build/fuzz"

# Sessions on many threads, and what the units have of threads, run again under ThreadSanitizer, which needs a
# place in memory that addresses do not reach where they are less random.
less_random=()
[ "$(cat /proc/sys/vm/mmap_rnd_bits 2>/dev/null || echo 0)" -le 28 ] || less_random=(setarch "$(uname -m)" -R)
if "${less_random[@]}" true 2>/dev/null; then
  build tsan "endure threads_tests threaded_units"
  "${less_random[@]}" ctest --test-dir "$root/build/tsan" --output-on-failure --no-tests=error -j "$(nproc)" \
    -R '^(endurance_|threads_tests$|threaded_units$)'
else
  say "skipped: ThreadSanitizer, because the system places memory where it cannot look and lets nobody change that"
fi
