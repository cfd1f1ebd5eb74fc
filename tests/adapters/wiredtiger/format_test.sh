#!/usr/bin/env bash
# WiredTiger's own test/format with the extension loaded: it compares what it reads with
# what it wrote, verifies, backs up, compacts and salvages. Here for a bounded time, on
# small pages and a small cache, buffered and with direct I/O.
# Usage: format_test.sh FORMAT EXTENSION.SO SECONDS RUNS OPERATIONS good|bad
#   begins runs of so many operations for so many seconds, and at least so many
#   good: every run must end well, and the second tier must have served and invalidated
#   bad:  an extension with a fault: one of the same runs must fail
# Exit: 0 as wanted, 1 not, 77 skipped.
set -euo pipefail

format=$(realpath "$1")
extension=$(realpath "$2")
settings=$(dirname "$(realpath "$0")")/format.config
seconds=$3
least_runs=$4
operations=$5
wanted=$6
if [[ ! -x $format ]]; then
  echo "skipped: no test/format (script/wiredtiger builds it)"
  exit 77
fi
first_seed=${NVCACHE_TEST_SEED:-1}
# A run is bounded by its operations: 15 s alone, and minutes beside a build on a slow disk.
hung_after_seconds=600

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
ulimit -c 0

cat "$settings" - > CONFIG <<EOF
runs.ops=$operations
runs.rows=$((operations * 2 / 3))
EOF

# A run's connections come one after the other, and each writes its statistics over the
# last one's: the largest counts that were seen are kept. served, invalidated, damaged.
served=0 invalidated=0
look_at_statistics() {
  local now
  now=$(python3 - stats.json <<'EOF' 2>/dev/null || echo "0 0"
import json, sys
files = json.load(open(sys.argv[1]))["files"]
print(files["served_reads"], files["invalidated"])
EOF
  )
  [[ ${now% *} -le $served ]] || served=${now% *}
  [[ ${now#* } -le $invalidated ]] || invalidated=${now#* }
}

# run SEED "SPEC WRITES" DIRECT_IO: output to out; test/format's exit status
run() {
  local seed=$1 spec=$2 direct_io=$3 config process status=0
  config="cache=\"nvcache://?${spec% *}\",writes=${spec#* },stats=\"$work/stats.json\",stats_interval=1"
  rm -rf run stats.json
  served=0 invalidated=0
  # The folder it was built in may be gone: the library lies beside its folder now.
  LD_LIBRARY_PATH=$(dirname "$format")/.. timeout "$hung_after_seconds" \
    "$format" -q -h run -c CONFIG \
    -C "extensions=[\"$extension\"=(early_load=true,config=($config))]" \
    random.data_seed="$seed" random.extra_seed="$seed" disk.direct_io="$direct_io" >out 2>&1 &
  process=$!
  while kill -0 "$process" 2>/dev/null; do
    look_at_statistics
    sleep 0.3
  done
  wait "$process" 2>/dev/null || status=$?
  look_at_statistics
  return $status
}

why() { grep -E "FAILED|PANIC|read checksum error|mismatch" out | head -3 | cut -c1-400; }

# Specification and what becomes of written blocks. Where written blocks do not enter the cache,
# an outdated block that a fault leaves behind is certainly served.
tiers=("size=16MiB&admission=always&eviction=clock skip"
  "size=8MiB&admission=always&eviction=lru offer"
  "size=4MiB&admission=second_touch&eviction=s3fifo update")
ran=0
for ((seed = first_seed; SECONDS < seconds || ran < least_runs; ++seed, ++ran)); do
  tier=${tiers[$((ran % 3))]}
  direct_io=$((ran % 2))
  name="seed $seed, ${tier% *}, writes=${tier#* }, direct_io=$direct_io"
  status=0
  run "$seed" "$tier" "$direct_io" || status=$?
  if [[ $status -ne 0 ]]; then
    echo "test/format ends with $status: $name: $served served, $invalidated invalidated"
    why
    if [[ $status -eq 124 ]]; then
      echo "FAILED: the run hung, or is slower than $hung_after_seconds s"
      tail -20 out
      exit 1
    fi
    if [[ $wanted == bad ]]; then
      # Only a failure that a wrong block causes counts, not a run that could not begin. A run that
      # fails before its first statistics, within a second, tells neither: the next seed.
      if [[ $served -gt 0 ]]; then
        echo "ok: the broken extension was found, run $((ran + 1))"
        exit 0
      fi
      continue
    fi
    tail -20 out
    exit 1
  fi
  grep -q "successful run completed" out || { tail -20 out; exit 1; }
  if [[ $wanted == good && ($served -lt 100 || $invalidated -lt 10) ]]; then
    echo "FAILED: $name: only $served served, $invalidated invalidated"
    exit 1
  fi
  echo "ran: $name: $served served, $invalidated invalidated"
done
[[ $wanted == good ]] && exit 0
tail -20 out
echo "FAILED: $ran runs, and none failed after blocks were served"
exit 1
