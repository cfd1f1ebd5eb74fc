#!/usr/bin/env bash
# An image of nvcached in the layout of the Open Container Initiative: a small Debian 12 with the
# package nvcached, as root. Any runtime takes it, and skopeo copies it to a registry.
#
# usage: image.sh   (script/package image calls it)
set -euo pipefail
cd "$(dirname "$0")/.."
. packaging/sources.sh

version=$(package_version)
out=build/packages/image layout=build/packages/image/nvcached
is_current build/packages/deb/bookworm/.sources || packaging/deb.sh bookworm
deb=$(find build/packages/deb/bookworm -name 'nvcached_*.deb')
command -v umoci > /dev/null || fail "umoci is missing (Debian: umoci)"

# What the package needs, in a root that is made once; the package itself needs no network.
mapfile -t needed < <(dpkg-deb -f "$deb" Depends | tr ',' '\n' | sed 's/(.*)//;s/|.*//' | xargs -n 1)
work=$(mktemp -d /var/tmp/nvcache.XXXXXX)
trap 'rm -rf "$work"' EXIT
tools/debian_root.sh copy "$(tools/debian_root.sh make bookworm image "${needed[@]}")" "$work/root"
root=$work/root
cp "$deb" "$root/tmp/nvcached.deb"
tools/debian_root.sh run "$root" dpkg --install /tmp/nvcached.deb > build/packages/image.log 2>&1 ||
  { cat build/packages/image.log; fail "the package does not install in the image's root"; }

# What differs from run to run, belongs to this machine, or is of no use in a container.
rm -rf "$root"/{tmp,run,var/log,var/cache,var/lib/apt/lists,usr/share/doc,usr/share/man}/*
rm -f "$root"/etc/apt/apt.conf.d/* "$root"/var/lib/dpkg/*-old "$root"/etc/{shadow,passwd,group}- \
  "$root"/etc/{gshadow-,machine-id,hostname,resolv.conf,.pwd.lock} "$root/usr/sbin/policy-rc.d"
# The day of the last change of a password that nobody has.
sed -i 's/^\([^:]*:[^:]*:\)[0-9]*/\120000/' "$root/etc/shadow"
ids=$(awk -F: '$1 == "nvcached" {print $3 ":" $4}' "$root/etc/passwd")
time=$(date -u -d "@$(package_time)" +%Y-%m-%dT%H:%M:%SZ)

rm -rf "$out"
mkdir -p "$out"
tar --create --directory="$root" --sort=name --format=posix --mtime="@$(package_time)" \
  --pax-option=exthdr.name=%d/PaxHeaders/%f,delete=atime,delete=ctime --numeric-owner \
  --exclude=./proc/* --exclude=./dev/* --exclude=./sys/* --file="$work/layer.tar" .
umoci init --layout "$layout"
umoci new --image "$layout:$version"
umoci raw add-layer --image "$layout:$version" --history.created "$time" \
  --history.created_by "script/package image" "$work/layer.tar"
umoci config --image "$layout:$version" --no-history --created "$time" --architecture amd64 \
  --os linux --config.user "$ids" --config.volume /var/lib/nvcached \
  --config.exposedports 11211/tcp --config.exposedports 9150/tcp --config.workingdir / \
  --config.entrypoint /usr/bin/nvcached --config.cmd=-m --config.cmd=64 --config.cmd=-l \
  --config.cmd=0.0.0.0 --config.cmd=--medium=file:/var/lib/nvcached/data \
  --config.label "org.opencontainers.image.title=nvcached" \
  --config.label "org.opencontainers.image.version=$version" \
  --config.label "org.opencontainers.image.licenses=Apache-2.0"
umoci gc --layout "$layout" > /dev/null
(cd "$layout" && find . -type f | LC_ALL=C sort | xargs sha256sum) > "$out/SHA256SUMS"
sha256sum "$layout/index.json"
