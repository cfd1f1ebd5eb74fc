#!/usr/bin/env bash
# Runs README's two commands in a Debian 13 that holds nothing of ours: they install what they need
# there. Then looks for warnings of its compilers. The result names the compilers and libraries.
#
# usage: debian13_lane.sh [STAGE...]   (script/test debian13 calls it, as root): all stages
#
# Compilers and scripts keep ccache and WiredTiger in a folder outside the checkout between two
# runs.
set -euo pipefail
cd "$(dirname "$0")/.."
. packaging/sources.sh

fail() {
  echo "script/test debian13: $*" >&2
  exit 1
}
cache=${NVCACHE_CACHE_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/nvcache}
mkdir -p "$cache/debian13-kept" build/results
exec {lock}> "$cache/debian13.lock"
flock --nonblock "$lock" || fail "another run has $cache/debian13.lock"
base=$(tools/debian_root.sh make trixie minimal)
root=$(mktemp -d /var/tmp/nvcache.XXXXXX)/root
kept=$root/root/.cache/nvcache
finish() {
  [[ ! -d $kept || -d $cache/debian13-kept ]] || mv "$kept" "$cache/debian13-kept"
  rm -rf "${root%/root}"
}
trap finish EXIT
tools/debian_root.sh copy "$base" "$root"
mkdir -p "$root/root/.cache" "$root/usr/local/share/ca-certificates"
mv "$cache/debian13-kept" "$kept"

# A checkout: tests ask git which files there are.
git clone --quiet --no-hardlinks . "$root/root/nvcache"
copy_sources "$root/root/nvcache"
# The certificates that this machine trusts beyond Debian's: some networks read their traffic.
for certificate in /usr/local/share/ca-certificates/*.crt; do
  [[ ! -f $certificate ]] || cp "$certificate" -t "$root/usr/local/share/ca-certificates/"
done
in_root() { tools/debian_root.sh run "$root" bash -c "cd /root/nvcache && $1"; }
{
  in_root 'apt-get update -q && apt-get install -y -q --no-install-recommends git ca-certificates'
  in_root 'git config --global --add safe.directory /root/nvcache && git add -A'
} > build/results/debian13.setup.log 2>&1 || { tail build/results/debian13.setup.log; exit 1; }

log=build/results/debian13.log
code=0
if [[ $# -eq 0 ]]; then
  in_root 'script/demo --quick' > "$log.demo" 2>&1 ||
    { tail -n 40 "$log.demo"; fail "the demo failed"; }
fi
in_root "script/test $*" 2>&1 | tee "$log" || code=$?
rm -rf build/results/debian13
[[ ! -d $root/root/nvcache/build/results ]] ||
  cp -r "$root/root/nvcache/build/results" build/results/debian13
# The warnings that users see who build it. Under sanitizers compilers warn of good code.
cat "$root"/root/nvcache/build/results/release.build.log "$log.demo" 2> /dev/null |
  grep -E '(warning|error):' | sort -u > "$log.warnings" || true
if [[ -s $log.warnings ]]; then
  cat "$log.warnings"
  fail "its compilers warn, see above"
fi
# shellcheck disable=SC2016  # the inner shell expands it
in_root '. /etc/os-release && echo "$PRETTY_NAME: $(g++ --version | head -n 1)" &&
  dpkg-query -W -f="\${Package} \${Version}\n" librocksdb-dev libabsl-dev libfmt-dev cmake \
    "clang-[0-9]*" 2> /dev/null | grep -v " $"' || true
exit "$code"
