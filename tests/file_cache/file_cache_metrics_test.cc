// The texts of a file cache's statistics, byte for byte: dashboards and scripts read them by name.
#include "file_cache/file_block_cache.h"
#include "support/metrics_samples.h"

namespace nvcache {
namespace {

using test::number_from;

FileStats sample_file_stats() {
  FileStats stats;
  for (size_t i = 0; i < stats.counts.size(); ++i) stats.counts[i] = 201 + i;
  number_from(301, &stats, &FileStats::files, &FileStats::dataset_bytes, &FileStats::extents,
              &FileStats::metadata_bytes);
  return stats;
}

TEST(MetricsText, OfAFileCacheIsAsItAlwaysWas) {
  EXPECT_EQ(sample_file_stats().to_json(),
            R"({"reads":201,"served_reads":202,"served_bytes":203,"disk_reads":204)"
            R"(,"disk_read_bytes":205,"foreign_reads":206,"writes":207,"written_bytes":208)"
            R"(,"offers":209,"admitted_bytes":210,"stale_offers":211,"invalidated":212)"
            R"(,"files":301,"dataset_bytes":302,"extents":303,"metadata_bytes":304})");
  EXPECT_EQ(sample_file_stats().to_prometheus(),
            R"~(# HELP nvcache_file_reads_total Reads of cacheable files
# TYPE nvcache_file_reads_total counter
nvcache_file_reads_total 201
# HELP nvcache_file_served_reads_total Reads served by the cache
# TYPE nvcache_file_served_reads_total counter
nvcache_file_served_reads_total 202
# HELP nvcache_file_served_bytes_total Bytes served by the cache
# TYPE nvcache_file_served_bytes_total counter
nvcache_file_served_bytes_total 203
# HELP nvcache_file_disk_reads_total Reads that went to the file
# TYPE nvcache_file_disk_reads_total counter
nvcache_file_disk_reads_total 204
# HELP nvcache_file_disk_read_bytes_total Bytes read from the file
# TYPE nvcache_file_disk_read_bytes_total counter
nvcache_file_disk_read_bytes_total 205
# HELP nvcache_file_foreign_reads_total Reads of no whole block, never cached
# TYPE nvcache_file_foreign_reads_total counter
nvcache_file_foreign_reads_total 206
# HELP nvcache_file_writes_total Writes to cacheable files
# TYPE nvcache_file_writes_total counter
nvcache_file_writes_total 207
# HELP nvcache_file_written_bytes_total Bytes written to cacheable files
# TYPE nvcache_file_written_bytes_total counter
nvcache_file_written_bytes_total 208
# HELP nvcache_file_offers_total Blocks offered to the cache
# TYPE nvcache_file_offers_total counter
nvcache_file_offers_total 209
# HELP nvcache_file_admitted_bytes_total Bytes of blocks admitted
# TYPE nvcache_file_admitted_bytes_total counter
nvcache_file_admitted_bytes_total 210
# HELP nvcache_file_stale_offers_total Offers overtaken by a write
# TYPE nvcache_file_stale_offers_total counter
nvcache_file_stale_offers_total 211
# HELP nvcache_file_invalidated_total Cached blocks outdated by writes and removals
# TYPE nvcache_file_invalidated_total counter
nvcache_file_invalidated_total 212
# HELP nvcache_file_files Cacheable files open
# TYPE nvcache_file_files gauge
nvcache_file_files 301
# HELP nvcache_file_dataset_bytes Bytes of cacheable files open
# TYPE nvcache_file_dataset_bytes gauge
nvcache_file_dataset_bytes 302
# HELP nvcache_file_extents Entries of the extent maps
# TYPE nvcache_file_extents gauge
nvcache_file_extents 303
# HELP nvcache_file_metadata_bytes Bytes of DRAM for the extent maps
# TYPE nvcache_file_metadata_bytes gauge
nvcache_file_metadata_bytes 304
)~");
}

}  // namespace
}  // namespace nvcache
