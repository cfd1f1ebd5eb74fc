# What each kind of package needs to know of the checkout. Sourced, in its root.

fail() {
  echo "script/package: $*" >&2
  exit 1
}

# The version, as CMakeLists.txt has it.
package_version() {
  sed -n 's/^project(nvcache VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt
}

# The time that packages bear, in seconds: that of the newest entry in Debian's changelog.
package_time() {
  date -d "$(sed -n 's/^ -- .*>  //p;T;q' packaging/debian/changelog)" +%s
}

# The files of the checkout that git knows, as they are.
copy_sources() {  # to
  mkdir -p "$1"
  git ls-files -z | tar --null --files-from=- --create | tar --extract --directory="$1"
}

# A digest of these files. A package is of the checkout as it is where this is what it was then.
sources_digest() {
  git ls-files -z | xargs -0 sha256sum | sha256sum
}
is_current() {  # file-with-a-digest
  [[ -f $1 && $(sources_digest) == "$(cat "$1")" ]]
}

# The same bytes for the same files: no order, time or owner of this machine.
pack() {  # folder name-in-it archive
  tar --create --directory="$1" --sort=name --format=posix --mtime="@$(package_time)" \
    --pax-option=exthdr.name=%d/PaxHeaders/%f,delete=atime,delete=ctime --owner=0 --group=0 \
    --numeric-owner --mode='u+rwX,go=rX' "$2" | gzip --no-name --best > "$3"
}
