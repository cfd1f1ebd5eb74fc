#!/usr/bin/env bash
# The jar for Java programs, with the libraries of portable builds for both processors, and the jars
# of its sources and its documentation.
#
# usage: jar.sh   (script/package jar calls it)
set -euo pipefail
cd "$(dirname "$0")/.."
. packaging/sources.sh

script/rocksdb_jni > /dev/null
folders=()
for preset in portable portable-aarch64; do
  processor=x86_64
  [[ $preset == portable ]] || processor=aarch64
  script/portable "$processor" > /dev/null
  log=build/packages/jar.$processor.log
  echo "Building for $processor, some minutes; the log is $log"
  { cmake --fresh --preset "$preset" && cmake --build "build/$preset" --target nvcache_jvm; } \
    > "$log" 2>&1 || { tail -n 30 "$log"; fail "the build for $processor failed"; }
  folders+=("$PWD/build/$preset/src/adapters/jvm")
done

# Maven writes beside its sources.
module=build/packages/jar.module out=build/packages/jar
rm -rf "$module" "$out"
mkdir -p "$out"
cp -r adapters/jvm "$module"
rm -rf "$module/target"
time=$(date -u -d "@$(package_time)" +%Y-%m-%dT%H:%M:%SZ)
mvn --offline --quiet --batch-mode -f "$module/pom.xml" \
  "-Dmaven.repo.local=$(script/rocksdb_jni --maven)" -Prelease -DskipTests \
  "-Dproject.build.outputTimestamp=$time" \
  "-Dnvcache.libraries=$(IFS=:; echo "${folders[*]}")" package > build/packages/jar.log 2>&1 ||
  { tail -n 30 build/packages/jar.log; fail "Maven failed"; }
cp "$module"/target/nvcache-jvm-*.jar "$out/"
cp "$module/pom.xml" "$out/nvcache-jvm-$(package_version).pom"
rm -rf "$module"
(cd "$out" && sha256sum -- * > ../jar.SHA256SUMS && mv ../jar.SHA256SUMS SHA256SUMS && cat SHA256SUMS)
