#!/usr/bin/env bash
# check.sh TOOLS BUILD: seeds made by the tools in the folder TOOLS, then AICF_FUZZ_SECONDS (default 60) of every
# target of BUILD/bin/aicf-fuzz, then the planted defects. What is found stays in BUILD/fuzz/kept/found.
set -euo pipefail
[ $# = 2 ] || { sed -n 2,3p "$0"; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
export PYTHONDONTWRITEBYTECODE=1
rm -rf "$2/fuzz/kept"
mkdir -p "$2/fuzz"
"$here/../python.sh" "$here/seeds.py" --bin "$1" --out "$2/fuzz/seeds" || { [ $? = 77 ] && exit 0; exit 1; }
run() { python3 "$here/run.py" --bin "$2/bin" --seeds "$2/fuzz/seeds" --work "$2/fuzz/kept" "${@:3}"; }
run "$@" --seconds "${AICF_FUZZ_SECONDS:-60}"
run "$@" --self-test
