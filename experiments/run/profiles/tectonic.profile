# Metadata of a large blob store: which blocks make up a file, and where they are; after "Tectonic
# Metadata" in *Hybrid Cache* (ATC '21).
# [P]: Hybrid Cache says it. [C]: our choice, because Hybrid Cache has no table.
# whatsapp.profile says more about each parameter.

name  = tectonic
about = blob store metadata: more data, longer values, more seeks

# --- the host, before scaling ---
databases         = 12     # [C]
keys_per_database = 360M   # [C] 2 TB in all; [P 6.2]: "has a larger DB size than WhatsApp or Laser"
threads           = 2      # [C]

# --- pairs ---
key_bytes         = 40     # [C]
value_least_bytes = 32     # [C] mean 418 bytes
value_scale_bytes = 270    # [C]
value_shape       = 0.30   # [C]
value_most_bytes  = 16384  # [C]

# --- locality ---
hot_share         = 0.10   # [P 3.2]
hot_accesses      = 0.50   # [P 3.2]
accessed_share    = 0.20   # [C] 400 GB: the largest working set of the three
run_keys          = 128    # [C] some 4 blocks
repeat_share      = 0.50   # [C] as whatsapp
repeat_last       = 64     # [C]

# --- operations ---
get       = 0.75           # [C] reads dominate [P 2.3]
put       = 0.10           # [C]
seek      = 0.15           # [C] listing the blocks of a file
seek_rows = 16             # [C]

# --- load, with --rate sine ---
qps_mean           = 12000 # [C]
qps_swing          = 4000  # [C]
qps_period_seconds = 20    # [C]
