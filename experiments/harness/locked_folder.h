// A folder for a benchmark's databases that no other run uses at the same time.
#pragma once

#include <cstdint>
#include <string>

#include "nvcache/status_or.h"

namespace nvcache {

// Movable; caller-locked. Its destructor removes the folder if it was made here and is empty.
class LockedFolder {
 public:
  LockedFolder() = default;
  // `path` is what --db says; empty: a temporary folder in $TMPDIR or /var/tmp whose name
  // begins with `name`. FAILED_PRECONDITION if it cannot be made, or if another run has it.
  [[nodiscard]] static StatusOr<LockedFolder> take(const std::string& path,
                                                   const std::string& name);
  LockedFolder(LockedFolder&& other) noexcept { *this = std::move(other); }
  LockedFolder& operator=(LockedFolder&& other) noexcept;
  ~LockedFolder();

  const std::string& path() const { return path_; }
  std::string path(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
  int descriptor_ = -1;
  bool made_ = false;
};

// The bytes of the files in a folder.
uint64_t folder_bytes(const std::string& folder);

}  // namespace nvcache
