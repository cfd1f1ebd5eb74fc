// A decorator that keeps count of what the accesses to a medium take, as their callers see it: of
// one read in sixteen, of all writes of 16 KiB and more, and of one in sixteen of the others. Where
// it measures it costs two looks at the clock and a store that threads share; elsewhere a call.
//
// Thread-safe on disjoint extents, as the medium is.
#pragma once

#include <memory>
#include <utility>

#include "base/clock.h"
#include "base/mean_time.h"
#include "medium/medium.h"

namespace nvcache {

class MeteredMedium final : public Medium {
 public:
  // `clock` must outlive the medium.
  MeteredMedium(std::unique_ptr<Medium> inner, Clock& clock)
      : inner_(std::move(inner)), clock_(clock) {}

  // The mean time of a read; 0 while there was none, or readers read in place unseen.
  uint64_t read_ns() const { return read_.ns(); }
  // The mean time that a KiB of a write takes; 0 while there was none.
  uint64_t write_kib_ns() const { return write_kib_.ns(); }

  // `count` reads of a queue took that long together: each, as its caller sees it, a share.
  void note_reads(uint64_t count, uint64_t took_ns) {
    if (count > 0) read_.add(took_ns / count);
  }

  uint64_t size_bytes() const override { return inner_->size_bytes(); }
  const Traits& traits() const override { return inner_->traits(); }

  [[nodiscard]] Status read(uint64_t offset, MutableBytes into) override {
    if (!samples(offset)) return inner_->read(offset, into);
    const uint64_t begin_ns = clock_.now_ns();
    Status status = inner_->read(offset, into);
    read_.add(clock_.now_ns() - begin_ns);
    return status;
  }
  [[nodiscard]] Status write(uint64_t offset, ByteView from) override {
    if (from.size() < kLargeWriteBytes && !samples(offset)) return inner_->write(offset, from);
    const uint64_t begin_ns = clock_.now_ns();
    Status status = inner_->write(offset, from);
    const uint64_t took_ns = clock_.now_ns() - begin_ns;
    if (status.ok() && !from.empty()) write_kib_.add(took_ns * 1024 / from.size());
    return status;
  }
  [[nodiscard]] Status on_direct_read(Extent extent) override {
    if (!samples(extent.offset)) return inner_->on_direct_read(extent);
    const uint64_t begin_ns = clock_.now_ns();
    Status status = inner_->on_direct_read(extent);
    read_.add(clock_.now_ns() - begin_ns);
    return status;
  }

  // Its reads are not measured one by one: see note_reads().
  TakenReadQueue take_read_queue() noexcept override { return inner_->take_read_queue(); }

  [[nodiscard]] Status flush(Extent extent) override { return inner_->flush(extent); }
  [[nodiscard]] Status drain() override { return inner_->drain(); }
  ByteView direct() const override { return inner_->direct(); }
  void on_direct_write(Extent extent) override { inner_->on_direct_write(extent); }
  [[nodiscard]] Status discard(Extent extent) override { return inner_->discard(extent); }
  [[nodiscard]] Status resize(uint64_t size_bytes) override { return inner_->resize(size_bytes); }

 private:
  static constexpr size_t kLargeWriteBytes = 16 << 10;

  // By their place: no counter that all readers would meet in.
  static bool samples(uint64_t offset) { return offset * 0x9e3779b97f4a7c15 >> 60 == 0; }

  const std::unique_ptr<Medium> inner_;
  Clock& clock_;
  MeanTime read_;
  MeanTime write_kib_;
};

}  // namespace nvcache
