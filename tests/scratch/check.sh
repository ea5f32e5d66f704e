#!/usr/bin/env bash
# Whether the patches of this folder still apply to the tree and touch no more files than CONTRIBUTING.md
# promises. Exit code 77, which CTest takes as skipped, where neither patch nor git is installed.
set -euo pipefail
. "$(dirname "$0")/limits.sh"

if ! command -v patch > /dev/null && ! command -v git > /dev/null; then
  echo "skipped: neither patch nor git is installed"
  exit 77
fi
failed=0
for name in "${!most_files[@]}"; do
  counted "$name" || { echo "$name.patch touches more files than it may"; failed=1; }
  apply "$root" "$name" --check || { echo "$name.patch does not apply: see tests/scratch/README.md"; failed=1; }
done
exit $failed
