// A block device, such as an NVMe drive or a partition of one, by direct I/O: nvme:DEVICE.
//
// The first MiB of the device holds nvcache's mark and zeros; blocks lie behind it. The mark says
// how large the device is and how far blocks reach. A device is known again by a whole mark, zeros
// behind it, and zeros in that part of the last MiB that no block reaches: a mark alone may be left
// on a device that others use now, whose superblocks lie elsewhere. A device without the mark is
// taken only if its first and last MiB are zero: no file system, partition table, volume or swap
// area looks like that. Anything else is refused, unless format=yes says to overwrite it; these two
// MiB, and the second one, are then cleared, so that nothing finds half of it later.
//
// The kernel keeps the device for us alone (O_EXCL): FAILED_PRECONDITION if it is mounted, part of
// a volume, or open by another cache. The contents do not survive a close.
//
// read, write and drain are thread-safe, as all media's.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <string_view>

#include "medium/medium.h"
#include "medium/read_queues.h"

namespace nvcache {

class BlockDeviceMedium final : public Medium {
 public:
  static constexpr uint64_t kReservedBytes = uint64_t{1} << 20;
  static constexpr std::string_view kMark = "nvcache block device 2\n";
  static constexpr std::string_view kOldMark = "nvcache block device 1\n";

  [[nodiscard]] static StatusOr<std::unique_ptr<Medium>> open(const std::string& path, bool format,
                                                              const MediumOptions& options);
  ~BlockDeviceMedium() override;

  uint64_t size_bytes() const override { return size_bytes_.load(std::memory_order_relaxed); }
  const Traits& traits() const override { return traits_; }
  [[nodiscard]] Status read(uint64_t offset, MutableBytes into) override;
  TakenReadQueue take_read_queue() noexcept override { return queues_->take(); }
  [[nodiscard]] Status write(uint64_t offset, ByteView from) override;
  [[nodiscard]] Status drain() override;
  [[nodiscard]] Status discard(Extent extent) override;
  [[nodiscard]] Status resize(uint64_t size_bytes) override;

 private:
  BlockDeviceMedium(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}
  [[nodiscard]] Status prepare(bool format, const MediumOptions& options);
  [[nodiscard]] Status take(uint64_t device_bytes, uint64_t blocks_end, bool format);
  [[nodiscard]] Status check(uint64_t offset, const void* buffer, uint64_t length) const;
  // At an offset of the device, not of the medium.
  [[nodiscard]] Status read_at(uint64_t at, MutableBytes into) const;
  [[nodiscard]] Status write_at(uint64_t at, ByteView from) const;

  const int fd_;
  const std::string path_;
  uint64_t max_size_bytes_ = 0;
  std::atomic<uint64_t> size_bytes_{0};
  Traits traits_;
  std::unique_ptr<ReadQueues> queues_;  // since prepare()
};

}  // namespace nvcache
