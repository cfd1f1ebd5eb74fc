// A medium in DRAM that loses power. Beside its bytes it keeps a shadow: what would be
// there after a power failure. A line of 64 bytes reaches the shadow when it was flushed
// and drain() returned, with the bytes it had at the flush; bytes that code stores through
// direct() count like those written.
//
// A crash image is made while the medium is in use. A seeded adversary decides for every 8
// bytes that differ from the shadow whether they survive: of each line all, none or some, each
// as likely. The image opens as a medium of its own.
//
// Calls are serialised by a lock; a crash image shows one moment, whatever threads are at work.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/mutex.h"
#include "base/prng.h"
#include "medium/medium.h"
#include "nvcache/status_or.h"

namespace nvcache {

class CrashingMedium final : public Medium {
 public:
  static constexpr uint64_t kLineBytes = 64;

  // Zeros, or the bytes of an image.
  explicit CrashingMedium(uint64_t size_bytes);
  explicit CrashingMedium(const std::vector<std::byte>& image);

  uint64_t size_bytes() const override { return current_bytes_; }
  const Traits& traits() const override { return traits_; }
  [[nodiscard]] Status read(uint64_t offset, MutableBytes into) override;
  [[nodiscard]] Status write(uint64_t offset, ByteView from) override;
  [[nodiscard]] Status flush(Extent extent) override;
  [[nodiscard]] Status drain() override;
  ByteView direct() const override { return {base_, current_bytes_}; }
  [[nodiscard]] Status resize(uint64_t size_bytes) override;

  // The bytes that a power failure would leave now.
  std::vector<std::byte> crash(uint64_t seed);

  // Makes an image just before the call of flush() or drain() with this number, from 0.
  void crash_at(uint64_t boundary, uint64_t seed);
  bool crashed() const { return crashed_.load(std::memory_order_acquire); }
  const std::vector<std::byte>& image() const { return image_; }

  // The processor writes some lines back of its own accord: of those that differ from the
  // shadow, one in `one_in`, chosen by the seed.
  void evict_lines(uint64_t seed, uint64_t one_in);

  uint64_t boundaries() const { return boundaries_.load(std::memory_order_relaxed); }
  uint64_t flushed_lines() const { return flushed_lines_.load(std::memory_order_relaxed); }
  uint64_t drains() const { return drains_.load(std::memory_order_relaxed); }
  uint64_t dirty_lines();

 private:
  struct PendingLine {
    uint64_t offset;
    std::byte bytes[kLineBytes];
  };

  void pass_boundary() NVCACHE_REQUIRES(mutex_);
  std::vector<std::byte> make_image(uint64_t seed) NVCACHE_REQUIRES(mutex_);
  void load_line(uint64_t offset, std::byte* to) const;

  const uint64_t current_bytes_;
  std::vector<uint64_t> current_;  // words, so that the memory is aligned
  std::byte* const base_;
  const Traits traits_;
  Mutex mutex_;
  std::vector<std::byte> shadow_ NVCACHE_GUARDED_BY(mutex_);
  std::vector<PendingLine> pending_ NVCACHE_GUARDED_BY(mutex_);
  bool armed_ NVCACHE_GUARDED_BY(mutex_) = false;
  uint64_t crash_boundary_ NVCACHE_GUARDED_BY(mutex_) = 0;
  uint64_t crash_seed_ NVCACHE_GUARDED_BY(mutex_) = 0;
  std::vector<std::byte> image_;
  std::atomic<bool> crashed_{false};
  std::atomic<uint64_t> boundaries_{0};
  std::atomic<uint64_t> flushed_lines_{0};
  std::atomic<uint64_t> drains_{0};
};

}  // namespace nvcache
