#!/usr/bin/env bash
# rpmlint finds nothing in the RPM packages; they need glibc and nothing else; rpm installs them in
# a root, where they run, and takes them away again.
#
# usage: rpm_test.sh FOLDER    (tools/package_lane.sh calls it, as root)
set -euo pipefail
folder=$(realpath "$1")
cd "$(dirname "$0")/../.."
. tests/packages/scratch.sh

rpmlint --config packaging/rpm/rpmlint.toml packaging/rpm/nvcache.spec "$folder"/*.rpm \
  > "$work/log" || fail "rpmlint: $(cat "$work/log")"
tail -n 1 "$work/log"

for package in "$folder"/*.rpm; do
  rpm --query --package --requires "$package" > "$work/all"
  sed -E -e '/^(rpmlib\(|config\(|\/bin\/sh$|\/sbin\/ldconfig$|rtld\(|ld-linux)/d' \
    -e '/^(lib(c|m|dl|rt|pthread)\.so\.|nvcache-libs|libnvcache\.so)/d' \
    -e '/^\/usr\/bin\/pkg-config$/d' "$work/all" > "$work/needs"
  [[ ! -s $work/needs ]] || fail "$package needs more than glibc: $(cat "$work/needs")"
  newest=$({ echo GLIBC_2; grep -o 'GLIBC_[0-9.]*' "$work/all" || true; } |
    sort -V | tail -n 1)
  [[ $(printf '%s\nGLIBC_2.28\n' "$newest" | sort -V | tail -n 1) == GLIBC_2.28 ]] ||
    fail "$package needs $newest"
done

# Debian knows rpm's packages of none of its own: their names are not asked for.
root=$work/root
tools/debian_root.sh copy "$(tools/debian_root.sh make bookworm minimal)" "$root"
in_root() { tools/debian_root.sh run "$root" "$@"; }
of_root() { rpm --root "$root" --dbpath /var/lib/rpm "$@"; }
# Folders of all packages (licenses, completions) are those of a package that Debian has not.
files() { find "$root" -xdev \( -path "$root/var/lib/rpm" -o -path "$root/var/cache" \) -prune -o \
  ! -name ld.so.cache \( ! -type d -o -name '*nvcache*' \) -print | sort; }
files > "$work/before"
of_root --install --nodeps "$folder"/*.rpm
of_root --verify --nodeps --all || fail "files are not as in their packages"
in_root nvcache --version
in_root nvcached --version
grep -qx 'ExecStart=/usr/bin/nvcached --medium=file:${STATE_DIRECTORY}/data $NVCACHED_OPTIONS' \
  "$root/usr/lib/systemd/system/nvcached.service" || fail "the unit names another program"
grep -qx 'EnvironmentFile=-/etc/sysconfig/nvcached' \
  "$root/usr/lib/systemd/system/nvcached.service" || fail "the unit reads other options"
# Options that were changed stay over an upgrade.
echo 'NVCACHED_OPTIONS="-m 99"' > "$root/etc/sysconfig/nvcached"
of_root --upgrade --force --nodeps "$folder"/*.rpm
grep -q 'm 99' "$root/etc/sysconfig/nvcached" || fail "an upgrade took the options away"
mapfile -t names < <(of_root --query --all --queryformat '%{NAME}\n')
of_root --erase "${names[@]}" 2> /dev/null
[[ -f $root/etc/sysconfig/nvcached.rpmsave ]] || fail "changed options are gone"
rm "$root/etc/sysconfig/nvcached.rpmsave"
rmdir "$root/etc/sysconfig" 2> /dev/null || true
files > "$work/after"
diff "$work/before" "$work/after" > "$work/log" || fail "left behind: $(cat "$work/log")"
echo "${#names[@]} packages: ok"
