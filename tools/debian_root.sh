#!/usr/bin/env bash
# A Debian of its own in a folder, to build and to try packages in. Needs root.
#
# usage: debian_root.sh make SUITE NAME [PACKAGE...]   a root with these packages, unless it is
#                                                      there; prints its folder
#        debian_root.sh built SUITE NAME               prints the newest one that was made
#        debian_root.sh copy FROM TO                   a second one, which may be changed
#        debian_root.sh run ROOT COMMAND...            runs a command in it; what it starts ends
#                                                      with it. Its /dev and /sys are the machine's
#
# SUITE is bookworm (Debian 12) or trixie (13). Roots are kept in a folder outside the checkout.
#
# NVCACHE_CACHE_DIR       where to keep them (default: $XDG_CACHE_HOME/nvcache or ~/.cache/nvcache)
# NVCACHE_DEBIAN_MIRROR   where packages come from (default: http://deb.debian.org/debian)
set -euo pipefail

layout=1  # of a root; another number makes another folder
mirror=${NVCACHE_DEBIAN_MIRROR:-http://deb.debian.org/debian}

fail() {
  echo "debian_root.sh: $*" >&2
  exit 1
}

# In a namespace of its own, so that nothing stays mounted.
exec=
run() {  # root command...
  local root=$1
  shift
  # shellcheck disable=SC2016  # the inner shell reads its arguments
  $exec unshare --mount --pid --fork --kill-child bash -c '
    mount --make-rprivate /
    mount -t proc proc "$0/proc"
    mount --rbind /dev "$0/dev"
    mount --rbind /sys "$0/sys"
    exec chroot "$0" "$@"' "$root" env -i HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
    PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$@"
}

cache=${NVCACHE_CACHE_DIR:-${XDG_CACHE_HOME:-${HOME:-/var/tmp}/.cache}/nvcache}
[[ $cache == /* ]] || cache=$PWD/$cache

make() {  # suite name package...
  local suite=$1 name=$2
  shift 2
  [[ $suite == bookworm || $suite == trixie ]] ||
    fail "'$suite' is no suite; allowed: bookworm, trixie"
  [[ $(id -u) -eq 0 ]] || fail "run it as root: a root is made by root"
  command -v debootstrap > /dev/null || fail "debootstrap is missing (Debian: debootstrap)"
  local digest
  digest=$(printf '%s\n' "$layout" "$mirror" "$@" | sha256sum)
  root=$cache/debian-$suite-$name-${digest:0:8}
  [[ ! -d $root ]] || return 0
  mkdir -p "$cache"
  exec {lock}> "$cache/debian-root.lock"
  flock "$lock"
  [[ ! -d $root ]] || return 0
  rm -rf "$cache"/debian-get.*  # left by killed runs: we hold the lock
  work=$(mktemp -d "$cache/debian-get.XXXXXX")
  trap 'rm -rf "$work"' EXIT
  chmod 755 "$work"
  echo "Making a root of Debian's $suite: $name" >&2
  debootstrap --variant=minbase "$suite" "$work/root" "$mirror" > "$work/log" 2>&1 ||
    fail "debootstrap: $(tail -n 1 "$work/log")"
  # How this machine reaches a mirror: proxies and the like.
  grep -l '^ *Acquire' /etc/apt/apt.conf.d/* 2> /dev/null |
    xargs -r cp -t "$work/root/etc/apt/apt.conf.d/"
  # No service starts by itself.
  install -m 755 /dev/stdin "$work/root/usr/sbin/policy-rc.d" <<< $'#!/bin/sh\nexit 101'
  {
    run "$work/root" apt-get update -q
    [[ $# -eq 0 ]] || run "$work/root" apt-get install -y -q --no-install-recommends "$@"
    run "$work/root" apt-get clean
  } > "$work/log" 2>&1 || fail "apt-get in the root: $(tail -n 1 "$work/log")"
  mv -T "$work/root" "$root"
}

case ${1:-} in
  make)
    [[ $# -ge 3 ]] || fail "make takes a suite, a name and packages"
    make "${@:2}"
    printf '%s\n' "$root"
    ;;
  built)
    [[ $# -eq 3 ]] || fail "built takes a suite and a name"
    found=$(ls -td "$cache/debian-$2-$3"-* 2> /dev/null | head -n 1)
    [[ -n $found ]] || fail "no root $3 of $2 was made"
    printf '%s\n' "$found"
    ;;
  copy)
    [[ $# -eq 3 && -d $2/etc && ! -e $3 ]] || fail "copy takes a root, and a name that is free"
    cp -a --reflink=auto "$2" "$3"
    ;;
  run)
    [[ $# -ge 3 && -d $2/etc ]] || fail "run takes a root and a command"
    exec=exec
    run "${@:2}"
    ;;
  *)
    sed -n '2,/^set -/{/^set -/d;s/^# \{0,1\}//;p}' "${BASH_SOURCE[0]}"
    [[ ${1:-} == -h || ${1:-} == --help ]] || exit 2
    ;;
esac
