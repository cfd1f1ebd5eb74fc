# A folder that is removed at the end, and how a test of a package fails. Sourced.
work=$(mktemp -d /var/tmp/nvcache.XXXXXX)
trap 'rm -rf "$work"' EXIT

fail() {
  echo "FAILED: $*" >&2
  exit 1
}
