#!/usr/bin/env bash
# Who may include whom, and how long a file may be. An include may name only folders above its own: base,
# kernels, schema, then compiler or runtime (which never see each other), then tools, models, tests, bench.
# Device sources see only kernels/cuda. Within compiler/ the folders have an order of their own, that of the
# pipeline. Tests, and headers that only tests include (testing.h), may look anywhere.
cd "$(dirname "$0")/.."
set -euo pipefail

declare -A may=(
  [base]="base"
  [kernels]="base kernels"
  [schema]="base kernels schema"
  [compiler]="base kernels schema compiler onnx"
  [runtime]="base kernels schema runtime aicf"
  [tools]="base kernels schema compiler runtime tools aicf onnx"
  [models]="base models aicf"
  [python]="base kernels schema compiler runtime tools aicf python nanobind"
)
# A folder of compiler/ may include itself and what stands before it here.
compiler_order=(decisions ir edit import passes states buckets codegen costs select plan tune emit options stages
                source check)
failed=0

# includes FOLDER: "file:line:include" for each include of a project's header in its sources.
includes() {
  grep -rnoP --include='*.h' --include='*.cc' '^#include "\K[^"]+(?=")' "$1" | grep '/[^:]*$' |
    grep -v '_test\.cc:\|/testing\.h:'
}

for folder in "${!may[@]}"; do
  while IFS=: read -r file line include; do
    first=${include%%/*}
    case " ${may[$folder]} " in
      *" $first "*) ;;
      *) echo "$file:$line includes \"$include\", which $folder/ may not see"; failed=1 ;;
    esac
  done < <(includes "$folder")
done

declare -A place=()
for i in "${!compiler_order[@]}"; do place[${compiler_order[$i]}]=$i; done
for path in compiler/*/; do
  folder=$(basename "$path")
  if [ -z "${place[$folder]:-}" ]; then
    echo "$path has no place in the order of scripts/check_layers.sh"; failed=1
    continue
  fi
  while IFS=: read -r file line include; do
    rest=${include#compiler/}
    [ "$rest" = "$include" ] && continue
    case $rest in
      */*) other=${place[${rest%%/*}]:-99} ;;
      *) other=99 ;;
    esac
    if [ "$other" -gt "${place[$folder]}" ]; then
      echo "$file:$line includes \"$include\", which comes after compiler/$folder in the pipeline"; failed=1
    fi
  done < <(includes "compiler/$folder")
done

while read -r lines file; do
  [ "$file" = total ] && continue
  if [ "$lines" -gt 800 ]; then echo "$file has $lines lines, limit 800"; failed=1; fi
done < <(git ls-files -co --exclude-standard '*.h' '*.cc' '*.cuh' '*.def' '*.inc' '*.py' '*.sh' | xargs wc -l)
exit $failed
