#!/usr/bin/env bash
# Debian packages, by packaging/debian, each in a root of its Debian that is made once.
#
# usage: deb.sh [SUITE...]   (script/package deb calls it)
set -euo pipefail
cd "$(dirname "$0")/.."
. packaging/sources.sh

# All that packaging/debian/control asks for.
build_dependencies() {
  sed -n '/^Build-Depends:/,/^[A-Z]/{s/^Build-Depends://;/^[A-Z]/d;p}' packaging/debian/control |
    tr ',' '\n' | sed -e 's/(.*)//;s/|.*//;s/debhelper-compat/debhelper/' | xargs -n 1
}

build() {  # suite
  local suite=$1 root wiredtiger log=build/packages/deb.$1.log out=build/packages/deb/$1
  wiredtiger=$(script/wiredtiger --root)
  mapfile -t wanted < <(build_dependencies)
  root=$(tools/debian_root.sh make "$suite" build build-essential lintian "${wanted[@]}")
  local place=$root/build
  rm -rf "$place" "$out"
  mkdir -p "$place/wiredtiger" "$out"
  cp -rL "$wiredtiger/include" "$wiredtiger/libwiredtiger.so" "$place/wiredtiger/"
  copy_sources "$place/nvcache"
  cp -r packaging/debian "$place/nvcache/debian"
  # The package for a newer Debian is newer.
  local -A number=([bookworm]=12 [trixie]=13)
  sed -i "1s/)/~deb${number[$suite]})/" "$place/nvcache/debian/changelog"
  echo "Building Debian packages for $suite, some minutes; the log is $log"
  # shellcheck disable=SC2016  # the inner shell expands it
  tools/debian_root.sh run "$root" bash -c '
    cd /build/nvcache && chown -R nobody /build && umask 022 &&
      runuser -u nobody -- env NVCACHE_WIREDTIGER_ROOT=/build/wiredtiger \
        DEB_BUILD_OPTIONS="nocheck parallel=$(nproc)" dpkg-buildpackage -b -us -uc' \
    > "$log" 2>&1 || { tail -n 30 "$log"; fail "the build for $suite failed"; }
  sources_digest > "$out/.sources"
  cp "$place"/*.deb "$place"/*.changes "$place"/*.buildinfo "$out/"
  rm -rf "$place"
  (cd "$out" && sha256sum -- *.deb > SHA256SUMS && cat SHA256SUMS)
}

[[ $# -gt 0 ]] || set -- bookworm trixie
script/wiredtiger
for suite in "$@"; do
  [[ $suite == bookworm || $suite == trixie ]] ||
    fail "'$suite' is no suite; allowed: bookworm, trixie"
  build "$suite"
done
