#!/usr/bin/env bash
# pinned_model.sh BIN OUT: a small ONNX model whose product is pinned to cuda.gemm.resident, compiled, verified
# as every artifact is that is loaded, and executed by the reference kernels on the CPU, whose results are
# compared with NumPy's. Leaves OUT/gemm_*.aicf with these samples for a GPU (--verify=golden). Skipped, with
# the reason, without NVRTC or without an interpreter (AICF_PYTHON) with onnx.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
bin=$1 out=$2
python=${AICF_PYTHON:-python3}
if ! "$python" -c 'import numpy, onnx' 2> /dev/null; then
  echo "skipped the model: $python has no numpy or no onnx"
  exit 0
fi

# hopper_step PLAN: the product is the variant's, with two tensor maps, a cluster and 200 KB of shared memory.
hopper_step() {
  local step cluster shared maps
  step=$(grep '^step "cuda.gemm.resident"' "$1")
  cluster=$(sed -E 's/.* launch [0-9,]+ [0-9,]+ ([0-9]+),.*/\1/' <<< "$step")
  shared=$(sed -E 's/.* shared=([0-9]+).*/\1/' <<< "$step")
  maps=$(grep -o ' map [0-9]* extents=' <<< "$step" | wc -l)
  echo "$(basename "$1"): $maps tensor maps, cluster of $cluster, $shared bytes of shared memory"
  [ "$maps" -eq 2 ] && [ "$cluster" -ge 2 ] && [ "$shared" -ge 204800 ]
}

"$python" -B "$here/product_model.py" "$out"
for row in 64x64 64x64_m 128x128 128x128_m 128x256; do
  plan=$out/gemm_$row.plan artifact=$out/gemm_$row.aicf
  pin=(--target=cuda --math=fp16 --policy="gemm=cuda.gemm.resident_$row" --policy-strict)
  if ! "$bin/aicf-compile" "$out/product.onnx" -o "$artifact" --force "${pin[@]}" \
      --golden="x:$out/x.npy,y:$out/y.npy" > "$out/compile.log" 2>&1; then
    cat "$out/compile.log"
    grep -qi nvrtc "$out/compile.log" && { echo "skipped the model: no NVRTC"; exit 0; }
    exit 1
  fi
  "$bin/aicf-compile" "$out/product.onnx" "${pin[@]}" --stop-after=plan > "$plan"
  hopper_step "$plan"
  "$bin/aicf-run" "$artifact" --device=cpu --load-inputs="x:$out/x.npy" --load-ref-outputs="y:$out/y.npy" \
    --atol=0.02 --warm-up=0 --duration=0 --iterations=1
  "$bin/aicf-run" "$artifact" --device=cpu --verify=golden
done

# The same by an edit of one decision.
"$bin/aicf-compile" "$out/product.onnx" --target=cuda --math=fp16 --set=step.0.kernel=cuda.gemm.resident \
  --stop-after=plan > "$out/set.plan"
hopper_step "$out/set.plan"
