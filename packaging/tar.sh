#!/usr/bin/env bash
# An archive of a portable build (docs/install.md), with an install script and its digest.
#
# usage: tar.sh [PROCESSOR...]   (script/package tar calls it)
set -euo pipefail
cd "$(dirname "$0")/.."
. packaging/sources.sh

build() {  # processor
  local processor=$1 preset=portable name log=build/packages/tar.$1.log out=build/packages/tar
  [[ $processor == x86_64 ]] || preset=portable-$processor
  name=nvcache-$(package_version)-linux-$processor
  script/portable "$processor"
  echo "Building for $processor, some minutes; the log is $log"
  { cmake --fresh --preset "$preset" && cmake --build --preset "$preset"; } > "$log" 2>&1 ||
    { tail -n 30 "$log"; fail "the build for $processor failed"; }
  rm -rf "build/packages/$name"
  cmake --install "build/$preset" --prefix "build/packages/$name" >> "$log"
  install -m 755 packaging/portable/install.sh "build/packages/$name/install.sh"
  mkdir -p "$out"
  pack build/packages "$name" "$out/$name.tar.gz"
  rm -rf "build/packages/$name"
  sources_digest > "$out/.sources-$processor"
  (cd "$out" && sha256sum "$name.tar.gz" > "$name.tar.gz.sha256" && cat "$name.tar.gz.sha256")
}

[[ $# -gt 0 ]] || set -- x86_64 aarch64
for processor in "$@"; do
  [[ $processor == x86_64 || $processor == aarch64 ]] ||
    fail "'$processor' is no processor; allowed: x86_64, aarch64"
  build "$processor"
done
