#!/usr/bin/env bash
# Runs a program on the jar in a fresh Debian that has a JRE, and nothing that nvcache is built
# with, under each version of RocksDB in docs/guide/jvm.md. It verifies each value that it reads.
#
# usage: jar_test.sh JAR    (tools/package_lane.sh calls it, as root)
set -euo pipefail
jar=$(realpath "$1")
cd "$(dirname "$0")/../.."
. tests/packages/scratch.sh

for part in sources javadoc; do
  unzip -tqq "${jar%.jar}-$part.jar" || fail "no jar of $part beside $jar"
done
for field in name description url licenses developers scm; do
  grep -q "<$field>" "${jar%.jar}.pom" || fail "the pom has no $field, which Maven Central wants"
done

tools/debian_root.sh copy \
  "$(tools/debian_root.sh make bookworm jre openjdk-17-jre-headless)" "$work/root"
if tools/debian_root.sh run "$work/root" dpkg-query -W -f='${Package}\n' |
  grep -E '^(g\+\+|libfmt|libxxhash-dev|libpmem2|librocksdb)'; then
  fail "the root has what nvcache is built with"
fi
maven=$(script/rocksdb_jni --maven)
mkdir -p "$work/root/tmp/nvcache/classes"
cp "$jar" "$work/root/tmp/nvcache/nvcache.jar"
for path in org/rocksdb/rocksdbjni/9.7.3 org/rocksdb/rocksdbjni/10.10.1 \
  org/rocksdb/rocksdbjni/11.1.1 com/ververica/frocksdbjni/8.10.0-ververica-1.0; do
  rocksdb=$(echo "$maven/$path"/*rocksdbjni-*.jar)
  cp "$rocksdb" "$work/root/tmp/nvcache/rocksdb.jar"
  javac -d "$work/root/tmp/nvcache/classes" -cp "$jar:$rocksdb" \
    adapters/jvm/src/test/java/nvcache/{Program,Database}.java
  rm -rf "$work/root/tmp/nvcache/work"
  mkdir "$work/root/tmp/nvcache/work"
  tools/debian_root.sh run "$work/root" java -Xmx256m -cp \
    /tmp/nvcache/nvcache.jar:/tmp/nvcache/rocksdb.jar:/tmp/nvcache/classes nvcache.Program \
    /tmp/nvcache/work "tiered://?dram=2MiB&tier=(size=64MiB)" read > "$work/log" 2>&1 ||
    fail "$path: $(cat "$work/log")"
  grep -qx verified "$work/log" || fail "$path: $(cat "$work/log")"
  hits=$(sed -n 's/^tier_hits=//p' "$work/log")
  [[ ${hits:-0} -gt 0 ]] || fail "$path: no block came from the tier: $(cat "$work/log")"
  echo "$path: $hits hits in the tier, all values right"
done
