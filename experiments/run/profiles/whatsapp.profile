# A messaging store behind a replicated key-value service, after "WhatsApp" in "Improving the
# Performance of Flash Based Key-Value Stores Using Storage Class Memory as a Volatile Memory
# Extension" (ATC '21).
# [P]: Hybrid Cache says it. [C]: our choice, because Hybrid Cache has no table.

name  = whatsapp
about = messaging store: small values, mostly gets

# --- the host, before scaling ---
databases         = 8      # [C] production shards on one host, which share a block cache [P 5.5]
keys_per_database = 800M   # [C] 1.6 TB in all; [P 3.2]: "~2TB total KVstorage per server"
threads           = 2      # [C] clients; few, as emulated persistent memory keeps a core busy

# --- pairs ---
key_bytes         = 32     # [C]
# Values: generalized Pareto [P 5.5], least + scale / shape * ((1 - u)^-shape - 1), mean 216 bytes.
value_least_bytes = 16     # [C]
value_scale_bytes = 150    # [C]
value_shape       = 0.25   # [C] the tail: 1 in 100 is longer than 1300 bytes
value_most_bytes  = 8192   # [C] cut off here

# --- locality ---
# P(rank below the share x of the accessed pairs) = x^b, b = ln 0.5 / ln 0.1 = 0.301.
hot_share         = 0.10   # [P 3.2, Figure 6] "10% of the key-value pairs ...
hot_accesses      = 0.50   #  ... carry ~50% of the key-value accesses"
# Figure 6 is about "the total keys accessed". How many of all those are is not said. This
# share is fitted on DRAM alone, RocksDB's own LRU: with it 64-0 reads from storage about twice
# as often as 2P, whose throughput it reaches 50 - 60% of (6.4).
accessed_share    = 0.20   # [C] 320 GB
# Pairs of like heat are neighbours, in runs of some 4 blocks of 16 KiB. With single hot pairs
# scattered among cold ones, blocks would have no locality at all, and no cache would help.
run_keys          = 256    # [C]
# A law of how often says nothing of when. "P50 latencies are primarily governed by DRAM
# accesses" (6.1), with 12 GB of DRAM too: an LRU of 12 GB must serve more than half, which the
# law alone does not give. So a share of the operations goes to a pair which the same client
# accessed a moment ago. Fitted on DRAM alone to that one statement, for all three workloads
# together; how often each pair is accessed in all stays what the law says.
repeat_share      = 0.50   # [C]
repeat_last       = 64     # [C] a moment: fewer blocks than the smallest cache has

# --- operations ---
get       = 0.90           # [C] [P 2.3, Figure 5a]: reads dominate
put       = 0.07           # [C]
seek      = 0.03           # [C]
seek_rows = 10             # [C] rows that a seek goes on to read

# --- load, with --rate sine: mean + swing * sin(2 pi t / period) operations/s ---
qps_mean           = 20000 # [C] [P 5.5]: a sine; no numbers there
qps_swing          = 10000 # [C]
qps_period_seconds = 20    # [C] stands for a day
