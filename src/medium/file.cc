#include "medium/file.h"

#include "medium/check.h"
#include "medium/file_direct.h"
#include "medium/file_mapped.h"

namespace nvcache {

absl::StatusOr<std::unique_ptr<Medium>> open_file_medium(const std::string& path, FileIo io,
                                                         const MediumOptions& options) {
  const auto wanted = complete_options("file " + path, options);
  if (!wanted.ok()) return wanted.status();
  if (io == FileIo::kDirect) return DirectFileMedium::open(path, *wanted);
  return MappedFileMedium::open(path, *wanted);
}

}  // namespace nvcache
