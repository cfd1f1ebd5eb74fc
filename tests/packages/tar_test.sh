#!/usr/bin/env bash
# Installs the archive in a fresh root of each Debian, uses it, and takes it away again.
#
# usage: tar_test.sh ARCHIVE    (tools/package_lane.sh calls it, as root)
set -euo pipefail
archive=$(realpath "$1")
cd "$(dirname "$0")/../.."
. tests/packages/scratch.sh
name=$(basename "$archive" .tar.gz)

(cd "$(dirname "$archive")" && sha256sum --check --quiet "$name.tar.gz.sha256")

for suite in bookworm trixie; do
  root=$work/$suite
  tools/debian_root.sh copy "$(tools/debian_root.sh make "$suite" minimal)" "$root"
  in_root() { tools/debian_root.sh run "$root" "$@"; }
  tar -C "$root/tmp" -xf "$archive"
  find "$root/usr/local" > "$work/before"
  in_root "/tmp/$name/install.sh" > "$work/log"
  grep -q "installed below /usr/local" "$work/log" || fail "install.sh said: $(cat "$work/log")"
  in_root nvcache --version
  in_root nvcached --version
  in_root sh -c 'nvcache calibrate --help' > "$work/log"
  # Installing again is an upgrade.
  in_root "/tmp/$name/install.sh" > /dev/null
  in_root "/tmp/$name/install.sh" --uninstall > /dev/null
  find "$root/usr/local" > "$work/after"
  diff "$work/before" "$work/after" || fail "--uninstall left something in $suite"

  # It refuses these, with a message.
  refuses() {  # word command...
    local word=$1
    shift
    if in_root "$@" > "$work/log" 2>&1; then fail "$* was let pass"; fi
    grep -q -- "$word" "$work/log" || fail "$*: $(cat "$work/log")"
  }
  refuses "nothing was installed" "/tmp/$name/install.sh" --uninstall
  refuses "a path from the root" "/tmp/$name/install.sh" --prefix here
  refuses "is no option" "/tmp/$name/install.sh" --fast
  mkdir "$root/tmp/other"
  printf '#!/bin/sh\necho "musl libc (x86_64)" >&2\nexit 1\n' > "$root/tmp/other/ldd"
  printf '#!/bin/sh\necho glibc 2.27\n' > "$root/tmp/other/getconf"
  chmod +x "$root/tmp/other/ldd" "$root/tmp/other/getconf"
  refuses "musl (Alpine Linux)" env "PATH=/tmp/other:$PATH" "/tmp/$name/install.sh"
  rm "$root/tmp/other/ldd"
  refuses "glibc 2.27 is too old" env "PATH=/tmp/other:$PATH" "/tmp/$name/install.sh"
  echo "$suite: ok"
done
