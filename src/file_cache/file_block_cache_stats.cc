#include <iterator>
#include <string>

#include "base/metrics.h"
#include "file_cache/file_block_cache.h"

namespace nvcache {
namespace {

using enum MetricKind;

template <FileCount kCount>
uint64_t total(const FileStats& stats) {
  return stats[kCount];
}

constexpr Metric<FileStats> kFileMetrics[] = {
    {"reads", "Reads of cacheable files", kCounter, total<FileCount::kReads>},
    {"served_reads", "Reads served by the cache", kCounter, total<FileCount::kServedReads>},
    {"served_bytes", "Bytes served by the cache", kCounter, total<FileCount::kServedBytes>},
    {"disk_reads", "Reads that went to the file", kCounter, total<FileCount::kDiskReads>},
    {"disk_read_bytes", "Bytes read from the file", kCounter, total<FileCount::kDiskReadBytes>},
    {"foreign_reads", "Reads of no whole block, never cached", kCounter,
     total<FileCount::kForeignReads>},
    {"writes", "Writes to cacheable files", kCounter, total<FileCount::kWrites>},
    {"written_bytes", "Bytes written to cacheable files", kCounter,
     total<FileCount::kWrittenBytes>},
    {"offers", "Blocks offered to the cache", kCounter, total<FileCount::kOffers>},
    {"admitted_bytes", "Bytes of blocks admitted", kCounter, total<FileCount::kAdmittedBytes>},
    {"stale_offers", "Offers overtaken by a write", kCounter, total<FileCount::kStaleOffers>},
    {"invalidated", "Cached blocks outdated by writes and removals", kCounter,
     total<FileCount::kInvalidated>},
    {"files", "Cacheable files open", kGauge, &FileStats::files},
    {"dataset_bytes", "Bytes of cacheable files open", kGauge, &FileStats::dataset_bytes},
    {"extents", "Entries of the extent maps", kGauge, &FileStats::extents},
    {"metadata_bytes", "Bytes of DRAM for the extent maps", kGauge, &FileStats::metadata_bytes},
};
constexpr size_t kFileGauges = 4;
static_assert(std::size(kFileMetrics) == static_cast<size_t>(FileCount::kFieldCount) + kFileGauges);

}  // namespace

std::string FileStats::to_json() const {
  JsonText json(-1);
  json.begin_object();
  append_json<FileStats>(kFileMetrics, *this, &json);
  json.end_object();
  return json.take();
}

std::string FileStats::to_prometheus() const {
  PrometheusText text("nvcache_file_");
  const Labeled<FileStats> all[] = {{.labels = "", .stats = this}};
  text.append<FileStats>(kFileMetrics, all);
  return text.take();
}

}  // namespace nvcache
