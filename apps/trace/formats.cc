#include "apps/trace/formats.h"

#include <array>

#include "apps/trace/csv_decoder.h"
#include "apps/trace/input.h"
#include "apps/trace/line_decoder.h"
#include "apps/trace/record_decoder.h"
#include "apps/trace/rocksdb_decoder.h"
#include "base/text.h"
#include "fmt/format.h"
#include "spec/spec.h"

namespace nvcache {
namespace {

using Made = StatusOr<std::unique_ptr<Decoder>>;

template <auto kMake>
Made made(const TraceOptions&) {
  return kMake();
}

constexpr std::array<TraceFormat, 8> kFormats = {{
    {"oracleGeneral", ".oracleGeneral .oracleGeneral.bin",
     "libCacheSim's: 24 bytes, little-endian: time (u32), key (u64), bytes (u32), next (i64)",
     made<make_oracle_general_decoder>},
    {"csv", ".csv", "a heading, then lines with a key and perhaps a size (--columns)",
     make_csv_decoder},
    {"lis", ".lis", "the ARC paper's: lines \"first_block blocks ignored request\"; of 512 bytes",
     made<make_arc_decoder>},
    {"text", ".txt", "a key a line: a decimal number, or any text", made<make_text_decoder>},
    {"u32", ".u32", "keys of 32 bits, little-endian", made<make_u32_decoder>},
    {"u64", ".u64", "keys of 64 bits, little-endian", made<make_u64_decoder>},
    {"u32be", ".trace", "keys of 32 bits, big-endian, as in Caffeine's simulator",
     made<make_u32be_decoder>},
    {"rocksdb", ".rocksdb", "RocksDB's block cache trace (DB::StartBlockCacheTrace)",
     made<make_rocksdb_decoder>},
}};

// Calls visit(suffix) until it returns true.
template <typename Visit>
bool any_suffix(std::string_view suffixes, Visit visit) {
  while (!suffixes.empty()) {
    const size_t end = suffixes.find(' ');
    if (visit(suffixes.substr(0, end))) return true;
    suffixes.remove_prefix(end == std::string_view::npos ? suffixes.size() : end + 1);
  }
  return false;
}

std::string all_names() {
  std::string names;
  for (const TraceFormat& format : kFormats) {
    names += (names.empty() ? "" : ", ") + std::string(format.name);
  }
  return names;
}

}  // namespace

std::span<const TraceFormat> trace_formats() { return kFormats; }

StatusOr<const TraceFormat*> find_trace_format(const std::string& path,
                                               const TraceOptions& options) {
  const std::string name = without_packing(path);
  for (const TraceFormat& format : kFormats) {
    const bool is_named =
        options.format.empty()
            ? any_suffix(format.suffixes,
                         [&](std::string_view suffix) { return name.ends_with(suffix); })
            : format.name == options.format;
    if (is_named) return &format;
  }
  if (!options.format.empty()) {
    return invalid_argument("unknown format '{}'; allowed: {}", shown(options.format), all_names());
  }
  std::string suffixes;
  for (const TraceFormat& format : kFormats) {
    suffixes += (suffixes.empty() ? "" : " ") + std::string(format.suffixes);
  }
  return invalid_argument(
      "{}: cannot tell the format from the name; allowed: --format ({}), or a name that ends in "
      "one of {}, and then in .zst, .xz or .gz if packed",
      shown(path), all_names(), suffixes);
}

std::string describe_trace_formats() {
  std::string lines;
  for (const TraceFormat& format : kFormats) {
    lines += fmt::format("  {:<14} {:<15} {}\n", format.name,
                         format.suffixes.substr(0, format.suffixes.find(' ')), format.understood);
  }
  return lines;
}

}  // namespace nvcache
