#!/usr/bin/env bash
# planted.sh EXIT PATTERN COMMAND...: the command finds the defect that it plants: it ends with that exit code and
# says what the pattern says.
wanted=$1 pattern=$2
shift 2
output=$("$@" 2>&1)
found=$?
printf '%s\n' "$output" | tail -n 40
if [ "$found" != "$wanted" ]; then
  echo "exit code $found, expected $wanted"
  exit 1
fi
grep -q -E -- "$pattern" <<<"$output" || { echo "nothing says '$pattern'"; exit 1; }
