#!/usr/bin/env bash
# RPM packages of a portable build, by packaging/rpm/nvcache.spec and rpmbuild.
#
# usage: rpm.sh [PROCESSOR...]   (script/package rpm calls it)
set -euo pipefail
cd "$(dirname "$0")/.."
. packaging/sources.sh

command -v rpmbuild > /dev/null || fail "rpmbuild is missing (Debian: rpm)"
build() {  # processor
  local processor=$1 archive top=$PWD/build/packages/rpm.top.$1 log=build/packages/rpm.$1.log
  archive=build/packages/tar/nvcache-$(package_version)-linux-$processor.tar.gz
  is_current "build/packages/tar/.sources-$processor" || packaging/tar.sh "$processor"
  rm -rf "$top" "build/packages/rpm/$processor"
  mkdir -p "$top/SOURCES" build/packages/rpm
  cp "$archive" "$top/SOURCES/"
  local -a options=(--define "_topdir $top" --define "_buildhost nvcache" --define "_lib lib64"
    --define "use_source_date_epoch_as_buildtime 1" --define "clamp_mtime_to_source_date_epoch 1")
  # Programs of another processor do not run here.
  [[ $processor == "$(uname -m)" ]] || options+=(--nocheck)
  SOURCE_DATE_EPOCH=$(package_time) rpmbuild -bb --target "$processor" "${options[@]}" \
    packaging/rpm/nvcache.spec > "$log" 2>&1 || { tail -n 30 "$log"; fail "rpmbuild failed"; }
  mv "$top/RPMS/$processor" build/packages/rpm/
  rm -rf "$top"
  (cd "build/packages/rpm/$processor" && sha256sum -- *.rpm > SHA256SUMS && cat SHA256SUMS)
}

[[ $# -gt 0 ]] || set -- x86_64 aarch64
for processor in "$@"; do
  [[ $processor == x86_64 || $processor == aarch64 ]] ||
    fail "'$processor' is no processor; allowed: x86_64, aarch64"
  build "$processor"
done
