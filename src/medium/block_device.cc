#include "medium/block_device.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <thread>

#include "base/assert.h"
#include "base/descriptors.h"
#include "base/errno_status.h"
#include "base/hash.h"
#include "base/prng.h"
#include "base/text.h"
#include "base/units.h"
#include "medium/check.h"
#include "medium/file_direct.h"
#include "medium/file_steps.h"
#include "medium/table.h"
#include "medium/whole_io.h"

namespace nvcache {
namespace {

struct FreeDeleter {
  void operator()(std::byte* bytes) const { std::free(bytes); }
};

// Zeros, aligned for any device's direct I/O. Null without memory.
std::unique_ptr<std::byte, FreeDeleter> aligned_zeros(size_t bytes) {
  auto* const memory = static_cast<std::byte*>(std::aligned_alloc(kLargestDirectUnitBytes, bytes));
  if (memory != nullptr) std::memset(memory, 0, bytes);
  return std::unique_ptr<std::byte, FreeDeleter>(memory);
}

bool all_zero(ByteView bytes) {
  return std::all_of(bytes.begin(), bytes.end(),
                     [](std::byte each) { return each == std::byte{}; });
}

// The first sector of a device that is ours. The rest of the first MiB is zero.
struct Mark {
  char text[32] = {};
  uint64_t device_bytes = 0;
  uint64_t blocks_end = 0;  // of the device: blocks may lie up to there
  uint64_t nonce = 0;       // random: no two marks are alike
  uint64_t check = 0;       // of all before

