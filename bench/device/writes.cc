#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "base/clock.h"
#include "device/fio.h"
#include "device/measure.h"
#include "device/plain_file.h"
#include "fmt/format.h"

namespace nvcache::bench {
namespace {

constexpr const char* kTakesAll = "&space=regions&format=yes&admission=always&eviction=fifo";

// fio's writes of the same file, so many in flight.
struct Beside {
  uint32_t in_flight;
  double bytes_per_second = 0;  // of this round
  std::vector<double> rounds = {};
};

}  // namespace

Status measure_writes(const Disk& disk, Figures* figures) {
  const uint64_t blocks = 2 * disk.size_bytes / kBlockBytes;  // each later one displaces one
  const double put_bytes = static_cast<double>(blocks * kBlockBytes);
  std::vector<double> beside_plain;
  std::vector<Beside> beside_fio;
  if (has_fio()) beside_fio = {{.in_flight = 1}, {.in_flight = 4}};
  Stats stats;
  for (uint32_t round = 0; round < disk.rounds; ++round) {
    StatusOr<PlainFile> plain = PlainFile::make(disk.file("plain"), disk.size_bytes);
    if (!plain.ok()) return plain.status();
    const StatusOr<double> plain_seconds = plain->write_seconds();
    if (!plain_seconds.ok()) return plain_seconds.status();
    for (Beside& fio : beside_fio) {
      const auto speed = fio_bytes_per_second(disk.file("plain"), disk.size_bytes, fio.in_flight);
      if (!speed.ok()) return speed.status();
      fio.bytes_per_second = *speed;
    }

    auto cache = open_cache(disk, "cache", disk.size_bytes, kTakesAll);
    if (!cache.ok()) return cache.status();
    const uint64_t start_ns = system_clock().now_ns();
    const StatusOr<uint64_t> waits = put_all(**cache, blocks, kBlockBytes);
    if (!waits.ok()) return waits.status();
    (*cache)->drain();
    // As the plain writes end.
    if (Status synced = sync_file(disk.file("cache")); !synced.ok()) return synced;
    const double seconds = static_cast<double>(system_clock().now_ns() - start_ns) / 1e9;
    beside_plain.push_back(put_bytes / seconds * *plain_seconds /
                           static_cast<double>(disk.size_bytes));
    for (Beside& fio : beside_fio) {
      fio.rounds.push_back(put_bytes / seconds / fio.bytes_per_second);
    }
    stats = (*cache)->stats();
  }
  const auto written_bytes = static_cast<double>(stats.medium_written_bytes);
  figures->add_rounds("puts beside plain writes of 1 MiB", "x", beside_plain);
  for (const Beside& fio : beside_fio) {
    figures->add_rounds(
        fmt::format("puts beside fio's writes of 1 MiB, {} in flight", fio.in_flight), "x",
        fio.rounds);
  }
  figures->add("mean write", "KiB",
               written_bytes / static_cast<double>(stats.medium_writes) / 1024);
  figures->add("written for each byte put", "x", written_bytes / put_bytes);
  return ok_status();
}

}  // namespace nvcache::bench
