#!/usr/bin/env bash
# The long forms of the endurance tests.
#   campaign.sh cpu|gpu|tsan ENDURE ARTIFACTS OUT [GPU_TESTS]
# ENDURE is the program, ARTIFACTS the folder of *.cpu*.aicf and *.cuda*.aicf, OUT where logs and summary.txt go.
# CORES (12) processes or cores are used at most, and LIMIT (400) seconds for each part. Exits with 1 where something is wrong.
set -u
kind=$1 endure=$2 artifacts=$3 out=$4 gpu_tests=${5:-}
cores=${CORES:-12}
mkdir -p "$out"
summary=$out/summary.txt
: >"$summary"
failed=0

# job NAME EXIT COMMAND...: runs it, keeps its log, and notes what came of it.
job() {
  local name=$1 wanted=$2 begin=$SECONDS got
  shift 2
  timeout "${LIMIT:-400}" "$@" >"$out/$name.log" 2>&1
  got=$?
  local verdict=ok
  [ "$got" = "$wanted" ] || verdict="FAILED (exit $got, expected $wanted)"
  echo "$name: $verdict, $((SECONDS - begin)) s" >>"$summary"
  grep -E "FAULT|WARNING: ThreadSanitizer|FAILED" "$out/$name.log" | head -n 5 >>"$summary"
  [ "$verdict" = ok ]
}
check() { job "$1" 0 "${@:2}" || failed=1; }
planted() { job "planted_$1" 1 "${@:2}" "--plant=$1" || failed=1; }
# At most $cores jobs at a time.
background() {
  while [ "$(jobs -rp | wc -l)" -ge "$cores" ]; do wait -n; done
  { job "$1" 0 "${@:2}" || touch "$out/failed"; } &
}

cpu() {
  local file name files=()
  rm -f "$out/failed"
  for file in "$artifacts"/*.cpu*.aicf; do  # what this machine can run
    [[ $file == *avx512* ]] && ! grep -q avx512f /proc/cpuinfo || files+=("$file")
  done
  for file in "${files[@]}"; do
    name=$(basename "$file" .aicf)
    background "replays_$name" "$endure" "$file" --replays="${REPLAYS:-100000}"
  done
  for file in "$artifacts"/*.cuda.aicf; do  # on the reference kernels
    name=$(basename "$file" .aicf)
    background "replays_${name}_plan" "$endure" "$file" --device=cpu --replays=$((${REPLAYS:-100000} / 50))
  done
  wait
  local pinned=(taskset -c "0-$((cores - 1))")
  check threads_64 "${pinned[@]}" "$endure" "${files[@]}" --threads=64 --runs="${RUNS:-10000}"
  for name in image stream texts; do
    check "threads_64_$name" "${pinned[@]}" "$endure" "$artifacts/$name.cpu.aicf" --threads=64 \
      --runs="${RUNS:-10000}"
  done
  check threads_workers "${pinned[@]}" "$endure" "${files[@]}" --threads=12 --session-threads=3 \
    --runs=$((${RUNS:-10000} / 10))
  check churn "${pinned[@]}" "$endure" "${files[@]}" --threads=16 --cycles="${CYCLES:-10000}"
  check churn_workers "${pinned[@]}" "$endure" "${files[@]}" --threads=4 --session-threads=3 \
    --cycles="${CYCLES:-10000}"
  check misuse "${pinned[@]}" "$endure" "${files[@]}" --threads=8 --calls="${CALLS:-20000}"
  check destroys "${pinned[@]}" "$endure" "${files[@]}" --threads=8 --destroys="${DESTROYS:-200}"
  local image=$artifacts/image.cpu.aicf
  planted memory "$endure" "$image" --replays=1000
  planted descriptor "$endure" "$image" --replays=200
  planted mapping "$endure" "$image" --replays=200
  planted bits "$endure" "$image" --replays=1000
  planted session "$endure" "$image" --cycles=500
  planted race "$endure" "$image" --runs=500
  planted outputs "$endure" "$image" --runs=500
  planted torn "$endure" "$artifacts/gated.cpu.aicf" --calls=20000
  [ -e "$out/failed" ] && failed=1
}

gpu() {
  local file name small=() all=("$artifacts"/*.cuda*.aicf)
  for file in "${all[@]}"; do
    [[ $file == */texts.* ]] || small+=("$file")
  done
  if [ -n "$gpu_tests" ]; then
    check gpu_tests "$gpu_tests" --gtest_filter='GpuCaptures*:GpuContexts*:GpuConcurrency*'
  fi
  check replays_packed "$endure" "$artifacts/packed.cuda.aicf" --replays="${REPLAYS:-1000000}"
  check threads_64 "$endure" "${small[@]}" --threads=64 --runs="${RUNS:-10000}"
  check churn "$endure" "${small[@]}" --threads=8 --cycles="${CYCLES:-10000}"
  check replays_gated "$endure" "$artifacts/gated.cuda.aicf" --replays="${REPLAYS:-1000000}"
  local packed=$artifacts/packed.cuda.aicf
  planted memory "$endure" "$packed" --replays=10000
  planted descriptor "$endure" "$packed" --replays=200
  planted device "$endure" "$packed" --replays=20000
  planted bits "$endure" "$packed" --replays=1000
  planted session "$endure" "$packed" --cycles=500
  planted race "$endure" "$packed" --runs=500
  check destroys "$endure" "${small[@]}" --threads=4 --destroys="${DESTROYS:-30}"
  check misuse "$endure" "${all[@]}" --threads=8 --calls="${CALLS:-2000}"
  check threads_64_texts "$endure" "$artifacts/texts.cuda.aicf" --threads=64 --runs=$((${RUNS:-10000} / 50))
  check churn_texts "$endure" "$artifacts/texts.cuda.aicf" --threads=4 --cycles=$((${CYCLES:-10000} / 100))
  for file in "${all[@]}"; do
    name=$(basename "$file" .aicf)
    check "replays_some_$name" "$endure" "$file" --replays=$((${REPLAYS:-1000000} / 40))
  done
}

# ENDURE of the preset tsan: a report ends a program with 66.
tsan() {
  # Its shadow memory has a place of its own, which addresses that are more random may lie in.
  [ "$(cat /proc/sys/vm/mmap_rnd_bits 2>/dev/null || echo 0)" -le 28 ] || endure="setarch $(uname -m) -R $endure"
  # shellcheck disable=SC2086 # a command
  check threads $endure "$artifacts"/*.cpu.aicf --threads=64 --runs="${RUNS:-200}"
  check workers $endure "$artifacts"/*.cpu.aicf --threads=12 --session-threads=3 --runs="${RUNS:-200}"
  check churn $endure "$artifacts"/*.cpu.aicf --threads=16 --cycles="${CYCLES:-2000}"
  check misuse $endure "$artifacts"/*.cpu.aicf --threads=8 --calls="${CALLS:-2000}"
  check destroys $endure "$artifacts"/*.cpu.aicf --threads=8 --destroys="${DESTROYS:-20}"
  job planted_race 66 $endure "$artifacts/image.cpu.aicf" --runs=20 --plant=race || failed=1
  job planted_outputs 66 $endure "$artifacts/image.cpu.aicf" --runs=20 --plant=outputs || failed=1
}

case $kind in
  cpu | gpu | tsan) "$kind" ;;
  *) echo "campaign.sh: '$kind' is not cpu, gpu or tsan" >&2; exit 2 ;;
esac
[ "$failed" = 0 ] && echo "all as expected" >>"$summary" || echo "something is wrong" >>"$summary"
cat "$summary"
exit "$failed"
