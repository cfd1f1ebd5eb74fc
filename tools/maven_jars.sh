# Jars by Maven, for script/rocksdb_jni. Sourced, after kept.sh; works in $work, and logs to
# $work/log.
# shellcheck shell=bash

# The other systems' libraries are most of a jar.
strip_jar() {  # jar
  python3 - "$1" << 'PYTHON'
import sys, zipfile
path = sys.argv[1]
with zipfile.ZipFile(path) as whole, zipfile.ZipFile(path + ".part", "w") as part:
    for name in whole.namelist():
        if name == "librocksdbjni-linux64.so" or name.endswith(".class"):
            part.writestr(name, whole.read(name), zipfile.ZIP_STORED)
    assert "librocksdbjni-linux64.so" in part.namelist(), "no library for x86-64"
PYTHON
  mv "$1.part" "$1"
}

get_with_dependencies() {  # part without group:artifact:version...
  local part=$1 without=$2 group artifact version
  command -v mvn > /dev/null || fail "the jars come by mvn, which is not installed"
  rm -rf "$work/project"
  mkdir "$work/project"
  {
    echo '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>'
    echo '<groupId>nvcache</groupId><artifactId>jars</artifactId><version>1</version><dependencies>'
    for each in "${@:3}"; do
      IFS=: read -r group artifact version <<< "$each"
      echo "<dependency><groupId>$group</groupId><artifactId>$artifact</artifactId>" \
        "<version>$version</version></dependency>"
    done
    echo '</dependencies></project>'
  } > "$work/project/pom.xml"
  mvn --quiet --batch-mode -f "$work/project/pom.xml" "-Dmaven.repo.local=$work/maven" \
    dependency:copy-dependencies -DincludeScope=runtime "-DexcludeArtifactIds=$without" \
    "-DoutputDirectory=$work/$part" > "$work/log" 2>&1 ||
    fail "mvn could not fetch $part: $(grep -m 1 ERROR "$work/log")"
}
