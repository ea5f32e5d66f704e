#!/usr/bin/env bash
# campaign.sh OUT SECONDS PART...: the long forms of these tests, the parts beside each other, on a machine that has what
# pack.sh carried there (or in a checkout, with BIN=build/dev/bin). Nothing runs after SECONDS; a part that is cut says so.
#   graphs       random graphs                          GRAPHS (100000), SEED (310000), GRAPH_JOBS (12)
#   allocations  the Nth allocation of a compilation    EVERY (1), FIRST (1), ALLOCATION_JOBS (8)
#   system_calls, kills                                 KILLS (1000)
#   bits         every bit of three artifacts           BIT_JOBS (6)
#   calls        calls into the driver and cuBLASLt that fail, on the GPU CALLS_GPU (1), CALL_JOBS (8)
#   bands        guard bands, on the GPU BANDS_GPU (0)
#   contexts     gpu_tests with all GPUs, before all else
#   endure       tests/endurance/campaign.sh gpu, on the GPU ENDURE_GPU (0); nothing else should use it
# OUT/summary.txt has a line for each, OUT/logs.tar.xz the logs. Exit code 1 when one failed or found something.
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
[ $# -ge 3 ] || { sed -n 2,13p "$0"; exit 2; }
mkdir -p "$1" && out=$(cd "$1" && pwd)
end=$(($(date +%s) + $2))
shift 2
bin=$(cd "${BIN:-$root/bin}" && pwd) || exit 2
lib=$bin
[ -e "$lib/libfail_call.so" ] || lib=$(dirname "$bin")/lib
python=${AICF_PYTHON:-python3}
logs=$out/logs
mkdir -p "$logs"
cd "$root" || exit 2
export PYTHONDONTWRITEBYTECODE=1 OMP_NUM_THREADS=1
summary=$out/summary.txt
: >>"$summary"
artifacts=$root/tests/artifacts

# one NAME COMMAND...: its verdict, code and last line go to the summary.
one() {
  local name=$1 start left code verdict=FAIL
  shift
  start=$(date +%s)
  left=$((end - start))
  [ "$left" -lt 5 ] && { echo "NOT RUN $name" >>"$summary"; return; }
  timeout "$left" "$@" >"$logs/$name.log" 2>&1
  code=$?
  [ $code = 0 ] && verdict=ok
  [ $code = 124 ] && verdict=CUT
  echo "$verdict $name, code $code, $(($(date +%s) - start)) s: $(tail -n 1 "$logs/$name.log" | cut -c1-300)" >>"$summary"
}

graphs() {
  local all=("$python" "$here/random_graphs.py" --bin "$bin" --seed "${SEED:-310000}")
  one graphs_planted "${all[@]}" --jobs 4 --count 60 --plant cpu.gemm.ref
  one graphs "${all[@]}" --jobs "${GRAPH_JOBS:-12}" --count "${GRAPHS:-100000}" --seconds $((end - $(date +%s) - 10)) \
    --keep "$logs/graphs" --summary "$logs/graphs.json"
}

allocations() {
  one "allocations_${FIRST:-1}" "$python" "$here/allocations.py" --bin "$bin" --library "$lib/libfail_alloc.so" \
    --every "${EVERY:-1}" --first "${FIRST:-1}" --jobs "${ALLOCATION_JOBS:-8}"
}

system_calls() {
  one system_calls "$python" "$here/system_calls.py" --bin "$bin" --library "$lib/libfail_call.so" --jobs 3
}

kills() { one kills "$python" "$here/kills.py" --bin "$bin" --count "${KILLS:-1000}" --seed "${SEED:-310000}"; }

# Shares of the bits for each process, of the program with a sanitizer where it is there.
bits() {
  local name program first many share=6000 jobs=()
  program=$bin/mutate_artifacts
  [ -x "$program.asan" ] && program=$program.asan
  for name in long_sums.cpu batches.cpu boxes.cpu; do
    many=$(($(stat -c %s "$artifacts/$name.aicf") * 8))
    for ((first = 0; first < many; first += share)); do jobs+=("$name $first"); done
  done
  export program artifacts share ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1
  # shellcheck disable=SC2016 # for the inner shell
  one bits_shares xargs -P "${BIT_JOBS:-6}" -L 1 bash -c \
    '"$program" --seeds="$artifacts" --every-bit="$0" --first="$1" --count="$share"' < <(printf '%s\n' "${jobs[@]}")
  one bits "$python" - "$logs/bits_shares.log" <<'END'
import re, sys
rows = re.findall(r"files (\d+) to (\d+), [^:]*s: (\d+) refused, (\d+) accepted and run, (\d+) accepted and too large to run here, "
                  r"(\d+) ended by a typed error, (\d+) found", open(sys.argv[1]).read())
sums = [sum(int(r[k]) for r in rows) for k in range(2, 7)]
print(sum(int(r[1]) - int(r[0]) for r in rows), "bits: %d refused, %d run, %d too large, %d typed errors, %d found" % tuple(sums))
sys.exit(sums[4] != 0 or not rows)
END
}

# Alone first, when free device memory is compared, too; then in shares.
calls() {
  local walked=() name k
  export CUDA_VISIBLE_DEVICES=${CALLS_GPU:-1}
  # A product by cuBLASLt, whose algorithm only this machine can be asked for.
  if "$bin/aicf-compile" "$root/models/product.onnx" -o "$out/cublaslt.cuda.aicf" --force --target=cuda:sm_90a \
    --policy=gemm=cublaslt >"$logs/cublaslt.log" 2>&1; then
    walked+=("$out/cublaslt.cuda.aicf")
  else
    echo "FAIL cublaslt: $(tail -n 1 "$logs/cublaslt.log")" >>"$summary"
  fi
  for name in batches gated image stream; do walked+=("$artifacts/$name.cuda.aicf"); done
  one calls_memory "$bin/failing_calls" "${walked[@]}" --stride=211
  for k in leak silent; do
    one "calls_planted_$k" "$bin/failing_calls" "$artifacts/batches.cuda.aicf" --stride=40 --plant="$k" --no-memory
  done
  for ((k = 1; k <= ${CALL_JOBS:-8}; ++k)); do
    # The largest last in one half, first in the other.
    [ $((k % 2)) = 0 ] && walked=("${walked[@]:4}" "${walked[@]:0:4}")
    one "calls_$k" "$bin/failing_calls" "${walked[@]}" --no-memory --first="$k" --stride="${CALL_JOBS:-8}" &
  done
  wait
}

bands() {
  export CUDA_VISIBLE_DEVICES=${BANDS_GPU:-0}
  one bands "$bin/guard_bands" "$artifacts"/*.cuda.aicf more/real/*.aicf --device=cuda:0
  one bands_hostile "$bin/guard_bands" more/index/*.aicf --device=cuda:0 --hostile
  for plant in write read; do
    one "bands_planted_$plant" "$bin/guard_bands" "$artifacts/image.cuda.aicf" --device=cuda:0 --plant="$plant"
  done
}

contexts() {
  one contexts "$bin/gpu_tests" --gtest_filter='GpuCaptures*:GpuContexts*:GpuConcurrency*:GpuFaults*'
  echo "contexts: $(grep -c SKIPPED "$logs/contexts.log") lines about skipped tests" >>"$summary"
}

endure() {
  export CUDA_VISIBLE_DEVICES=${ENDURE_GPU:-0} LIMIT=${LIMIT:-300}
  mkdir -p "$logs/endure"
  local folder=$logs/endure_artifacts
  mkdir -p "$folder" && cp "$artifacts"/*.cuda.aicf "$folder/"
  [ -d more/new ] && cp more/new/*.cuda_new.aicf "$folder/"
  one endure tests/endurance/campaign.sh gpu "$bin/endure" "$folder" "$logs/endure"
  sed 's/^/  /' "$logs/endure/summary.txt" >>"$summary"
  rm -rf "$folder"
}

for part in "$@"; do [ "$part" = contexts ] && contexts; done
for part in "$@"; do
  case $part in
    contexts) ;;
    graphs | allocations | system_calls | kills | bits | calls | bands | endure) "$part" & ;;
    *) echo "FAIL: '$part' is no part" >>"$summary" ;;
  esac
done
wait
tar -C "$out" -cJf "$out/logs.tar.xz" logs && rm -rf "$logs"
cat "$summary"
! grep -qE "^(FAIL|NOT RUN)|is wrong" "$summary"
