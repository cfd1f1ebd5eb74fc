#include "apps/nvcached/options/option_values.h"

#include <charconv>

#include "apps/nvcached/protocol/words.h"
#include "base/text.h"
#include "base/units.h"
#include "nvcache/kv_store.h"

namespace nvcache::server {
namespace {

Status refused(std::string_view name, std::string_view value, std::string_view allowed) {
  return invalid_argument("{}: '{}' given; allowed: {}", name, value, allowed);
}

}  // namespace

Status parse_int(std::string_view name, std::string_view value, int64_t low, int64_t high,
                 int& to) {
  int64_t number = 0;
  if (!parse_i64(value, number) || number < low || number > high) {
    return refused(name, value, fmt::format("{} to {}", low, high));
  }
  to = static_cast<int>(number);
  return ok_status();
}

Status parse_memory(std::string_view name, std::string_view value, uint64_t& bytes) {
  uint64_t megabytes = 0;
  if (parse_u64(value, megabytes) && megabytes > 0 && megabytes < (uint64_t{1} << 33)) {
    bytes = megabytes << 20;
    return ok_status();
  }
  const auto size = parse_size_bytes(value);
  if (!size.ok() || *size == 0) {
    return refused(name, value, "megabytes, or a size such as 10GiB");
  }
  bytes = *size;
  return ok_status();
}

Status parse_item_size(std::string_view name, std::string_view value, uint64_t& bytes) {
  const auto size = parse_size_bytes(value);
  if (!size.ok() || *size < 1024 || *size > kMaxKvValueBytes) {
    return refused(name, value, fmt::format("1k to {}m", kMaxKvValueBytes >> 20));
  }
  bytes = *size;
  return ok_status();
}

Status parse_protocol(std::string_view name, std::string_view value, Settings::Binding& binding) {
  if (value == "auto") {
    binding = Settings::Binding::kAuto;
  } else if (value == "ascii") {
    binding = Settings::Binding::kText;
  } else if (value == "binary") {
    binding = Settings::Binding::kBinary;
  } else {
    return refused(name, value, "auto, ascii, binary");
  }
  return ok_status();
}

Status parse_mask(std::string_view name, std::string_view value, uint32_t& mask) {
  uint32_t number = 0;
  const char* const end = value.data() + value.size();
  const auto parsed = std::from_chars(value.data(), end, number, 8);
  if (parsed.ec != std::errc() || parsed.ptr != end || number > 0777) {
    return refused(name, value, "octal digits up to 777");
  }
  mask = number;
  return ok_status();
}

Status parse_character(std::string_view name, std::string_view value, char& character) {
  if (value.size() != 1) return refused(name, value, "one character");
  character = value[0];
  return ok_status();
}

}  // namespace nvcache::server
