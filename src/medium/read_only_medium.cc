#include "medium/read_only_medium.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include "base/descriptors.h"
#include "base/errno_status.h"
#include "base/text.h"
#include "medium/block_device.h"
#include "medium/check.h"
#include "medium/file_holders.h"
#include "medium/preallocated_file.h"
#include "medium/table.h"
#include "medium/whole_io.h"

namespace nvcache {
namespace {

StatusOr<std::string> path_of(std::string_view name) {
  const Status named = check_medium(name);
  const std::string_view place = place_of_medium(name);
  if (!place.empty() && !named.ok()) return named;
  if (place.empty() && named.ok()) {
    return invalid_argument(
        "medium '{}': is memory, which keeps nothing; allowed: a file or a "
        "block device",
        name);
  }
  if (name.empty()) return invalid_argument("no path given; allowed: a file or a block device");
  return PreallocatedFile::file_of(std::string(place.empty() ? name : place));
}

}  // namespace

StatusOr<std::unique_ptr<ReadOnlyMedium>> ReadOnlyMedium::open(std::string_view name) {
  StatusOr<std::string> path = path_of(name);
  if (!path.ok()) return path.status();
  // Without O_NONBLOCK a pipe would wait for its writer.
  const int fd = open_file(path->c_str(), O_RDONLY | O_NONBLOCK);
  if (fd < 0) return errno_status("opening", *path, errno);
  std::unique_ptr<ReadOnlyMedium> medium(new ReadOnlyMedium(fd, *std::move(path)));
  if (Status status = medium->examine(); !status.ok()) return status;
  return medium;
}

ReadOnlyMedium::~ReadOnlyMedium() { close(fd_); }

Status ReadOnlyMedium::examine() {
  struct stat found {};
  if (fstat(fd_, &found) != 0) return errno_status("examining", path_, errno);
  const bool is_block_device = S_ISBLK(found.st_mode);
  if (!is_block_device && !S_ISREG(found.st_mode)) {
    return invalid_argument("{}: neither a file nor a block device; allowed: one of them", path_);
  }
  const off_t end = lseek(fd_, 0, SEEK_END);
  if (end < 0) return errno_status("examining", path_, errno);
  std::array<char, BlockDeviceMedium::kMark.size()> mark{};
  const auto bytes = std::as_writable_bytes(std::span(mark));
  const bool marked = read_whole(fd_, 0, bytes).bytes == bytes.size() &&
                      std::string_view(mark.data(), mark.size()) == BlockDeviceMedium::kMark;
  if (is_block_device || marked) start_ = BlockDeviceMedium::kReservedBytes;
  const auto whole_bytes = static_cast<uint64_t>(end);
  size_bytes_ = whole_bytes > start_ ? whole_bytes - start_ : 0;
  return ok_status();
}

// Asks for the lock without taking it.
bool ReadOnlyMedium::is_locked() const {
  struct flock whole {};
  whole.l_type = F_RDLCK;
  whole.l_whence = SEEK_SET;
  return fcntl(fd_, F_OFD_GETLK, &whole) == 0 && whole.l_type != F_UNLCK;
}

std::string ReadOnlyMedium::users() const {
  if (is_device()) return holders_of_file(fd_).names;
  if (!is_locked()) return "";
  std::string holders = holders_of_file(fd_).names;
  return holders.empty() ? "another process" : holders;
}

Status ReadOnlyMedium::read(uint64_t offset, MutableBytes into) const {
  const MovedBytes moved = read_whole(fd_, start_ + offset, into);
  if (moved.error != 0) return errno_status("reading", path_, moved.error);
  if (moved.bytes == into.size()) return ok_status();
  return data_loss_error(fmt::format("{}: ends at {}", path_, start_ + offset + moved.bytes));
}

}  // namespace nvcache
