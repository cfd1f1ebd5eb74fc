#include "base/files.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <memory>

#include "base/descriptors.h"

namespace nvcache {
namespace {

constexpr mode_t kMode = 0666;  // less the umask, as of a stream

int write_and_close(int descriptor, std::string_view text) {
  if (descriptor < 0) return errno;
  int error = 0;
  while (!text.empty() && error == 0) {
    const ssize_t moved = ::write(descriptor, text.data(), text.size());
    if (moved >= 0) {
      text.remove_prefix(static_cast<size_t>(moved));
    } else if (errno != EINTR) {
      error = errno;
    }
  }
  if (::close(descriptor) != 0 && error == 0) error = errno;
  return error;
}

}  // namespace

std::optional<std::string> read_file(const std::string& path, uint64_t most_bytes) {
  constexpr size_t kPartBytes = 16384;
  const int descriptor = open_file(path.c_str(), O_RDONLY);
  if (descriptor < 0) return std::nullopt;
  std::optional<std::string> text("");
  while (text && text->size() < most_bytes) {
    const size_t before = text->size();
    text->resize(std::min<uint64_t>(before + kPartBytes, most_bytes));
    const ssize_t moved = ::read(descriptor, text->data() + before, text->size() - before);
    text->resize(before + static_cast<size_t>(std::max<ssize_t>(moved, 0)));
    if (moved == 0) break;
    if (moved < 0 && errno != EINTR) text.reset();
  }
  ::close(descriptor);
  return text;
}

int append_to_file(const std::string& path, std::string_view text) {
  return write_and_close(open_file(path.c_str(), O_WRONLY | O_CREAT | O_APPEND, kMode), text);
}

int replace_file(const std::string& path, std::string_view text) {
  const std::string partial = path + ".partial";
  int error =
      write_and_close(open_file(partial.c_str(), O_WRONLY | O_CREAT | O_TRUNC, kMode), text);
  if (error == 0 && std::rename(partial.c_str(), path.c_str()) != 0) error = errno;
  if (error != 0) (void)std::remove(partial.c_str());
  return error;
}

std::optional<std::vector<std::string>> names_in_folder(const std::string& path) {
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(open_folder(path.c_str()), ::closedir);
  if (folder == nullptr) return std::nullopt;
  std::vector<std::string> names;
  for (;;) {
    errno = 0;
    const dirent* const entry = ::readdir(folder.get());  // thread-safe: the stream is ours alone
    if (entry == nullptr) break;
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  if (errno != 0) return std::nullopt;
  return names;
}

}  // namespace nvcache
