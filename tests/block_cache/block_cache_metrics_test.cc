// The texts of a block cache's statistics, byte for byte: dashboards and scripts read them by name.
#include "support/metrics_samples.h"

namespace nvcache {
namespace {

using test::refusals_json;
using test::refusals_prometheus;
using test::sample_stats;

TEST(MetricsText, OfABlockCacheIsAsItAlwaysWas) {
  EXPECT_EQ(sample_stats().to_json(), R"~({
  "hits": 101,
  "misses": 102,
  "background_hits": 1,
  "background_misses": 2,
  "inserts": 105,
  "compressed_blocks": 0,
  "removals": 106,
  "evictions": 107,
  "erases": 108,
  "recovered_blocks": 0,
  "damaged_regions": 0,
  "rewritten_blocks": 0,
  "damaged_blocks": 109,
  "failed_blocks": 0,
  "medium_errors": 110,
  "medium_read_bytes": 111,
  "medium_written_bytes": 112,
  "medium_writes": 0,
  "rewritten_bytes": 0,
  "compressed_bytes": 0,
  "discarded_bytes": 0,
  "discard_errors": 0,
  "blocks": 113,
  "data_bytes": 114,
  "used_bytes": 115,
  "size_bytes": 116,
  "metadata_bytes": 117,
  "dataset_size_bytes": 118,
  "pending_bytes": 119,
  "buffer_bytes": 0,
  "regions": 0,
  "free_regions": 0,
  "set_aside_bytes": 0,
  "recovering": 0,
  "failed": 120,
  "overhead_ratio": 0.3,
  "hit_ratio": 0.5,
  "refused": {
)~" + refusals_json(4) +
                                          R"~(
  },
  "medium": "file:\"a\\b\"\n",
  "admission": "always",
  "eviction": "lru"
})~");
  EXPECT_EQ(sample_stats().to_prometheus(),
            R"~(# HELP nvcache_hits_total Lookups that served a block
# TYPE nvcache_hits_total counter
nvcache_hits_total 101
# HELP nvcache_misses_total Lookups that served none
# TYPE nvcache_misses_total counter
nvcache_misses_total 102
# HELP nvcache_background_hits_total Hits of background work
# TYPE nvcache_background_hits_total counter
nvcache_background_hits_total 1
# HELP nvcache_background_misses_total Misses of background work
# TYPE nvcache_background_misses_total counter
nvcache_background_misses_total 2
# HELP nvcache_inserts_total Blocks inserted
# TYPE nvcache_inserts_total counter
nvcache_inserts_total 105
# HELP nvcache_compressed_blocks_total Blocks inserted that the engine had compressed
# TYPE nvcache_compressed_blocks_total counter
nvcache_compressed_blocks_total 0
# HELP nvcache_removals_total Blocks removed, for any cause
# TYPE nvcache_removals_total counter
nvcache_removals_total 106
# HELP nvcache_evictions_total Blocks evicted
# TYPE nvcache_evictions_total counter
nvcache_evictions_total 107
# HELP nvcache_erases_total Blocks erased by key or file
# TYPE nvcache_erases_total counter
nvcache_erases_total 108
# HELP nvcache_recovered_blocks_total Blocks that came back after a restart
# TYPE nvcache_recovered_blocks_total counter
nvcache_recovered_blocks_total 0
# HELP nvcache_damaged_regions_total Regions whose index could not be read
# TYPE nvcache_damaged_regions_total counter
nvcache_damaged_regions_total 0
# HELP nvcache_rewritten_blocks_total Blocks moved to another region
# TYPE nvcache_rewritten_blocks_total counter
nvcache_rewritten_blocks_total 0
# HELP nvcache_damaged_blocks_total Blocks whose checksum failed
# TYPE nvcache_damaged_blocks_total counter
nvcache_damaged_blocks_total 109
# HELP nvcache_failed_blocks_total Blocks lost by reads and writes the medium failed
# TYPE nvcache_failed_blocks_total counter
nvcache_failed_blocks_total 0
# HELP nvcache_medium_errors_total Reads and writes the medium failed
# TYPE nvcache_medium_errors_total counter
nvcache_medium_errors_total 110
# HELP nvcache_medium_read_bytes_total Bytes read from the medium
# TYPE nvcache_medium_read_bytes_total counter
nvcache_medium_read_bytes_total 111
# HELP nvcache_medium_written_bytes_total Bytes written to the medium
# TYPE nvcache_medium_written_bytes_total counter
nvcache_medium_written_bytes_total 112
# HELP nvcache_medium_writes_total Writes to the medium
# TYPE nvcache_medium_writes_total counter
nvcache_medium_writes_total 0
# HELP nvcache_rewritten_bytes_total Bytes of rewritten blocks
# TYPE nvcache_rewritten_bytes_total counter
nvcache_rewritten_bytes_total 0
# HELP nvcache_compressed_bytes_total Bytes of blocks that the engine had compressed
# TYPE nvcache_compressed_bytes_total counter
nvcache_compressed_bytes_total 0
# HELP nvcache_discarded_bytes_total Bytes of emptied regions given back to the medium
# TYPE nvcache_discarded_bytes_total counter
nvcache_discarded_bytes_total 0
# HELP nvcache_discard_errors_total Discards that failed: the first turns discard off
# TYPE nvcache_discard_errors_total counter
nvcache_discard_errors_total 0
# HELP nvcache_blocks Blocks in the cache
# TYPE nvcache_blocks gauge
nvcache_blocks 113
# HELP nvcache_data_bytes Bytes of data in the cache
# TYPE nvcache_data_bytes gauge
nvcache_data_bytes 114
# HELP nvcache_used_bytes Bytes of the medium taken
# TYPE nvcache_used_bytes gauge
nvcache_used_bytes 115
# HELP nvcache_size_bytes Bytes of the medium
# TYPE nvcache_size_bytes gauge
nvcache_size_bytes 116
# HELP nvcache_metadata_bytes Bytes of DRAM for metadata
# TYPE nvcache_metadata_bytes gauge
nvcache_metadata_bytes 117
# HELP nvcache_dataset_size_bytes Bytes of the engine's dataset
# TYPE nvcache_dataset_size_bytes gauge
nvcache_dataset_size_bytes 118
# HELP nvcache_pending_bytes Bytes in the write queue
# TYPE nvcache_pending_bytes gauge
nvcache_pending_bytes 119
# HELP nvcache_buffer_bytes Bytes of DRAM for open regions
# TYPE nvcache_buffer_bytes gauge
nvcache_buffer_bytes 0
# HELP nvcache_regions Regions of the medium
# TYPE nvcache_regions gauge
nvcache_regions 0
# HELP nvcache_free_regions Regions that are free
# TYPE nvcache_free_regions gauge
nvcache_free_regions 0
# HELP nvcache_set_aside_bytes Bytes of the medium not used since a write there failed
# TYPE nvcache_set_aside_bytes gauge
nvcache_set_aside_bytes 0
# HELP nvcache_recovering 1 while blocks come back after a restart
# TYPE nvcache_recovering gauge
nvcache_recovering 0
# HELP nvcache_failed 1 when the medium is off for reads or writes
# TYPE nvcache_failed gauge
nvcache_failed 120
# HELP nvcache_overhead_ratio Overhead ratio now
# TYPE nvcache_overhead_ratio gauge
nvcache_overhead_ratio 0.3
# HELP nvcache_refused_total Blocks refused, by reason
# TYPE nvcache_refused_total counter
)~" + refusals_prometheus() +
                R"~(# HELP nvcache_info What the cache lies on and by which policies
# TYPE nvcache_info gauge
nvcache_info{medium="file:\"a\\b\"\n",admission="always",eviction="lru"} 1
)~");
}

}  // namespace
}  // namespace nvcache
