# A serving store for results of stream processing and daily tables, after "Laser" in
# *Hybrid Cache* (ATC '21).
# [P]: Hybrid Cache says it. [C]: our choice, because Hybrid Cache has no table.
# whatsapp.profile says more about each parameter.

name  = laser
about = serving store: the smallest values, nearly all gets

# --- the host, before scaling ---
databases         = 6      # [C]
keys_per_database = 1400M  # [C] 1.5 TB in all
threads           = 2      # [C]

# --- pairs ---
key_bytes         = 24     # [C]
value_least_bytes = 16     # [C] mean 154 bytes
value_scale_bytes = 110    # [C]
value_shape       = 0.20   # [C]
value_most_bytes  = 8192   # [C]

# --- locality ---
hot_share         = 0.10   # [P 3.2]
hot_accesses      = 0.50   # [P 3.2]
accessed_share    = 0.20   # [C] 300 GB
run_keys          = 384    # [C] some 4 blocks
repeat_share      = 0.50   # [C] as whatsapp
repeat_last       = 64     # [C]

# --- operations ---
get       = 0.96           # [C] "high query throughput" [P 2.3]
put       = 0.03           # [C]
seek      = 0.01           # [C]
seek_rows = 10             # [C]

# --- load, with --rate sine ---
qps_mean           = 30000 # [C]
qps_swing          = 10000 # [C]
qps_period_seconds = 20    # [C]
