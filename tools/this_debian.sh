# The differences between the Debians that nvcache is built on. Sourced.
clang_version=16          # for the tests under ThreadSanitizer and the fuzzers
memkind=(libmemkind-dev)  # for WiredTiger's own cache in NVRAM, which experiments compare with
# shellcheck source=/dev/null
if [[ $(. /etc/os-release 2> /dev/null && echo "${VERSION_ID:-}") == 13 ]]; then
  clang_version=19
  memkind=()
fi
