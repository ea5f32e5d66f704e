#!/usr/bin/env bash
# An include may name only folders above its own: base, kernels, schema, then compiler or runtime (which
# never see each other), then tools, models, tests, bench. Device sources see only kernels/cuda. Also: no file above 800 lines.
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
failed=0
for folder in "${!may[@]}"; do
  while IFS=: read -r file line include; do
    first=${include%%/*}
    case " ${may[$folder]} " in
      *" $first "*) ;;
      *) echo "$file:$line includes \"$include\", which $folder/ may not see"; failed=1 ;;
    esac
  done < <(grep -rnoP --include='*.h' --include='*.cc' '^#include "\K[^"]+(?=")' "$folder" |
           grep '/[^:]*$' | grep -v '_test\.cc:')
done
while read -r lines file; do
  [ "$file" = total ] && continue
  if [ "$lines" -gt 800 ]; then echo "$file has $lines lines, limit 800"; failed=1; fi
done < <(git ls-files -co --exclude-standard '*.h' '*.cc' '*.cuh' '*.def' '*.inc' '*.py' '*.sh' | xargs wc -l)
exit $failed
