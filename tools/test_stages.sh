#!/usr/bin/env bash
# Builds and tests stage after stage: see script/test, which calls it.
#
# usage: test_stages.sh SLOW ROUNDS [STAGE...]
#   SLOW     yes: slow tests, too
#   ROUNDS   0, or how often each stage is run to look for tests that fail by chance
set -euo pipefail
cd "$(dirname "$0")/.."
. tools/test_builds.sh
. tools/stage_builds.sh
slow=$1
flaky_rounds=$2
shift 2
. tools/stage_tests.sh

get_browser() {
  # A Chrome or Chromium of another source will do.
  command -v chromium || command -v chromium-browser || command -v google-chrome ||
    script/setup --for browser
}

script/wiredtiger
# Headers are kept, or fetched in a few seconds, or done without.
newest_rocksdb=$(NVCACHE_FETCH_SECONDS=10 script/rocksdb --headers 11) || newest_rocksdb=
if [[ $slow == yes ]]; then
  script/rocksdb_tests || echo "RocksDB's own tests are left out, see above"
  get_java || true
  get_browser > /dev/null || echo "nvcached's page is not tried in a browser, see above"
fi
script/peers > /dev/null ||
  echo "nvcached's tests run without memcached and nutcracker beside it, see above"

stages=("$@")
if [[ ${#stages[@]} -eq 0 ]]; then
  stages=(release asan tsan fuzz)
  [[ $slow == no ]] || stages+=(aarch64)
fi
if [[ " ${stages[*]} " == *" aarch64 "* ]]; then
  script/setup --for aarch64
  script/aarch64
fi
jobs=$(nproc)
out=build/results
mkdir -p "$out"
passed=0 failed=0  # fuzzers and builds
declare -a broken=() tested=()
started=$SECONDS

say() { printf '\n== [%4d s] %s\n' $((SECONDS - started)) "$*"; }

finish() {
  stop_builds
  [[ -z $scratch ]] || rm -rf "$scratch"
}
trap finish EXIT

run_stage() {  # preset title
  say "$2: build"
  finish_build "$1" || { failed=$((failed + 1)) broken+=("$1 build"); return; }
  say "$2: tests"
  build_ahead "$next"
  # shellcheck disable=SC2086  # the selection is words
  python3 tools/run_tests.py run "$out" "$1" "build/$1" ${selection[$1]} || broken+=("$1")
  tested+=("$1")
  drop_objects "$1"
}

stage_release() { run_stage release release; }
# Freed memory is kept out of use for 32 MiB, not 256: an engine's test touches a tenth fewer pages.
stage_asan() {
  ASAN_OPTIONS=quarantine_size_mb=32${ASAN_OPTIONS:+:$ASAN_OPTIONS} \
    run_stage asan "asan+ubsan (tests whose processes are all built here)"
}
stage_tsan() { run_stage tsan "tsan (clang $clang_version, thread-safety analysis)"; }
stage_aarch64() {
  [[ -n $scratch ]] || selection[aarch64]+="|$not_emulated_on_disk"
  run_stage aarch64 "aarch64 (emulated: qemu-user)"
}

stage_fuzz() {
  local seconds=${NVCACHE_FUZZ_SECONDS:-15} fuzzer name words
  say "fuzz: build"
  finish_build fuzz || { failed=$((failed + 1)); broken+=("fuzz build"); return; }
  local -A running=()
  for fuzzer in build/fuzz/tests/fuzz/fuzz_*; do
    [[ -x $fuzzer && -f $fuzzer ]] || continue
    name=$(basename "$fuzzer")
    while [[ $(jobs -rp | wc -l) -ge $jobs ]]; do sleep 0.2; done
    mkdir -p "build/fuzz/corpus/$name"
    words=spec
    [[ $name != *memcached* ]] || words=memcached
    "$fuzzer" -max_total_time="$seconds" -print_final_stats=1 \
      -dict=build/fuzz/tests/fuzz/$words.dict \
      "build/fuzz/corpus/$name" tests/fuzz/corpus > "$out/$name.log" 2>&1 &
    running[$name]=$!
  done
  for name in "${!running[@]}"; do
    say "fuzz: $name, $seconds s"
    if wait "${running[$name]}"; then
      grep -E 'number_of_executed_units|new_units' "$out/$name.log" || true
      passed=$((passed + 1))
    else
      tail -n 40 "$out/$name.log"
      failed=$((failed + 1)) broken+=("$name")
    fi
  done
  drop_objects fuzz
}

work_in_memory
if [[ $flaky_rounds -gt 0 ]]; then
  code=0
  for stage in "${stages[@]}"; do
    say "$stage: build"
    build "$stage"
    # shellcheck disable=SC2086
    python3 tools/run_tests.py flakes "$out" "$flaky_rounds" "$stage" "build/$stage" \
      ${selection[$stage]} || code=1
  done
  exit "$code"
fi

for at in "${!stages[@]}"; do
  next=${stages[at + 1]:-}
  "stage_${stages[at]}"
done

say "what failed, once more by itself"
[[ ${#broken[@]} -eq 0 ]] || echo "failed stages: ${broken[*]}"
code=0
python3 tools/run_tests.py judge "$out" "${tested[@]}" > "$out/judgement" || code=1
sed '$d' "$out/judgement"
say "done; logs are in $out"
read -r _ tests_passed _ tests_failed _ skipped _ < <(tail -n 1 "$out/judgement")
echo "total: $((passed + tests_passed)) passed, $((failed + tests_failed)) failed, $skipped skipped"
[[ $failed -eq 0 && $code -eq 0 && ${#broken[@]} -eq 0 ]]
