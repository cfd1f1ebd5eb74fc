#!/usr/bin/env bash
# `conan create packaging/conan` builds the package and a program that uses it.
#
# usage: conan_test.sh    (tools/package_lane.sh calls it). Conan comes from PyPI.
set -euo pipefail
cd "$(dirname "$0")/../.."
. tests/packages/scratch.sh
cache=${NVCACHE_CACHE_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/nvcache}
conan=2.34.0
if [[ ! -x $cache/conan-$conan/bin/conan ]]; then
  rm -rf "$cache/conan-$conan"
  python3 -m venv "$cache/conan-$conan"
  "$cache/conan-$conan/bin/pip" install --quiet --disable-pip-version-check "conan==$conan"
fi
export CONAN_HOME=$work/conan
before=$(git status --porcelain --ignored packaging)
log=build/packages/conan.log
mkdir -p build/packages
{
  "$cache/conan-$conan/bin/conan" profile detect
  "$cache/conan-$conan/bin/conan" create packaging/conan -s compiler.cppstd=20
} > "$log" 2>&1 || { tail -n 40 "$log"; exit 1; }
grep -qE '^[1-9][0-9]* hits$' "$log" ||
  { tail -n 20 "$log"; fail "no test ran"; }
[[ $(git status --porcelain --ignored packaging) == "$before" ]] ||
  fail "it leaves files in the checkout: $(git status --porcelain --ignored packaging)"
echo "conan create: ok"
