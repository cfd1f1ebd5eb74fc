#!/usr/bin/env bash
# The preset that README installs from has the programs and the adapters, and nothing that users
# do not install: its build is to take a few minutes on two cores.
#
# usage: preset_test.sh SOURCE_DIR
set -euo pipefail
cd "$1"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cmake --preset install -B "$work" > "$work/log" 2>&1 || { cat "$work/log"; exit 1; }
targets=$(sed -n 's|.* -o \([^ ]*\)/CMakeFiles/\([^/]*\)\.dir/.*|\1/\2|p' \
  "$work/compile_commands.json" | sort | uniq -c)
echo "$targets"
for wanted in apps/nvcache/nvcache_cli apps/nvcached/nvcached src/nvcache; do
  grep -q " $wanted\$" <<< "$targets" || { echo "$wanted is not built" >&2; exit 1; }
done
if grep -E ' (tests|bench|examples|experiments)/' <<< "$targets"; then
  echo "these are built, and not installed" >&2
  exit 1
fi
