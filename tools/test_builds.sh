# The compilers of the lanes and stages of script/test, and the folder of their tests. Sourced, in
# the checkout's folder.
# shellcheck source=tools/this_debian.sh
. tools/this_debian.sh

if command -v ccache > /dev/null; then
  export CMAKE_C_COMPILER_LAUNCHER=ccache CMAKE_CXX_COMPILER_LAUNCHER=ccache
  export CCACHE_DIR=${CCACHE_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/nvcache/ccache}
  export CCACHE_MAXSIZE=${CCACHE_MAXSIZE:-5G}
  # Two checkouts share what they compile. Headers are compared by content: a checkout is new, and
  # so are the times of its files.
  export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1
  export CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
fi

# Sanitizer builds compile several files together, because headers are most of the work. The
# release stage compiles each file of the library and the programs by itself, as users do, and the
# tests together. CMake remembers the options in the build folder; =OFF turns them off again.
unity=(-DCMAKE_UNITY_BUILD=ON -DCMAKE_UNITY_BUILD_BATCH_SIZE=8)
# A header that clang precompiled holds paths and times, so no compiler cache serves it in another
# folder. Without, several files together take 134 s from nothing, not 116.
clang=("${unity[@]}" -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON
       "-DCMAKE_C_COMPILER=clang-$clang_version" "-DCMAKE_CXX_COMPILER=clang++-$clang_version")

build_release() {  # targets...
  local -a options=()
  [[ " $* " != *" nvbench "* ]] || options=(-DNVCACHE_EXPERIMENTS=ON)
  mkdir -p build/results
  cmake --preset release ${options[@]+"${options[@]}"} > build/results/release.configure.log 2>&1 ||
    { tail -n 30 build/results/release.configure.log; exit 1; }
  cmake --build build/release -j "$(nproc)" --target "$@"
}

# Temporary folders of tests go to memory: the tests are not about the disk, which may be slow.
# Those that are take a folder on it themselves (tests/support/temp_dir.h).
scratch=
work_in_memory() {
  local free_kb
  free_kb=$(df --output=avail -k /dev/shm 2> /dev/null | tail -n 1) || return 0
  [[ ${free_kb:-0} -ge $((3 << 20)) ]] || return 0
  scratch=$(mktemp -d /dev/shm/nvcache.XXXXXX) || return 0
  # Not where memory takes no direct I/O, which many tests use.
  if dd if=/dev/zero of="$scratch/direct" bs=4096 count=1 oflag=direct 2> /dev/null; then
    rm "$scratch/direct"
    export TMPDIR=$scratch
  fi
}

get_java() {
  # A JDK or a Maven of another source will do.
  { command -v javac && command -v mvn; } > /dev/null || script/setup --for jvm || true
  script/rocksdb_jni || { echo "The tests of Java programs are left out, see above"; return 1; }
}
