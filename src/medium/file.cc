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

absl::StatusOr<std::unique_ptr<Medium>> open_file_medium(const std::string& path, FileIo io,
                                                         const MediumOptions& options) {
  const auto wanted = complete_options("file " + path, options);
  if (!wanted.ok()) return wanted.status();
  if (io == FileIo::kDirect) return DirectFileMedium::open(path, *wanted);
  auto file = BufferedFileMedium::open(path, *wanted);
  if (!file.ok()) return file.status();
  if (is_on_dax((*file)->file().fd())) return DaxFileMedium::map(*std::move(file));
  return std::unique_ptr<Medium>(*std::move(file));
}

absl::StatusOr<MediumOpener> parse_file(std::string_view spec, std::string_view rest) {
  const auto [path, option] = split_once(rest, ',');
  if (path.empty()) return bad_medium("no path given", spec, "file:PATH[,io=mmap|direct]");
  FileIo io = FileIo::kMmap;
  if (option == "io=direct") {
    io = FileIo::kDirect;
  } else if (path.size() < rest.size() && option != "io=mmap") {
    return bad_medium(fmt::format("option '{}' is unknown", option), spec,
                      "io=mmap, io=direct (a path cannot contain a comma)");
  }
  return [path = std::string(path), io](const MediumOptions& options, Clock&) {
    return open_file_medium(path, io, options);
  };
}

}  // namespace nvcache
