#!/usr/bin/env bash
# The lanes of script/test that are a build and a program or two: see there.
#
# usage: small_lane.sh fast|memcached|wiredtiger|jvm
#        small_lane.sh soak [SECONDS]
set -euo pipefail
cd "$(dirname "$0")/.."
. tools/test_builds.sh

run_ctest() {  # options
  work_in_memory
  trap '[[ -z $scratch ]] || rm -rf "$scratch"' EXIT
  ctest --test-dir build/release "$@" --output-on-failure --no-tests=error
}

case ${1:-} in
  fast)
    build_release nvcache_unit_tests nvcache_contract_tests nvcache_kv_tests
    run_ctest -j "$((2 * $(nproc)))" -L 'unit|contract|kv|tidy' -E 'kv.file_passes_for_dax' \
      --progress
    ;;
  memcached)
    build_release nvcached
    exec python3 tests/apps/nvcached/memcached_suite.py build/release/bin/nvcached
    ;;
  wiredtiger)
    script/wiredtiger
    build_release nvcache_wiredtiger
    exec python3 tests/adapters/wiredtiger/suite.py \
      "$(find "$PWD/build/release" -name libnvcache_wiredtiger.so)"
    ;;
  jvm)
    get_java || exit 0
    build_release nvcache_jvm nvcache_jvm_core_damaged nvbench
    run_ctest -L jvm
    ;;
  soak)
    build_release nvcached
    exec python3 tests/apps/nvcached/soak_test.py build/release/bin/nvcached "${2:-600}"
    ;;
  *)
    echo "small_lane.sh: '${1:-}' is no lane of these" >&2
    exit 2
    ;;
esac
