// A medium whose places fail, as drives' do: a device or a memory of any size, of which only what
// is written takes DRAM. Faults may be set and mended while accesses go on. Thread-safe on disjoint
// extents.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "medium/medium.h"

namespace nvcache::test {

struct Fault {
  enum class Of : uint8_t { kReads, kWrites, kBoth, kWritesOfHoles };
  Of of = Of::kBoth;
  Extent where{0, ~uint64_t{0}};  // accesses that touch it fail
};

class FaultyDevice final : public Medium {
 public:
  static constexpr uint64_t kPageBytes = 4096;
  enum class Kind : uint8_t { kMemory, kDevice };

  // The thread that makes it moves the clock: it does not wait for it.
  FaultyDevice(uint64_t size_bytes, Kind kind, Clock& clock)
      : size_bytes_(size_bytes),
        bytes_(static_cast<std::byte*>(::mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE,
                                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0))),
        clock_(clock),
        holes_(size_bytes / kPageBytes, true) {
    const bool device = kind == Kind::kDevice;
    traits_ = {.name = device ? "faulty device" : "faulty memory",
               .reads = device ? Reads::kByCopy : Reads::kInPlaceAsked,
               .is_device = device,
               .io_granularity_bytes = device ? 4096u : 1u};
  }
  ~FaultyDevice() override { ::munmap(bytes_, size_bytes_); }

  void set(const std::vector<Fault>& faults) {
    MutexLock lock(mutex_);
    faults_ = faults;
  }
  // Each access takes `access_ns`, and `kib_ns` more a KiB.
  void slow_down(uint64_t access_ns, uint64_t kib_ns) {
    access_ns_ = access_ns;
    kib_ns_ = kib_ns;
  }
  void heal() {
    set({});
    slow_down(0, 0);
  }
  uint64_t failed_writes() const { return failed_writes_; }
  uint64_t failed_reads() const { return failed_reads_; }

  uint64_t size_bytes() const override { return size_bytes_; }
  const Traits& traits() const override { return traits_; }
  Status read(uint64_t offset, MutableBytes into) override {
    if (Status status = on_direct_read({offset, into.size()}); !status.ok()) return status;
    std::memcpy(into.data(), bytes_ + offset, into.size());
    return ok_status();
  }
  Status on_direct_read(Extent extent) override {
    if (const uint64_t cost_ns = cost_of(extent.size_bytes); cost_ns != 0) {
      clock_.wait_until_ns(clock_.now_ns() + cost_ns);
    }
    if (!fails(extent, /*writes=*/false)) return ok_status();
    ++failed_reads_;
    return data_loss_error("Input/output error");
  }
  Status write(uint64_t offset, ByteView from) override {
    const Extent extent{offset, from.size()};
    take_time(extent.size_bytes);
    if (offset + from.size() > size_bytes_) return out_of_range_error("past the end");
    if (fails(extent, /*writes=*/true)) {
      ++failed_writes_;
      return data_loss_error("Input/output error");
    }
    std::memcpy(bytes_ + offset, from.data(), from.size());
    return ok_status();
  }
  ByteView direct() const override {
    return traits_.is_device ? ByteView{} : ByteView{bytes_, size_bytes_};
  }
  Status resize(uint64_t) override { return ok_status(); }

 private:
  static bool meet(Extent a, Extent b) {
    return a.offset < b.offset + std::min(b.size_bytes, ~uint64_t{0} - b.offset) &&
           b.offset < a.offset + a.size_bytes;
  }
  bool fails(Extent extent, bool writes) {
    MutexLock lock(mutex_);
    const uint64_t first = extent.offset / kPageBytes;
    const uint64_t last = (extent.offset + extent.size_bytes - 1) / kPageBytes;
    for (const Fault& fault : faults_) {
      const bool of_reads = fault.of == Fault::Of::kReads;
      const bool concerned = fault.of == Fault::Of::kBoth || of_reads != writes;
      if (!concerned || !meet(extent, fault.where)) continue;
      if (fault.of != Fault::Of::kWritesOfHoles) return true;
      for (uint64_t page = first; page <= last; ++page) {
        if (holes_[page]) return true;
      }
    }
    for (uint64_t page = first; writes && page <= last; ++page) holes_[page] = false;
    return false;
  }
  uint64_t cost_of(uint64_t size_bytes) const { return access_ns_ + kib_ns_ * (size_bytes / 1024); }
  // One write after the other. The clock's own thread moves it; others are held until it has come
  // so far, or all is well.
  void take_time(uint64_t size_bytes) {
    const uint64_t cost_ns = cost_of(size_bytes);
    if (cost_ns == 0) return;
    uint64_t end_ns = 0;
    {
      MutexLock lock(mutex_);
      end_ns = std::max(busy_until_ns_, clock_.now_ns()) + cost_ns;
      busy_until_ns_ = end_ns;
    }
    if (std::this_thread::get_id() == clocks_thread_) return clock_.wait_until_ns(end_ns);
    while (access_ns_ != 0 && clock_.now_ns() < end_ns) std::this_thread::yield();
  }

  const uint64_t size_bytes_;
  std::byte* const bytes_;
  Clock& clock_;
  const std::thread::id clocks_thread_ = std::this_thread::get_id();
  Traits traits_;
  std::atomic<uint64_t> access_ns_{0};
  std::atomic<uint64_t> kib_ns_{0};
  std::atomic<uint64_t> failed_writes_{0};
  std::atomic<uint64_t> failed_reads_{0};
  Mutex mutex_;
  std::vector<Fault> faults_ NVCACHE_GUARDED_BY(mutex_);
  std::vector<bool> holes_ NVCACHE_GUARDED_BY(mutex_);  // pages that were never written
  uint64_t busy_until_ns_ NVCACHE_GUARDED_BY(mutex_) = 0;
};

}  // namespace nvcache::test
