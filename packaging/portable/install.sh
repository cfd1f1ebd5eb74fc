#!/bin/sh
# Installs nvcache from this folder, and takes it away again.
#
# usage: ./install.sh [--prefix FOLDER]               installs it there (/usr/local)
#        ./install.sh --uninstall [--prefix FOLDER]   removes what was installed there
#
# It installs no service and makes no user. Items of nvcached stay when it goes.
set -eu

fail() {
  echo "install.sh: $*" >&2
  exit 1
}

prefix=/usr/local
uninstall=
while [ $# -gt 0 ]; do
  case $1 in
    --prefix)
      [ $# -ge 2 ] || fail "--prefix takes a folder"
      prefix=$2
      shift
      ;;
    --prefix=*) prefix=${1#--prefix=} ;;
    --uninstall) uninstall=1 ;;
    -h | --help)
      sed -n '2,/^set -/{/^set -/d;s/^# \{0,1\}//;p;}' "$0"
      exit 0
      ;;
    *) fail "'$1' is no option; allowed: --prefix FOLDER, --uninstall, --help" ;;
  esac
  shift
done
case $prefix in
  /*) ;;
  *) fail "--prefix: '$prefix' given; allowed: a path from the root, such as /usr/local" ;;
esac
manifest=$prefix/share/nvcache/installed_files

if [ -n "$uninstall" ]; then
  [ -f "$manifest" ] || fail "no $manifest: nothing was installed below $prefix"
  list=$(cat "$manifest")
  printf '%s\n' "$list" | sed '/\/$/d' | while IFS= read -r file; do rm -f "$prefix/$file"; done
  rm -f "$manifest"
  # The folders that were made for them, the inner ones first. Those that others use now stay.
  printf '%s\n' "$list" | sed '/\/$/!d' | sort -r | while IFS= read -r folder; do
    rmdir "$prefix/$folder" 2> /dev/null || true
  done
  echo "nvcache is removed from $prefix"
  exit 0
fi

case $(ldd --version 2>&1 || true) in
  *musl*)
    fail "this system's C library is musl (Alpine Linux); nvcache needs glibc 2.28 or newer, as" \
      "Debian, Ubuntu, RHEL and others have it"
    ;;
esac
glibc=$(getconf GNU_LIBC_VERSION 2> /dev/null | sed 's/^glibc //')
[ -n "$glibc" ] || fail "no glibc is found here; nvcache needs glibc 2.28 or newer"
minor=${glibc#*.}
[ "${glibc%%.*}" -gt 2 ] || [ "${minor%%.*}" -ge 28 ] ||
  fail "glibc $glibc is too old; nvcache needs 2.28 or newer"

from=$(cd "$(dirname "$0")" && pwd)
"$from/bin/nvcache" --version > /dev/null ||
  fail "$from/bin/nvcache does not start here: it is for $(basename "$from")"
[ ! -f "$manifest" ] || "$0" --uninstall --prefix "$prefix"  # of an older version
list=$(cd "$from" && find bin lib include share ! -type d | sort)
made=$(cd "$from" && find bin lib include share -type d | while IFS= read -r folder; do
  [ -d "$prefix/$folder" ] || printf '%s/\n' "$folder"
done)
mkdir -p "$prefix/share/nvcache"
printf '%s\n%s\n' "$list" "$made" > "$manifest"  # first: what is half installed can be removed
printf '%s\n' "$list" | while IFS= read -r file; do
  mkdir -p "$prefix/$(dirname "$file")"
  # Under another name first: a program that runs keeps its file.
  cp -P "$from/$file" "$prefix/$file.new"
  mv -f "$prefix/$file.new" "$prefix/$file"
done
echo "nvcache is installed below $prefix. To remove it: $from/install.sh --uninstall --prefix $prefix"
if [ "$(id -u)" -eq 0 ] && command -v ldconfig > /dev/null; then ldconfig; fi
