#!/usr/bin/env bash
# pack.sh BIN SEEDS OUT.tar.xz: what a campaign on another machine needs, in one file: the program without debugging
# information beyond its functions' names, the seeds, run.py, and zlib, which not every machine has.
set -euo pipefail
[ $# = 3 ] || { sed -n 2,3p "$0"; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir -p "$folder/fuzz/bin" "$folder/fuzz/lib"
strip --strip-debug -o "$folder/fuzz/bin/aicf-fuzz" "$1/aicf-fuzz"
ldd "$1/aicf-fuzz" | sed -n 's/.*=> \(.*libz\.so[^ ]*\) .*/\1/p' | xargs -I{} cp -L {} "$folder/fuzz/lib/"
cp -r "$2" "$folder/fuzz/seeds"
cp "$here/run.py" "$folder/fuzz/"
tar -C "$folder" -cf - fuzz | xz -T2 -3 >"$3"
ls -l "$3"
