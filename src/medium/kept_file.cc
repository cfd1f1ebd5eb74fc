#include "medium/kept_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "base/assert.h"
#include "base/descriptors.h"
#include "base/errno_status.h"
#include "base/text.h"
#include "medium/check.h"
#include "medium/file_owner.h"
#include "medium/file_steps.h"
#include "medium/populate.h"
#include "medium/reserve_room.h"

namespace nvcache {
namespace {

constexpr uint64_t kLineBytes = 64;

Status prepare(int fd, const std::string& path, uint64_t size_bytes, bool* is_new,
               std::vector<std::string>* notes) {
  if (Status status = lock_file(fd, path, "store"); !status.ok()) return status;
  if (Status status = check_owner(fd, path); !status.ok()) return status;
  struct stat found {};
  if (fstat(fd, &found) != 0) return errno_status("examining file", path, errno);
  const auto length = static_cast<uint64_t>(found.st_size);
  if (length != 0 && length != size_bytes) {
    return failed_precondition_error(
        fmt::format("file {}: {} bytes long, size={} given; nothing was changed. Allowed: the size "
                    "with which it was created, or a new file",
                    path, length, size_bytes));
  }
  auto note = keep_others_out(fd, path);
  if (!note.ok()) return note.status();
  if (!note->empty()) notes->push_back(*std::move(note));
  *is_new = length == 0;
  if (Status status = check_room(fd, path, size_bytes, size_bytes); !status.ok()) {
    return status;
  }
  // On a full disk, a store to a page without a block would kill the process.
  const StatusOr<Room> room = reserve_room(fd, path, size_bytes);
  if (!room.ok()) {
    if (length == 0) [[maybe_unused]]
      const int ignored = ftruncate(fd, 0);
    return room.status();
  }
  if (*room == Room::kSparse) {
    notes->push_back(
        fmt::format("file {}: its file system reserves no room for files (fallocate); "
                    "keep {} bytes free, or a full disk ends this process",
                    path, size_bytes));
  }
  return ok_status();
}

std::string whole_path_of(const std::string& path) {
  std::error_code error;
  std::string whole = std::filesystem::absolute(path, error).string();
  return error ? path : whole;
}

}  // namespace

StatusOr<std::unique_ptr<KeptFile>> KeptFile::open(const std::string& path, uint64_t size_bytes,
                                                   Power power) {
  const int fd = open_file(path.c_str(), O_RDWR | O_CREAT | O_NONBLOCK | O_NOFOLLOW, 0600);
  if (fd < 0 && errno == ELOOP) return refuse_link(path);
  if (fd < 0) return errno_status("opening file", path, errno);
  bool is_new = false;
  std::vector<std::string> notes;
  if (Status status = prepare(fd, path, size_bytes, &is_new, &notes); !status.ok()) {
    close(fd);
    return status;
  }
  StatusOr<std::unique_ptr<DaxMap>> mapped = DaxMap::map(fd);
  if (!mapped.ok()) {
    close(fd);
    return Status(mapped.status().code(),
                  fmt::format("file {}: {}", path, std::string(mapped.status().message())));
  }
  std::unique_ptr<DaxMap> dax = *std::move(mapped);
  void* base = dax != nullptr
                   ? dax->base()
                   : mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (base == MAP_FAILED) {
    Status status = errno_status(fmt::format("mapping {} bytes of file", size_bytes), path, errno);
    close(fd);
    return status;
  }
  keep_from_children(fd);
  // Items are read at random, so that reading ahead would be wasted.
  madvise(base, size_bytes, MADV_RANDOM);
  const bool survives = power == Power::kAuto ? dax != nullptr : power == Power::kOn;
  std::unique_ptr<KeptFile> file(new KeptFile(
      fd, path, std::move(dax), static_cast<std::byte*>(base), size_bytes, is_new, survives));
  file->notes_ = std::move(notes);
  return file;
}

KeptFile::KeptFile(int fd, std::string path, std::unique_ptr<DaxMap> dax, std::byte* base,
                   uint64_t size_bytes, bool is_new, bool power)
    : fd_(fd),
      path_(std::move(path)),
      whole_path_(whole_path_of(path_)),
      dax_(std::move(dax)),
      base_(base),
      size_bytes_(size_bytes),
      new_(is_new),
      power_(power),
      traits_{.name = dax_ ? "dax" : "file",
              .reads = Reads::kInPlaceChecked,
              .persistent = true,
              .flush_granularity_bytes = dax_ ? static_cast<uint32_t>(kLineBytes)
                                              : static_cast<uint32_t>(sysconf(_SC_PAGESIZE))} {
  NVCACHE_ASSERT(base_ != nullptr && (dax_ == nullptr || dax_->base() == base_));
}

KeptFile::~KeptFile() {
  if (dax_ == nullptr) munmap(base_, size_bytes_);
  if (home_.is_here()) unlock_file(fd_);
  close_kept(fd_);
}

Status KeptFile::read(uint64_t offset, MutableBytes into) {
  if (Status status = check_range(path_, offset, into.size(), size_bytes_); !status.ok()) {
    return status;
  }
  if (!into.empty()) std::memcpy(into.data(), base_ + offset, into.size());
  return ok_status();
}

Status KeptFile::write(uint64_t offset, ByteView from) {
  if (Status status = check_range(path_, offset, from.size(), size_bytes_); !status.ok()) {
    return status;
  }
  if (!from.empty()) std::memcpy(base_ + offset, from.data(), from.size());
  return ok_status();
}

Status KeptFile::flush(Extent extent) {
  if (Status status = check_range(path_, extent.offset, extent.size_bytes, size_bytes_);
      !status.ok()) {
    return status;
  }
  if (!power_) return ok_status();
  if (dax_ != nullptr) {
    dax_->flush(extent.offset, extent.size_bytes);
    return ok_status();
  }
  return start_write_back(fd_, path_, extent);
}

Status KeptFile::drain() {
  if (!power_) return ok_status();
  if (dax_ != nullptr) {
    dax_->drain();
    return ok_status();
  }
  return sync_file(fd_, path_);
}

Status KeptFile::sync_all() {
  if (dax_ != nullptr && power_) {
    dax_->flush(0, size_bytes_);
    dax_->drain();
    return ok_status();
  }
  return sync_file(fd_, path_);
}

Status KeptFile::sync(Extent extent) {
  NVCACHE_ASSERT_SLOW(extent.offset + extent.size_bytes <= size_bytes_);
  const auto page_bytes = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  const uint64_t begin = extent.offset / page_bytes * page_bytes;
  if (msync(base_ + begin, extent.offset + extent.size_bytes - begin, MS_SYNC) == 0) {
    return ok_status();
  }
  return errno_status("flushing file", path_, errno);
}

bool KeptFile::is_at_its_path() const {
  struct stat ours {};
  struct stat found {};
  if (fstat(fd_, &ours) != 0) return true;
  if (ours.st_nlink == 0) return false;
  if (lstat(whole_path_.c_str(), &found) != 0) return errno != ENOENT && errno != ENOTDIR;
  return ours.st_ino == found.st_ino && ours.st_dev == found.st_dev;
}

void KeptFile::populate(Extent extent) {
  NVCACHE_ASSERT(extent.offset + extent.size_bytes <= size_bytes_);
  if (dax_ == nullptr) populate_file(fd_, base_, extent);
}

Status KeptFile::resize(uint64_t size_bytes) {
  return check_resize(path_, size_bytes, size_bytes == size_bytes_ ? size_bytes : 0);
}

}  // namespace nvcache
