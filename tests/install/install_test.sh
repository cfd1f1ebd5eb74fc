#!/usr/bin/env bash
# Installs the build, then builds and runs an outside project against the installed
# tree: by find_package, and the programs of README and the guides by pkg-config.
#
# usage: install_test.sh BUILD_DIR SOURCE_DIR
set -euo pipefail
build=$1
source=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cmake --install "$build" --prefix "$work/prefix" > "$work/install.log" ||
  { cat "$work/install.log"; exit 1; }
cmake -S "$source/tests/install" -B "$work/outside" -G Ninja -DCMAKE_BUILD_TYPE=Release \
  -DCMAKE_PREFIX_PATH="$work/prefix" -DEXAMPLES="$source/examples"
cmake --build "$work/outside"
for program in from_c from_cpp kv_store engine_adapter own_policies own_policies_test \
  from_rocksdb; do
  [[ -x $work/outside/$program ]] || continue
  echo "== $program"
  "$work/outside/$program" | tail -n 3
done

PKG_CONFIG_PATH=$work/prefix/lib/pkgconfig:$(dirname "$(find "$work/prefix" -name nvcache.pc)")
export PKG_CONFIG_PATH
cc -O1 "$source/examples/c_quickstart.c" -o "$work/by_pkg_config" \
  $(pkg-config --cflags --libs nvcache)
libdir=$(pkg-config --variable=libdir nvcache)
for program in cpp_quickstart kv_store engine_adapter; do
  echo "== $program by pkg-config"
  c++ -std=c++20 -O1 "$source/examples/$program.cc" -o "$work/$program" \
    $(pkg-config --cflags --libs nvcache)
  LD_LIBRARY_PATH=$libdir "$work/$program" | tail -n 2
done
echo "== by pkg-config"
# Not head, which may close the pipe while the program still writes.
LD_LIBRARY_PATH=$libdir "$work/by_pkg_config" | sed -n 1,2p
if [[ -x $work/prefix/bin/nvcache ]]; then
  "$work/prefix/bin/nvcache" --version
  echo "== policies from outside, by the guide's line"
  (cd "$work" && c++ -std=c++20 -O1 -shared -fPIC "$source/examples/own_policies.cc" \
    -o own_policies.so $(pkg-config --cflags nvcache))
  for key in {1..400} {1..400}; do echo "$key"; done > "$work/keys.txt"
  "$work/prefix/bin/nvcache" replay "$work/keys.txt" --policies "$work/own_policies.so" \
    --spec 'always+coldest(5)' --dram 0 --tier 50%
fi
unit=$(find "$work/prefix" -name nvcached.service)
if [[ -n $unit ]]; then
  echo "== the systemd unit starts the installed program"
  program=$(sed -n 's/^ExecStart=\([^ ]*\).*/\1/p' "$unit")
  [[ $program == "$work/prefix/bin/nvcached" ]] || { echo "the unit starts $program" >&2; exit 1; }
  "$program" -V
fi
echo "== manual pages and completions, of each installed program"
share=$work/prefix/share
for program in "$work"/prefix/bin/*; do
  name=$(basename "$program")
  for form in "man man/man1/$name.1" "bash bash-completion/completions/$name" \
    "zsh zsh/site-functions/_$name" "fish fish/vendor_completions.d/$name.fish"; do
    read -r kind file <<< "$form"
    "$program" --generate="$kind" | cmp - "$share/$file" ||
      { echo "$file is not what $name prints" >&2; exit 1; }
  done
done
if grep -rlF -e "$work" -e "$build" "$share"/{man,bash-completion,zsh,fish}; then
  echo "these name a folder of the build" >&2
  exit 1
fi
echo "== dashboards and rules"
for file in grafana/nvcache.json grafana/nvcached.json prometheus/nvcache.rules.yml; do
  cmp "$source/contrib/$file" "$work/prefix/share/nvcache/$file"
done
echo "installed tree works"
