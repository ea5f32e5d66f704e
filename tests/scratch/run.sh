#!/usr/bin/env bash
# run.sh [NAME...]: proves the patches of this folder, or those named, in a copy of the tree: counts the files
# that each touches, builds what it changes, and runs the tests that follow from a row by themselves. The
# copies lie in build/scratch/NAME and are built again quickly; BUILD_TYPE=dev names the CMake preset.
set -euo pipefail
. "$(dirname "$0")/limits.sh"
out=$root/build/scratch

# fresh_tree NAME: the tree as it is now, with what is not yet committed, and the patch.
fresh_tree() {
  local tree=$out/$1/tree
  mkdir -p "$tree"
  # Files that an earlier patch added would stay.
  touched "$1" | (cd "$tree" && xargs rm -f)
  if git -C "$root" rev-parse > /dev/null 2>&1; then
    (cd "$root" && git ls-files -z --cached --others --exclude-standard |
      while IFS= read -r -d '' f; do [ -f "$f" ] && printf '%s\0' "$f"; done |
      tar cf - --null -T -) | tar xf - -C "$tree"
  else
    tar cf - -C "$root" --exclude=./build . | tar xf - -C "$tree"
  fi
  apply "$tree" "$1"
}

# built NAME TARGET...: the compiler's cache is told the tree's root, so that two trees share what is equal.
built() {
  local tree=$out/$1/tree
  shift
  export CCACHE_BASEDIR=$tree CCACHE_NOHASHDIR=1
  (cd "$tree" && cmake --preset "${BUILD_TYPE:-dev}" > configure.log && cmake --build "build/${BUILD_TYPE:-dev}" --target "$@")
  bin=$tree/build/${BUILD_TYPE:-dev}/bin
}

# A variant of an existing family: every test that goes through the registry, then a model with it.
prove_gemm_variant() {
  built gemm_variant kernels_test schema_test conformance_tests aicf-compile aicf-run
  "$bin/kernels_test" --gtest_filter='CudaRows.*:Choice.*'
  "$bin/schema_test" --gtest_filter='Candidates.*'
  "$bin/conformance_tests" --gtest_filter='Families/Variants.*/gemm:Families/Artifacts.*/gemm:Nvrtc.*'
  "$here/pinned_model.sh" "$bin" "$out/gemm_variant"
}

# A family: its text, its rows, its random cases on every backend that this machine has or emulates.
prove_family() {
  built family kernels_test conformance_tests
  "$bin/kernels_test" --gtest_filter='Problem.*:Choice.*:CudaRows.*:Functions.*:CpuFunctions.*'
  "$bin/conformance_tests" --gtest_filter='Families/*/slidemax:Nvrtc.*'
}

for name in "${@:-gemm_variant family}"; do
  for one in $name; do
    counted "$one"
    fresh_tree "$one"
    "prove_$one"
    echo "$one: proven"
  done
done
