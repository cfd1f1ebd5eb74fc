// A device in DRAM that loses power. A write is durable once drain() returned after it; until then
// a power failure keeps, of each sector of 4 KiB that was written since, the old bytes or the new
// ones, as a seeded adversary chooses. Of what is discarded it chooses, too: each sector keeps its
// bytes, or holds zeros or noise.
#pragma once

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "base/prng.h"
#include "medium/check.h"
#include "medium/medium.h"
#include "nvcache/status.h"

namespace nvcache {

// Thread-safe.
class PowerLossMedium final : public Medium {
 public:
  static constexpr uint32_t kSectorBytes = 4096;

  // `unit_bytes`: of I/O.
  explicit PowerLossMedium(uint64_t size_bytes, uint32_t unit_bytes = kSectorBytes)
      : size_bytes_(size_bytes),
        traits_{.name = "power loss",
                .persistent = true,
                .is_device = true,
                .io_granularity_bytes = unit_bytes,
                .flush_granularity_bytes = unit_bytes},
        now_(size_bytes),
        durable_(size_bytes) {}
  explicit PowerLossMedium(std::vector<std::byte> image) : PowerLossMedium(image.size()) {
    MutexLock lock(mutex_);
    now_ = image;
    durable_ = std::move(image);
  }

  uint64_t size_bytes() const override { return size_bytes_; }
  const Traits& traits() const override { return traits_; }
  Status read(uint64_t offset, MutableBytes into) override {
    if (Status status = check(offset, into.data(), into.size()); !status.ok()) return status;
    MutexLock lock(mutex_);
    std::memcpy(into.data(), now_.data() + offset, into.size());
    return ok_status();
  }
  Status write(uint64_t offset, ByteView from) override {
    if (Status status = check(offset, from.data(), from.size()); !status.ok()) return status;
    MutexLock lock(mutex_);
    std::memcpy(now_.data() + offset, from.data(), from.size());
    return ok_status();
  }
  Status drain() override {
    MutexLock lock(mutex_);
    durable_ = now_;
    return ok_status();
  }
  Status discard(Extent extent) override {
    MutexLock lock(mutex_);
    Prng random(mix64(++discards_));
    const uint64_t odds = random.below(5);  // none, all, or each sector by chance
    for (uint64_t at = extent.offset; at < extent.offset + extent.size_bytes; at += kSectorBytes) {
      if (random.below(4) >= odds) continue;
      std::memset(now_.data() + at, random.below(4) == 0 ? 0x5d : 0, kSectorBytes);
    }
    return ok_status();
  }
  uint64_t discards() const {
    MutexLock lock(mutex_);
    return discards_;
  }
  Status resize(uint64_t) override { return unimplemented_error("resize"); }

  // Leaves what is durable at the end there, when the medium is destroyed.
  void on_destruction(std::vector<std::byte>* durable) { at_end_ = durable; }
  ~PowerLossMedium() override {
    MutexLock lock(mutex_);
    if (at_end_ != nullptr) *at_end_ = durable_;
  }

  // The bytes of now, as a kill of the process leaves them.
  std::vector<std::byte> bytes() const {
    MutexLock lock(mutex_);
    return now_;
  }
  // The bytes that a power failure would leave now.
  std::vector<std::byte> crash(uint64_t seed) {
    MutexLock lock(mutex_);
    Prng random(seed);
    // All of what is not durable, none of it, or each sector by chance.
    const uint64_t odds = random.below(5);
    std::vector<std::byte> image = durable_;
    for (uint64_t at = 0; at < image.size(); at += kSectorBytes) {
      if (random.below(4) < odds) std::memcpy(image.data() + at, now_.data() + at, kSectorBytes);
    }
    return image;
  }

 private:
  Status check(uint64_t offset, const void* buffer, uint64_t length) const {
    if (Status status = check_range("power loss", offset, length, size_bytes()); !status.ok()) {
      return status;
    }
    return check_granularity("power loss", offset, buffer, length, traits_.io_granularity_bytes);
  }

  const uint64_t size_bytes_;
  const Traits traits_;
  std::vector<std::byte>* at_end_ = nullptr;
  mutable Mutex mutex_;
  std::vector<std::byte> now_ NVCACHE_GUARDED_BY(mutex_);
  std::vector<std::byte> durable_ NVCACHE_GUARDED_BY(mutex_);
  uint64_t discards_ NVCACHE_GUARDED_BY(mutex_) = 0;
};

}  // namespace nvcache
