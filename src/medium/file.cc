#include "medium/file.h"

#include <utility>

#include "base/text.h"
#include "medium/check.h"
#include "medium/dax_map.h"
#include "medium/file_buffered.h"
#include "medium/file_dax.h"
#include "medium/file_direct.h"
#include "medium/table.h"

namespace nvcache {

StatusOr<std::unique_ptr<Medium>> open_file_medium(const std::string& path, FileIo io,
                                                   const MediumOptions& options) {
  const auto wanted = complete_options("file " + path, options);
  if (!wanted.ok()) return wanted.status();
  if (io == FileIo::kDirect) return DirectFileMedium::open(path, *wanted);
  auto file = BufferedFileMedium::open(path, *wanted);
  if (!file.ok()) return file.status();
  if (is_on_dax((*file)->file().fd())) return DaxFileMedium::map(*std::move(file));
  return std::unique_ptr<Medium>(*std::move(file));
}

StatusOr<MediumOpener> parse_file(const MediumSpec& spec) {
  const FileIo io = spec.value_of("io") == "direct" ? FileIo::kDirect : FileIo::kMmap;
  if (io != FileIo::kDirect && !spec.value_of("async").empty()) {
    return bad_medium("async= is for reads of a device", spec.whole, "io=direct,async=...");
  }
  return [path = std::string(spec.place), io, async = async_reads_of(spec)](MediumOptions options,
                                                                            Clock&) {
    options.async = async;
    return open_file_medium(path, io, options);
  };
}

}  // namespace nvcache
