#include "apps/nvcached/options/store_specification.h"

#include <algorithm>
#include <cstdlib>

#include "base/text.h"

namespace nvcache::server {
namespace {

constexpr uint64_t kPageBytes = 4096;

std::string percent_encoded(std::string_view text) {
  std::string encoded;
  for (const char c : text) {
    const bool special = c == '&' || c == '%' || c == '#' || c == '+' || c == '=' || c == ' ';
    encoded += special ? fmt::format("%{:02X}", static_cast<unsigned char>(c)) : std::string(1, c);
  }
  return encoded;
}

}  // namespace

StatusOr<std::string> state_directory() {
  const char* state = std::getenv("XDG_STATE_HOME");
  if (state != nullptr && state[0] == '/') return std::string(state) + "/nvcached";
  const char* home = std::getenv("HOME");
  if (home != nullptr && home[0] == '/') return std::string(home) + "/.local/state/nvcached";
  return invalid_argument(
      "no place for the data: neither XDG_STATE_HOME nor HOME is an absolute path; give "
      "--medium file:PATH");
}

std::string store_spec_of(const Options& options) {
  if (!options.store_spec.empty()) return options.store_spec;
  const Settings& settings = options.settings;
  std::string spec = fmt::format("nvkv://?size={}&medium={}&durability={}", settings.memory_bytes,
                                 percent_encoded(options.medium), options.durability);
  // An item takes at most half of a zone. By default the store makes zones of a 16th of its size,
  // from 64 KiB to 4 MiB.
  const uint64_t own_zone_bytes =
      std::clamp<uint64_t>(settings.memory_bytes / 16, 64 << 10, 4 << 20);
  const uint64_t least_bytes = 2 * settings.max_item_bytes;
  if (least_bytes > own_zone_bytes) {
    spec += fmt::format("&zone={}", (least_bytes + kPageBytes - 1) / kPageBytes * kPageBytes);
  }
  if (options.max_absence_s != 0) {
    spec += fmt::format("&max_absence={}&after_absence={}", options.max_absence_s,
                        options.empty_after_absence ? "empty" : "stale");
  }
  return spec;
}

}  // namespace nvcache::server
