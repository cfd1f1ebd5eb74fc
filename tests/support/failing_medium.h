// A medium that fails on demand, for tests of code that uses media: a decorator with
// switches. Thread-safe on disjoint extents; the switches may be turned while
// accesses go on.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "base/prng.h"
#include "medium/medium.h"

namespace nvcache {

class FailingMedium final : public Medium {
 public:
  explicit FailingMedium(std::unique_ptr<Medium> inner)
      : inner_(std::move(inner)), traits_(inner_->traits()) {
    // Otherwise reads in place could not fail.
    if (traits_.reads != Reads::kByCopy) traits_.reads = Reads::kInPlaceAsked;
  }

  // After `successes` more reads (in-place ones included), writes or flushes, all fail with
  // `status`, until heal().
  void fail_reads(Status status, uint64_t successes = 0) {
    reads_.arm(std::move(status), successes);
  }
  void fail_writes(Status status, uint64_t successes = 0) {
    writes_.arm(std::move(status), successes);
  }
  void fail_flushes(Status status, uint64_t successes = 0) {
    flushes_.arm(std::move(status), successes);
  }
  void fail_drains(Status status, uint64_t successes = 0) {
    drains_.arm(std::move(status), successes);
  }
  void fail_discards(Status status, uint64_t successes = 0) {
    discards_.arm(std::move(status), successes);
  }
  // From now on each access fails with `status` by chance, `percent` in a hundred; the
  // choices follow from the seed and the number of the access. Until heal().
  void fail_some(const Status& status, uint32_t percent, uint64_t seed) {
    reads_.arm_some(status, percent, mix64(seed));
    writes_.arm_some(status, percent, mix64(seed + 1));
  }
  void heal() {
    reads_.disarm();
    writes_.disarm();
    flushes_.disarm();
    drains_.disarm();
    discards_.disarm();
  }

  // Inverts the bits of `mask` in the byte at `offset`, behind the user's back.
  // Aligned to the granularity within. Not counted as an access.
  [[nodiscard]] Status flip_bits(uint64_t offset, std::byte mask = std::byte{0xff}) {
    const uint64_t unit = traits_.io_granularity_bytes;
    std::vector<std::byte> room(2 * unit);
    const uint64_t misaligned = reinterpret_cast<uintptr_t>(room.data()) % unit;
    const MutableBytes bytes(room.data() + (unit - misaligned) % unit, unit);
    const uint64_t begin = offset / unit * unit;
    if (Status status = inner_->read(begin, bytes); !status.ok()) return status;
    bytes[offset - begin] ^= mask;
    return inner_->write(begin, bytes);
  }

  // Accesses asked for, failed ones included.
  uint64_t reads() const { return reads_.count.load(); }
  uint64_t writes() const { return writes_.count.load(); }
  uint64_t discards() const { return discards_.count.load(); }

  uint64_t size_bytes() const override { return inner_->size_bytes(); }
  const Traits& traits() const override { return traits_; }
  [[nodiscard]] Status read(uint64_t offset, MutableBytes into) override {
    if (Status status = reads_.next(); !status.ok()) return status;
    return inner_->read(offset, into);
  }
  [[nodiscard]] Status write(uint64_t offset, ByteView from) override {
    if (Status status = writes_.next(); !status.ok()) return status;
    return inner_->write(offset, from);
  }
  [[nodiscard]] Status flush(Extent extent) override {
    if (Status status = flushes_.next(); !status.ok()) return status;
    return inner_->flush(extent);
  }
  [[nodiscard]] Status drain() override {
    if (Status status = drains_.next(); !status.ok()) return status;
    return inner_->drain();
  }
  [[nodiscard]] Status discard(Extent extent) override {
    if (Status status = discards_.next(); !status.ok()) return status;
    return inner_->discard(extent);
  }
  ByteView direct() const override { return inner_->direct(); }
  [[nodiscard]] Status on_direct_read(Extent extent) override {
    if (Status status = reads_.next(); !status.ok()) return status;
    return inner_->on_direct_read(extent);
  }
  [[nodiscard]] Status resize(uint64_t size_bytes) override { return inner_->resize(size_bytes); }

 private:
  // One kind of access: how many were asked for, and which is the first to fail.
  struct Switch {
    std::atomic<uint64_t> count{0};
    Mutex mutex;
    uint64_t fails_from NVCACHE_GUARDED_BY(mutex) = std::numeric_limits<uint64_t>::max();
    uint32_t failing_percent NVCACHE_GUARDED_BY(mutex) = 0;
    uint64_t seed NVCACHE_GUARDED_BY(mutex) = 0;
    Status failure NVCACHE_GUARDED_BY(mutex);

    void arm(Status status, uint64_t successes) {
      MutexLock lock(mutex);
      failure = std::move(status);
      fails_from = count.load() + successes;
    }
    void arm_some(const Status& status, uint32_t percent, uint64_t new_seed) {
      MutexLock lock(mutex);
      failure = status;
      failing_percent = percent;
      seed = new_seed;
    }
    void disarm() {
      MutexLock lock(mutex);
      fails_from = std::numeric_limits<uint64_t>::max();
      failing_percent = 0;
    }
    Status next() {
      MutexLock lock(mutex);
      const uint64_t number = count.fetch_add(1);
      const bool fails = number >= fails_from || mix64(seed + number) % 100 < failing_percent;
      return fails ? failure : ok_status();
    }
  };

  const std::unique_ptr<Medium> inner_;
  Traits traits_;
  Switch reads_;
  Switch writes_;
  Switch flushes_;
  Switch drains_;
  Switch discards_;
};

}  // namespace nvcache
