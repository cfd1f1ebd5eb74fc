# The builds of test_stages.sh: one now, the next one at the lowest priority. Sourced, after
# test_builds.sh. Logs go to $out; $newest_rocksdb is empty, or the newest RocksDB's headers.

build() {  # preset
  local preset=$1
  local -a options=()
  if [[ $preset == aarch64 ]]; then
    options=("${unity[@]}" -DNVCACHE_UNITY_TESTS=ON -DNVCACHE_EXPERIMENTS=ON)
  elif [[ $preset == release ]]; then
    options=(-DNVCACHE_UNITY_TESTS=ON -DNVCACHE_EXPERIMENTS=ON
             -DNVCACHE_BENCH=ON  # benchmarks must at least build
             "-DNVCACHE_ROCKSDB_NEWEST_HEADERS=$newest_rocksdb")
  elif [[ $preset == asan ]]; then
    options=("${unity[@]}")
  else
    options=("${clang[@]}")
  fi
  set --
  [[ $preset != tsan ]] || set -- nvcache_contract_tests nvcache_unit_tests nvcache_kv_tests \
    nvcache_server_tests nvcached nvcached_memory
  cmake --preset "$preset" ${options[@]+"${options[@]}"} > "$out/$preset.configure.log" 2>&1 ||
    { tail -n 30 "$out/$preset.configure.log"; return 1; }
  cmake --build "build/$preset" -j "$(nproc)" ${1:+--target "$@"} > "$out/$preset.build.log" 2>&1 ||
    { tail -n 60 "$out/$preset.build.log"; return 1; }
  # The warnings that users see who build it. Under sanitizers compilers warn of good code.
  if [[ $preset == release ]] && grep 'warning: ' "$out/$preset.build.log"; then
    echo "the compiler warns, see above"
    return 1
  fi
}

# Builds the next stage at the lowest priority while the tests of this one wait.
declare -A building=()
build_ahead() {  # preset
  local next=${1:-}
  [[ -n $next ]] || return 0
  set -m  # gives the build its own process group, so that stop_builds can end all of it
  (renice -n 19 -p "$BASHPID" > /dev/null; build "$next") > "$out/$next.ahead.log" 2>&1 &
  building[$next]=$!
  set +m
}

finish_build() {  # preset
  local pid=${building[$1]:-}
  [[ -n $pid ]] || { build "$1"; return; }
  unset "building[$1]"
  wait "$pid" || { cat "$out/$1.ahead.log"; return 1; }
}

stop_builds() {
  local pid
  for pid in "${building[@]}"; do kill -- "-$pid" 2> /dev/null || true; done
}

# Object files and precompiled headers of a stage whose tests ran: ccache has them.
drop_objects() {  # preset
  find "build/$1" \( -name '*.o' -o -name '*.gch' -o -name '*.pch' \) -delete
}
