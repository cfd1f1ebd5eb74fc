#include <string>
#include <string_view>

#include "file_cache/file_block_cache.h"
#include "fmt/format.h"
#include "nlohmann/json.hpp"

namespace nvcache {
namespace {

struct Counter {
  FileCount count;
  std::string_view name;
  std::string_view help;
};

constexpr Counter kCounters[] = {
    {FileCount::kReads, "reads", "Reads of cacheable files"},
    {FileCount::kServedReads, "served_reads", "Reads served by the cache"},
    {FileCount::kServedBytes, "served_bytes", "Bytes served by the cache"},
    {FileCount::kDiskReads, "disk_reads", "Reads that went to the file"},
    {FileCount::kDiskReadBytes, "disk_read_bytes", "Bytes read from the file"},
    {FileCount::kForeignReads, "foreign_reads", "Reads of no whole block, never cached"},
    {FileCount::kWrites, "writes", "Writes to cacheable files"},
    {FileCount::kWrittenBytes, "written_bytes", "Bytes written to cacheable files"},
    {FileCount::kOffers, "offers", "Blocks offered to the cache"},
    {FileCount::kAdmittedBytes, "admitted_bytes", "Bytes of blocks admitted"},
    {FileCount::kStaleOffers, "stale_offers", "Offers overtaken by a write"},
    {FileCount::kInvalidated, "invalidated", "Cached blocks outdated by writes and removals"},
};
static_assert(std::size(kCounters) == static_cast<size_t>(FileCount::kFieldCount));

struct Gauge {
  uint64_t FileStats::*value;
  std::string_view name;
  std::string_view help;
};

constexpr Gauge kGauges[] = {
    {&FileStats::files, "files", "Cacheable files open"},
    {&FileStats::dataset_bytes, "dataset_bytes", "Bytes of cacheable files open"},
    {&FileStats::extents, "extents", "Entries of the extent maps"},
    {&FileStats::metadata_bytes, "metadata_bytes", "Bytes of DRAM for the extent maps"},
};

}  // namespace

std::string FileStats::to_json() const {
  nlohmann::ordered_json out;
  for (const Counter& counter : kCounters) out[std::string(counter.name)] = (*this)[counter.count];
  for (const Gauge& gauge : kGauges) out[std::string(gauge.name)] = this->*gauge.value;
  return out.dump();
}

std::string FileStats::to_prometheus() const {
  std::string out;
  const auto append = [&](std::string_view name, std::string_view help, bool gauge,
                          uint64_t value) {
    const std::string full = fmt::format("nvcache_file_{}{}", name, gauge ? "" : "_total");
    out += fmt::format("# HELP {0} {1}\n# TYPE {0} {2}\n{0} {3}\n", full, help,
                       gauge ? "gauge" : "counter", value);
  };
  for (const Counter& counter : kCounters) {
    append(counter.name, counter.help, false, (*this)[counter.count]);
  }
  for (const Gauge& gauge : kGauges) append(gauge.name, gauge.help, true, this->*gauge.value);
  return out;
}

}  // namespace nvcache
