# For scripts that keep what they get in a folder outside the checkout. Sourced, before a script
# changes its folder. Sets $cache, where such folders are; the script sets $root, its own.
# shellcheck shell=bash
cache=${NVCACHE_CACHE_DIR:-${XDG_CACHE_HOME:-${HOME:-/var/tmp}/.cache}/nvcache}
[[ $cache == /* ]] || cache=$PWD/$cache
this_script=$(cd "$(dirname "$0")" && pwd)/$(basename "$0")

fail() {
  echo "script/${this_script##*/}: $*" >&2
  exit 1
}

# Prints the comment at the top of the script.
show_help() { sed -n '2,/^set -/{/^set -/d;s/^# \{0,1\}//;p}' "$this_script"; }

refuse() {  # option, what is allowed
  echo "script/${this_script##*/}: '$1' is not an option; allowed: $2" >&2
  exit 2
}

# Prints $root or the help, and ends the script; returns if there is no option.
answer_options() {  # option, what is allowed
  case ${1:-} in
    '') return ;;
    --root) printf '%s\n' "$root" ;;
    -h | --help) show_help ;;
    *) refuse "$1" "${2:---root, --help}" ;;
  esac
  exit 0
}

# One run at a time. Held until the script ends, or closes $lock.
take_lock() {  # name [what is built]
  mkdir -p "$cache"
  exec {lock}> "$cache/$1.lock"
  if ! flock --nonblock "$lock"; then
    [[ -z ${2:-} ]] || echo "Another run is building $2: waiting for it"
    flock "$lock"
  fi
}

# Makes $work, a new folder that goes when the script ends.
make_work() {  # prefix of its name
  rm -rf "$cache/$1".*  # left by killed runs: we hold the lock
  work=$(mktemp -d "$cache/$1.XXXXXX")
  trap 'rm -rf "$work"' EXIT
}

step() {  # what command...
  echo "$1 [$SECONDS s]"
  shift
  "$@" > "$work/log" 2>&1 {lock}>&- || {
    tail -n 40 "$work/log" >&2
    fail "failed: $*"
  }
}

# Gets the source archive of a Debian package, by copies of the system's package lists, turned into
# source lists. The system's own lists stay as they are.
download_source() {  # package[=version] name-of-the-source archive
  local apt=$work/apt list
  mkdir -p "$apt"/{sources,lists/partial,cache/archives/partial}
  for list in /etc/apt/sources.list /etc/apt/sources.list.d/*.{list,sources}; do
    [[ -f $list ]] || continue
    sed -E 's/^Types:.*/Types: deb-src/; s/^deb([[:blank:]])/deb-src\1/' "$list" \
      > "$apt/sources/$(basename "$list")"
  done
  local own=(-o Dir::Etc::SourceList=/dev/null -o "Dir::Etc::SourceParts=$apt/sources"
             -o "Dir::State::Lists=$apt/lists" -o "Dir::Cache=$apt/cache"
             # apt's own user cannot write to this folder.
             -o APT::Sandbox::User=)
  apt-get -q "${own[@]}" update || true  # another vendor's list may have no sources
  (cd "$apt" && apt-get -q "${own[@]}" source --download-only --tar-only "$1")
  mv "$apt/$2"_*.orig.tar.* "$3"
}

# Unpacks an archive into $work/source, if it is the one that is expected.
unpack_source() {  # archive sha256
  local found
  found=$(sha256sum < "$1") || fail "$1: cannot be read"
  [[ ${found%% *} == "$2" ]] || fail "$1 has sha256 ${found%% *}, expected $2"
  mkdir "$work/source"
  step "Unpacking" tar -xf "$1" -C "$work/source" --strip-components=1
}

# Gives $work/root the name $root. Complete or absent: everything is in it.
keep_root() {
  rm -rf "$root"  # only somebody's hand can have made an incomplete one
  mv -T "$work/root" "$root"
}
