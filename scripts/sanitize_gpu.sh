#!/usr/bin/env bash
# sanitize_gpu.sh BIN [SHARE]: compute-sanitizer's four tools over the kernel tests of every family, on this
# machine's GPU.
#
# BIN is a folder with conformance_tests. Of each family's cases every SHARE-th runs (default 20); each buffer is an
# allocation of its own. Families run beside each other, because most of the time is the host's. Needs NVRTC and
# compute-sanitizer. Prints a line per tool and family that has findings, then a line per tool; exit code 1 when
# there are any. Environment: AICF_SANITIZE_TOOLS and AICF_SANITIZE_FAMILIES, with blanks between;
# AICF_SANITIZE_SECONDS for each run; AICF_SANITIZE_LOGS, a folder for what the tools printed.
set -uo pipefail
[ $# -ge 1 ] || { sed -n 2,9p "$0"; exit 2; }
bin=$1/conformance_tests
share=${2:-20}
tools=${AICF_SANITIZE_TOOLS:-memcheck racecheck initcheck synccheck}
families=${AICF_SANITIZE_FAMILIES:-$("$bin" --gtest_list_tests --gtest_filter='GpuFamilies/*RandomCases*' |
  sed -n 's,^ *RandomCases/\([a-z_0-9]*\).*,\1,p')}
logs=${AICF_SANITIZE_LOGS:-$(mktemp -d)}
mkdir -p "$logs"
export AICF_TEST_SANITIZE=$share AICF_TEST_KERNEL_CACHE=${AICF_TEST_KERNEL_CACHE:-$logs/kernels}

# API errors are no findings: the number of a kernel's parameters is found by asking for one too many.
sanitize() {
  local tool=$1 family=$2 log=$logs/$1.$2.log
  timeout "${AICF_SANITIZE_SECONDS:-600}" compute-sanitizer --tool "$tool" --error-exitcode 9 \
    $([ "$tool" = memcheck ] && echo --report-api-errors no) \
    "$bin" --gtest_brief=1 --gtest_filter="GpuFamilies/*/$family" > "$log" 2>&1
  echo $? > "$log.rc"
}

# Without a tool first: results are right, and every tool finds the kernels compiled.
"$bin" --gtest_brief=1 --gtest_filter="$(for f in $families; do printf 'GpuFamilies/*/%s:' "$f"; done)" \
  > "$logs/plain.log" 2>&1 || echo "without a tool: $(grep -c Failure "$logs/plain.log") failures"
bad=0
for tool in $tools; do
  for family in $families; do sanitize "$tool" "$family" & done
  wait
  clean=0
  for family in $families; do
    log=$logs/$tool.$family.log
    if [ "$(cat "$log.rc")" = 0 ] && grep -q 'ERROR SUMMARY: 0 errors\|RACECHECK SUMMARY: 0 hazards' "$log"; then
      clean=$((clean + 1))
    else
      echo "$tool $family: exit $(cat "$log.rc"), $(grep 'SUMMARY' "$log" | tail -1)"
      bad=1
    fi
  done
  echo "$tool: $clean of $(wc -w <<< "$families") families clean"
done
exit $bad
