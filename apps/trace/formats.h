// The formats of traces, a row each.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "apps/trace/decoder.h"
#include "nvcache/status_or.h"

namespace nvcache {

// The user's word on a trace; where it is empty, its name and its heading decide.
struct TraceOptions {
  std::string format;   // the name of a row
  std::string columns;  // of csv: "KEY" or "KEY,SIZE", names of a heading or numbers from 1
};

struct TraceFormat {
  std::string_view name;
  std::string_view suffixes;    // of files, with blanks between them
  std::string_view understood;  // what an access is, for people
  StatusOr<std::unique_ptr<Decoder>> (*make)(const TraceOptions& options);
};

std::span<const TraceFormat> trace_formats();

// The row that the options name, or that the end of a file's name does, without .zst, .xz or .gz.
// INVALID_ARGUMENT says what is allowed.
[[nodiscard]] StatusOr<const TraceFormat*> find_trace_format(const std::string& path,
                                                             const TraceOptions& options);

// The formats as lines of a help text.
std::string describe_trace_formats();

}  // namespace nvcache
