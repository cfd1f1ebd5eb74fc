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
files=$(sed -n 's|^ *"file": "'"$PWD"'/\(.*\)",\{0,1\}$|\1|p' "$work/compile_commands.json")
for wanted in apps/nvcache/main.cc apps/nvcached/main.cc src/block_cache/shard.cc; do
  grep -qx "$wanted" <<< "$files" || { echo "$wanted is not built" >&2; exit 1; }
done
# Of the experiments, `nvcache report` has the report.
if grep -E '^(tests|bench|examples|experiments)/' <<< "$files" | grep -v '^experiments/report/'; then
  echo "these are built, and not installed" >&2
  exit 1
fi
echo "$(wc -l <<< "$files") files"
