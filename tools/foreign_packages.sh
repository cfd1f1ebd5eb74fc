# Debian's packages for another processor, without root: the machine's own apt stays as it is.
# Sourced; the caller has fail(), and a folder for what is read and kept on the way.

# Reads the lists of packages. Then `apt-get "${foreign_apt[@]}"` and apt-cache know them.
read_foreign_lists() {  # processor-as-debian-names-it folder
  foreign_apt=(-o "APT::Architecture=$1" -o "APT::Architectures=$1" -o "Dir::State=$2/state"
               -o "Dir::State::status=$2/status" -o "Dir::Cache=$2/cache" -o APT::Sandbox::User=)
  mkdir -p "$2"/state/lists/partial "$2"/cache/archives/partial
  : > "$2/status"  # nothing is installed
  apt-get "${foreign_apt[@]}" update -q > "$2/log" 2>&1 || fail "apt-get: $(tail -n 1 "$2/log")"
}

# Unpacks packages over each other, as a system has them: its /lib is in /usr.
unpack_packages() {  # into package-files...
  local into=$1 package
  shift
  for package in "$@"; do
    dpkg-deb --fsys-tarfile "$package" |
      tar --extract --directory="$into" --keep-directory-symlink --no-same-owner
  done
}
