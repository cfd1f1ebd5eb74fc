#include "medium/file_mark.h"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <new>
#include <string>

#include "base/errno_status.h"
#include "fmt/format.h"
#include "medium/check.h"
#include "medium/whole_io.h"
#include "nvcache/bytes.h"

namespace nvcache {
namespace {

constexpr std::string_view kMark = "blocks of a cache by nvcache\n";
constexpr uint64_t kLookBytes = 1 << 20;

// While it lives, the descriptor's I/O takes any address and length.
class WithoutDirectIo {
 public:
  explicit WithoutDirectIo(int fd) : fd_(fd), flags_(fcntl(fd, F_GETFL)) {
    if (is_direct()) (void)fcntl(fd_, F_SETFL, flags_ & ~O_DIRECT);
  }
  ~WithoutDirectIo() {
    if (is_direct()) (void)fcntl(fd_, F_SETFL, flags_);
  }
  WithoutDirectIo(const WithoutDirectIo&) = delete;
  WithoutDirectIo& operator=(const WithoutDirectIo&) = delete;

 private:
  bool is_direct() const { return flags_ >= 0 && (flags_ & O_DIRECT) != 0; }
  const int fd_;
  const int flags_;
};

bool begins_with(ByteView bytes, std::string_view text) {
  return bytes.size() >= text.size() && std::memcmp(bytes.data(), text.data(), text.size()) == 0;
}

bool all_zero(ByteView bytes) {
  return std::ranges::all_of(bytes, [](std::byte each) { return each == std::byte{}; });
}

}  // namespace

Status check_is_ours(int fd, std::string_view path, uint64_t length_bytes) {
  if (length_bytes == 0) return ok_status();
  const WithoutDirectIo plain(fd);
  const uint64_t look_bytes = std::min(kLookBytes, length_bytes);
  const std::unique_ptr<std::byte[]> memory(new (std::nothrow) std::byte[look_bytes]);
  if (memory == nullptr) return resource_exhausted_error("no memory to examine a file");
  const MutableBytes bytes(memory.get(), look_bytes);
  bool free = true;
  for (const uint64_t at : {uint64_t{0}, length_bytes - look_bytes}) {
    const MovedBytes moved = read_whole(fd, at, bytes);
    if (moved.error != 0) return errno_status("reading file", path, moved.error);
    const ByteView found = ByteView(bytes).first(moved.bytes);
    if (at == 0 && begins_with(found, kRegionsHead)) return ok_status();
    const bool whole = found.size() == look_bytes && look_bytes >= kFileMarkBytes;
    if (whole && at + look_bytes == length_bytes &&
        begins_with(found.last(kFileMarkBytes), kMark)) {
      return ok_status();
    }
    free = free && all_zero(found);
  }
  if (free) return ok_status();
  return failed_precondition_error(fmt::format(
      "file {}: holds data that is not of this cache; nothing was changed. Allowed: a file that is "
      "not there, is empty, has zeros only in its first and last MiB, or was left by a cache. Give "
      "another name, or remove it",
      path));
}

Status mark_as_ours(int fd, std::string_view path, uint64_t length_bytes) {
  const WithoutDirectIo plain(fd);
  std::array<std::byte, kFileMarkBytes> page{};
  std::memcpy(page.data(), kMark.data(), kMark.size());
  const MovedBytes moved = write_whole(fd, length_bytes - kFileMarkBytes, page);
  return moved.error == 0 ? ok_status() : errno_status("marking file", path, moved.error);
}

}  // namespace nvcache