  uint64_t right_check() const {
    return mix64(hash_bytes({reinterpret_cast<const char*>(this), offsetof(Mark, check)}));
  }
};
static_assert(sizeof(Mark) == 64);

Mark make_mark(uint64_t device_bytes, uint64_t blocks_end) {
  Mark mark{.device_bytes = device_bytes, .blocks_end = blocks_end};
  std::memcpy(mark.text, BlockDeviceMedium::kMark.data(), BlockDeviceMedium::kMark.size());
  std::random_device random;
  mark.nonce = uint64_t{random()} << 32 | random();
  mark.check = mark.right_check();
  return mark;
}

// Up to where nvcache wrote on the device, by the first MiB of it. Zero: it is not ours.
uint64_t end_of_ours(ByteView start, uint64_t device_bytes) {
  Mark mark;
  std::memcpy(&mark, start.data(), sizeof mark);
  const std::string_view text(mark.text, sizeof mark.text);
  if (text.starts_with(BlockDeviceMedium::kMark)) {
    const bool ours = mark.check == mark.right_check() && mark.device_bytes == device_bytes &&
                      mark.blocks_end <= device_bytes && all_zero(start.subspan(sizeof mark));
    return ours ? mark.blocks_end : 0;
  }
  // Of version 0.2, which wrote the text alone. Blocks at the end of the device are not known.
  const std::string_view old = BlockDeviceMedium::kOldMark;
  const bool ours = text.starts_with(old) && all_zero(start.subspan(old.size()));
  return ours ? BlockDeviceMedium::kReservedBytes : 0;
}

// EBUSY only if it lasts: a killed process may have it for a moment longer.
int open_alone(const std::string& path) {
  for (int attempt = 1;; ++attempt) {
    const int fd = open_file(path.c_str(), O_RDWR | O_DIRECT | O_EXCL);
    if (fd >= 0 || errno != EBUSY || attempt == kLockAttempts) return fd;
    std::this_thread::sleep_for(kLockPause);
  }
}

}  // namespace

StatusOr<std::unique_ptr<Medium>> BlockDeviceMedium::open(const std::string& path, bool format,
                                                          const MediumOptions& options) {
  const auto wanted = complete_options("device " + path, options);
  if (!wanted.ok()) return wanted.status();
  struct stat found {};
  if (stat(path.c_str(), &found) != 0) return errno_status("opening device", path, errno);
  if (!S_ISBLK(found.st_mode)) {
    return invalid_argument("device {}: not a block device; allowed: one, or medium=file:{}", path,
                            path);
  }
  const int fd = open_alone(path);
  if (fd < 0 && errno == EBUSY) {
    return failed_precondition_error(fmt::format(
        "device {}: mounted, part of a volume, or in use by another cache; allowed: one cache, and "
        "nothing else, per device",
        path));
  }
  if (fd < 0) return errno_status("opening device", path, errno);
  keep_from_children(fd);
  std::unique_ptr<BlockDeviceMedium> medium(new BlockDeviceMedium(fd, path));
  if (Status status = medium->prepare(format, *wanted); !status.ok()) return status;
  return std::unique_ptr<Medium>(std::move(medium));
}

BlockDeviceMedium::~BlockDeviceMedium() { close_kept(fd_); }

Status BlockDeviceMedium::prepare(bool format, const MediumOptions& options) {
  uint64_t device_bytes = 0;
  int logical_bytes = 0;
  unsigned physical_bytes = 0;
  if (ioctl(fd_, BLKGETSIZE64, &device_bytes) != 0 || ioctl(fd_, BLKSSZGET, &logical_bytes) != 0 ||
      ioctl(fd_, BLKPBSZGET, &physical_bytes) != 0) {
    return errno_status("examining device", path_, errno);
  }
  const uint32_t sector_bytes =
      std::max({static_cast<uint32_t>(logical_bytes),
                std::min(physical_bytes, kLargestDirectUnitBytes), kUsualDirectUnitBytes});
  if (sector_bytes > kLargestDirectUnitBytes) {
    return failed_precondition_error(
        fmt::format("device {}: sectors of {} bytes; allowed: up to {}", path_, sector_bytes,
                    kLargestDirectUnitBytes));
  }
  const uint64_t rest_bytes = device_bytes > kReservedBytes ? device_bytes - kReservedBytes : 0;
  const uint64_t usable_bytes = rest_bytes / sector_bytes * sector_bytes;
  if (options.max_size_bytes > usable_bytes) {
    return resource_exhausted_error(
        fmt::format("device {}: {} asked for; allowed: up to {}, what it has behind the first MiB",
                    path_, format_bytes(options.max_size_bytes), format_bytes(usable_bytes)));
  }
  const uint64_t size_bytes = options.size_bytes / sector_bytes * sector_bytes;
  if (size_bytes == 0) {
    return invalid_argument("device {}: size {}; allowed: at least {} bytes", path_,
                            options.size_bytes, sector_bytes);
  }
  const uint64_t blocks_end = kReservedBytes + options.max_size_bytes;
  if (Status status = take(device_bytes, blocks_end, format); !status.ok()) return status;
  max_size_bytes_ = options.max_size_bytes;
  size_bytes_ = size_bytes;
  traits_ = {.name = "nvme",
             .persistent = true,
             .is_device = true,
             .io_granularity_bytes = sector_bytes,
             .flush_granularity_bytes = sector_bytes};
  find_way(options.async, fd_, &traits_);
  queues_ = std::make_unique<ReadQueues>(
      ReadTarget{.medium = *this, .fd = fd_, .first_byte = kReservedBytes}, traits_.async);
  return ok_status();
}

// Makes the device nvcache's own, if it is not yet and may become so. Leaves a mark that says how
// far blocks reach, before the first of them is written.
Status BlockDeviceMedium::take(uint64_t device_bytes, uint64_t blocks_end, bool format) {
  NVCACHE_ASSERT(device_bytes > kReservedBytes && blocks_end <= device_bytes);
  const auto buffer = aligned_zeros(kReservedBytes);
  if (buffer == nullptr) return resource_exhausted_error("no memory to examine a device");
  const MutableBytes bytes(buffer.get(), kReservedBytes);
  const uint64_t end_at = device_bytes - kReservedBytes;
  if (!format) {
    if (Status status = read_at(0, bytes); !status.ok()) return status;
    const uint64_t ours_end = end_of_ours(bytes, device_bytes);
    bool free = ours_end != 0 || all_zero(bytes);
    if (Status status = read_at(end_at, bytes); !status.ok()) return status;
    // Where we never wrote, others may have left a mark of theirs.
    const uint64_t skipped = std::max(ours_end, end_at) - end_at;
    free = free && all_zero(bytes.subspan(std::min<uint64_t>(skipped, bytes.size())));
    if (!free) {
      return failed_precondition_error(fmt::format(
          "device {}: holds data, such as a file system or a partition table; allowed: a device "
          "that this cache left, one whose first and last MiB are zero, or nvme:{},format=yes, "
          "once, which overwrites what is there",
          path_, path_));
    }
    if (ours_end >= blocks_end) return ok_status();
    blocks_end = std::max(blocks_end, ours_end);
  }
  std::memset(bytes.data(), 0, bytes.size());
  if (format) {
    if (Status status = write_at(end_at, bytes); !status.ok()) return status;
    // The head of the blocks, by which a cache would know what an earlier one left.
    const uint64_t rest_bytes = device_bytes - kReservedBytes;
    const uint64_t head_bytes = std::min<uint64_t>(kReservedBytes, rest_bytes);
    const ByteView head =
        bytes.first(head_bytes / kLargestDirectUnitBytes * kLargestDirectUnitBytes);
    if (Status status = write_at(kReservedBytes, head); !status.ok()) return status;
  }
  const Mark mark = make_mark(device_bytes, blocks_end);
  std::memcpy(bytes.data(), &mark, sizeof mark);
  if (Status status = write_at(0, bytes); !status.ok()) return status;
  return drain();
}

Status BlockDeviceMedium::check(uint64_t offset, const void* buffer, uint64_t length) const {
  if (Status status = check_range(path_, offset, length, size_bytes()); !status.ok()) {
    return status;
  }
  return check_granularity(path_, offset, buffer, length, traits_.io_granularity_bytes);
}

Status BlockDeviceMedium::read_at(uint64_t at, MutableBytes into) const {
  const MovedBytes moved = read_whole(fd_, at, into);
  if (moved.error != 0) return errno_status("reading device", path_, moved.error);
  if (moved.bytes == into.size()) return ok_status();
  return unavailable_error(fmt::format("device {}: became smaller", path_));
}

Status BlockDeviceMedium::write_at(uint64_t at, ByteView from) const {
  const MovedBytes moved = write_whole(fd_, at, from);
  if (moved.error != 0) return errno_status("writing device", path_, moved.error);
  return ok_status();
}

Status BlockDeviceMedium::read(uint64_t offset, MutableBytes into) {
  if (Status status = check(offset, into.data(), into.size()); !status.ok()) return status;
  return read_at(kReservedBytes + offset, into);
}

Status BlockDeviceMedium::write(uint64_t offset, ByteView from) {
  if (Status status = check(offset, from.data(), from.size()); !status.ok()) return status;
  return write_at(kReservedBytes + offset, from);
}

Status BlockDeviceMedium::drain() {
  if (fdatasync(fd_) == 0) return ok_status();
  return errno_status("flushing device", path_, errno);
}

Status BlockDeviceMedium::discard(Extent extent) {
  if (Status status = check(extent.offset, nullptr, extent.size_bytes); !status.ok()) {
    return status;
  }
  uint64_t range[2] = {kReservedBytes + extent.offset, extent.size_bytes};
  if (ioctl(fd_, BLKDISCARD, range) == 0) return ok_status();
  if (errno == EOPNOTSUPP) {
    return unimplemented_error(fmt::format("device {}: takes no discards", path_));
  }
  return errno_status("discarding blocks of device", path_, errno);
}

Status BlockDeviceMedium::resize(uint64_t size_bytes) {
  if (Status status = check_resize(path_, size_bytes, max_size_bytes_); !status.ok()) {
    return status;
  }
  if (size_bytes % traits_.io_granularity_bytes != 0) {
    return invalid_argument("device {}: size {}; allowed: multiples of {}", path_, size_bytes,
                            traits_.io_granularity_bytes);
  }
  const uint64_t old_size_bytes = size_bytes_.exchange(size_bytes, std::memory_order_relaxed);
  if (size_bytes >= old_size_bytes) return ok_status();
  // Tells the drive that these blocks are free. One that cannot keep track of that loses nothing.
  if (fallocate(fd_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                static_cast<off_t>(kReservedBytes + size_bytes),
                static_cast<off_t>(old_size_bytes - size_bytes)) == 0 ||
      errno == EOPNOTSUPP) {
    return ok_status();
  }
  return errno_status("freeing the tail of device", path_, errno);
}

StatusOr<MediumOpener> parse_block_device(const MediumSpec& spec) {
  return [path = std::string(spec.place), format = spec.value_of("format") == "yes",
          async = async_reads_of(spec)](MediumOptions options, Clock&) {
    options.async = async;
    return BlockDeviceMedium::open(path, format, options);
  };
}

}  // namespace nvcache
