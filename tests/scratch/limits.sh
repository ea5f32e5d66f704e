# What a patch may touch: sourced by check.sh and run.sh.
declare -A most_files=([gemm_variant]=3 [family]=8)
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)

# touched NAME: the files that the patch changes or adds.
touched() { sed -n 's|^+++ b/||p' "$here/$1.patch"; }

# apply DIRECTORY NAME [--check]: applies the patch, or says whether it would.
apply() {
  if command -v patch > /dev/null; then
    (cd "$1" && patch -p1 --forward --fuzz=0 ${3:+--dry-run --quiet} < "$here/$2.patch")
  else
    (cd "$1" && git apply ${3:+--check} "$here/$2.patch")
  fi
}

# counted NAME: prints the count, and fails above the limit.
counted() {
  local count
  count=$(touched "$1" | wc -l)
  echo "$1: $count files, at most ${most_files[$1]}"
  touched "$1" | sed 's/^/  /'
  [ "$count" -gt 0 ] && [ "$count" -le "${most_files[$1]}" ]
}
