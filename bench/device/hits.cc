#include <vector>

#include "base/clock.h"
#include "base/prng.h"
#include "device/measure.h"
#include "device/plain_file.h"

namespace nvcache::bench {

Status measure_hits(const Disk& disk, Figures* figures) {
  constexpr int kReads = 2000;
  auto plain = PlainFile::make(disk.file("plain"), disk.size_bytes / 2);
  if (!plain.ok()) return plain.status();
  auto cache = open_cache(disk, "cache", disk.size_bytes,
                          "&space=regions&format=yes&admission=always&eviction=fifo");
  if (!cache.ok()) return cache.status();
  const uint64_t blocks = plain->blocks();
  const auto waits = put_all(**cache, blocks, kBlockBytes);
  if (!waits.ok()) return waits.status();
  (*cache)->drain();
  std::vector<double> beside_plain;
  for (uint32_t round = 0; round < disk.rounds; ++round) {
    Prng random(round + 1);
    uint64_t plain_ns = 0;
    uint64_t hit_ns = 0;
    for (int turn = 0; turn < kReads; ++turn) {
      const uint64_t start_ns = system_clock().now_ns();
      if (Status read = plain->read(random.below(blocks)); !read.ok()) return read;
      const uint64_t middle_ns = system_clock().now_ns();
      if (!(*cache)->lookup(key_of(random.below(blocks))).hit()) {
        return data_loss_error("a block that was put is not found");
      }
      hit_ns += system_clock().now_ns() - middle_ns;
      plain_ns += middle_ns - start_ns;
    }
    beside_plain.push_back(static_cast<double>(hit_ns) / static_cast<double>(plain_ns));
  }
  figures->add_rounds("a hit of 4 KiB beside a plain read", "x", beside_plain);
  return ok_status();
}

}  // namespace nvcache::bench
