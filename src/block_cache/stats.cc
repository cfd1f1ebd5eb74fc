#include "nvcache/stats.h"

#include <string_view>

#include "fmt/format.h"
#include "nlohmann/json.hpp"

namespace nvcache {
namespace {

struct Field {
  std::string_view name;
  std::string_view help;
  bool gauge;
  uint64_t Stats::*value;
};

// Everything but the refusals, the ratio and the names; nvcache/stats.h documents them.
constexpr Field kFields[] = {
    {"hits", "Lookups that served a block", false, &Stats::hits},
    {"misses", "Lookups that served none", false, &Stats::misses},
    {"background_hits", "Hits of background work", false, &Stats::background_hits},
    {"background_misses", "Misses of background work", false, &Stats::background_misses},
    {"inserts", "Blocks inserted", false, &Stats::inserts},
    {"removals", "Blocks removed, for any cause", false, &Stats::removals},
    {"evictions", "Blocks evicted", false, &Stats::evictions},
    {"erases", "Blocks erased by key or file", false, &Stats::erases},
    {"damaged_blocks", "Blocks whose checksum failed", false, &Stats::damaged_blocks},
    {"medium_errors", "Reads and writes the medium failed", false, &Stats::medium_errors},
    {"medium_read_bytes", "Bytes read from the medium", false, &Stats::medium_read_bytes},
    {"medium_written_bytes", "Bytes written to the medium", false, &Stats::medium_written_bytes},
    {"blocks", "Blocks in the cache", true, &Stats::blocks},
    {"data_bytes", "Bytes of data in the cache", true, &Stats::data_bytes},
    {"used_bytes", "Bytes of the medium taken", true, &Stats::used_bytes},
    {"size_bytes", "Bytes of the medium", true, &Stats::size_bytes},
    {"metadata_bytes", "Bytes of DRAM for metadata", true, &Stats::metadata_bytes},
    {"dataset_size_bytes", "Bytes of the engine's dataset", true, &Stats::dataset_size_bytes},
    {"pending_bytes", "Bytes in the write queue", true, &Stats::pending_bytes},
    {"failed", "1 when the cache is off because its medium failed", true, &Stats::failed},
};

std::string escape_label(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\' || c == '"') out.push_back('\\');
    if (c == '\n') {
      out += "\\n";
    } else {
      out.push_back(c);
    }
  }
  return out;
}

void append_header(std::string* out, std::string_view name, std::string_view help, bool gauge) {
  *out += fmt::format("# HELP nvcache_{0} {1}\n# TYPE nvcache_{0} {2}\n", name, help,
                      gauge ? "gauge" : "counter");
}

}  // namespace

double Stats::hit_ratio() const {
  const uint64_t foreground_hits = hits - background_hits;
  const uint64_t lookups = foreground_hits + misses - background_misses;
  return lookups == 0 ? 0 : static_cast<double>(foreground_hits) / static_cast<double>(lookups);
}

std::string Stats::to_json() const {
  nlohmann::ordered_json json;
  for (const Field& field : kFields) json[std::string(field.name)] = this->*field.value;
  json["overhead_ratio"] = overhead_ratio;
  json["hit_ratio"] = hit_ratio();
  nlohmann::ordered_json& by_reason = json["refused"];
  for (size_t i = 1; i < kReasonCount; ++i) {
    by_reason[std::string(reason_name(static_cast<Reason>(i)))] = refused[i];
  }
  json["medium"] = medium;
  json["admission"] = admission;
  json["eviction"] = eviction;
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string Stats::to_prometheus() const {
  std::string out;
  for (const Field& field : kFields) {
    const std::string name = fmt::format("{}{}", field.name, field.gauge ? "" : "_total");
    append_header(&out, name, field.help, field.gauge);
    out += fmt::format("nvcache_{} {}\n", name, this->*field.value);
  }
  append_header(&out, "overhead_ratio", "Overhead ratio now", true);
  out += fmt::format("nvcache_overhead_ratio {}\n", overhead_ratio);
  append_header(&out, "refused_total", "Blocks refused, by reason", false);
  for (size_t i = 1; i < kReasonCount; ++i) {
    out += fmt::format("nvcache_refused_total{{reason=\"{}\"}} {}\n",
                       reason_name(static_cast<Reason>(i)), refused[i]);
  }
  append_header(&out, "info", "What the cache lies on and by which policies", true);
  out += fmt::format("nvcache_info{{medium=\"{}\",admission=\"{}\",eviction=\"{}\"}} 1\n",
                     escape_label(medium), escape_label(admission), escape_label(eviction));
  return out;
}

}  // namespace nvcache
