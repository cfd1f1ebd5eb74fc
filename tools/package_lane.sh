#!/usr/bin/env bash
# Makes the packages, each twice, compares the bytes, and tries them where nothing of nvcache or of
# what it is built with is installed: Debian's in fresh roots of Debian 12 and 13, the archive in
# the same, the RPM packages in one, the jar in one with a JRE.
#
# usage: package_lane.sh    (script/test package calls it, as root)
set -euo pipefail
cd "$(dirname "$0")/.."
. tools/test_builds.sh
. packaging/sources.sh

script/setup --for package
script/setup --for jvm
passed=0
step() {  # name command...
  local name=$1
  shift
  echo "== $name"
  "$@" || { echo "package: $name failed" >&2; exit 1; }
  passed=$((passed + 1))
}

same_twice() {  # file-of-digests command...
  local digests=$1
  shift
  "$@"
  cp "$digests" "$digests.first"
  "$@" > /dev/null
  diff "$digests.first" "$digests"
}
for suite in bookworm trixie; do
  step "Debian packages for $suite, twice the same bytes" \
    same_twice "build/packages/deb/$suite/SHA256SUMS" script/package deb "$suite"
  root=$(tools/debian_root.sh built "$suite" build)
  step "Debian packages for $suite in use" python3 tests/packages/deb_test.py "$suite" \
    "build/packages/deb/$suite" "$root"
done
step "the image, twice the same bytes" \
  same_twice build/packages/image/SHA256SUMS script/package image
step "the image in use" tests/packages/image_test.sh \
  "build/packages/image/nvcached:$(package_version)"
step "the Conan package" tests/packages/conan_test.sh
name=nvcache-$(package_version)-linux-x86_64
rebuild_tar() {
  rm -rf build/portable
  script/package tar x86_64
}
step "the archive, twice the same bytes" \
  same_twice "build/packages/tar/$name.tar.gz.sha256" rebuild_tar
step "the archive in use" tests/packages/tar_test.sh "build/packages/tar/$name.tar.gz"
step "RPM packages, twice the same bytes" \
  same_twice build/packages/rpm/x86_64/SHA256SUMS script/package rpm x86_64
step "RPM packages in use" tests/packages/rpm_test.sh build/packages/rpm/x86_64
step "the jar, twice the same bytes" \
  same_twice build/packages/jar/SHA256SUMS script/package jar
step "the jar in use" tests/packages/jar_test.sh \
  "build/packages/jar/nvcache-jvm-$(package_version).jar"
echo "package: $passed passed, 0 failed"
