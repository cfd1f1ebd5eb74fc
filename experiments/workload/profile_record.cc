#define XXH_INLINE_ALL
#include "experiments/workload/profile_record.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>

#include "base/prng.h"
#include "base/text.h"
#include "xxhash.h"

namespace nvcache {
namespace {

constexpr size_t kDigits = 16;
constexpr size_t kVersionAt = 8;
constexpr size_t kBytesAt = 16;
constexpr char kFiller[] = "abcdefghijklmnopqrstuvwxyz012345";  // 32 characters

Status damaged(std::string_view key, std::string_view what) {
  return data_loss_error(fmt::format("key {}: {}", key.substr(0, kDigits), what));
}

uint64_t checksum_of(uint32_t database, std::string_view key, const char* value, size_t size) {
  const uint64_t of_key = XXH3_64bits_withSeed(key.data(), key.size(), database);
  return XXH3_64bits_withSeed(value + kVersionAt, size - kVersionAt, of_key);
}

}  // namespace

void ProfileRecords::key(uint64_t number, std::string* into) const {
  constexpr char kHex[] = "0123456789abcdef";
  into->resize(profile_.key_bytes);
  for (size_t i = 0; i < kDigits; ++i) {
    (*into)[i] = kHex[(number >> (4 * (kDigits - 1 - i))) & 15];
  }
  for (size_t i = kDigits; i < into->size(); ++i) (*into)[i] = kFiller[i % 32];
}

uint32_t ProfileRecords::value_bytes(uint32_t database, uint64_t number) const {
  const uint64_t hash = mix64(seed_ ^ mix64(number ^ (uint64_t{database} << 48)));
  const double u = static_cast<double>(hash >> 11) * 0x1p-53;
  const double more = profile_.value_scale_bytes / profile_.value_shape *
                      (std::pow(1 - u, -profile_.value_shape) - 1);
  const double size = profile_.value_least_bytes + more;
  return static_cast<uint32_t>(std::min(size, static_cast<double>(profile_.value_most_bytes)));
}

void ProfileRecords::value(uint32_t database, uint64_t number, uint64_t version,
                           std::string_view key, std::string* into) const {
  into->resize(value_bytes(database, number));
  char* const value = into->data();
  std::memcpy(value + kVersionAt, &version, sizeof version);
  Prng bytes(mix64(version ^ mix64(number)));
  for (size_t at = kBytesAt; at < into->size(); at += 8) {
    const uint64_t word = bytes();
    std::memcpy(value + at, &word, std::min<size_t>(8, into->size() - at));
  }
  const uint64_t checksum = checksum_of(database, key, value, into->size());
  std::memcpy(value, &checksum, sizeof checksum);
}

Status ProfileRecords::number_of(std::string_view key, uint64_t* number) const {
  if (key.size() != profile_.key_bytes) {
    return damaged(key, fmt::format("has {} bytes instead of {}", key.size(), profile_.key_bytes));
  }
  const char* const end = key.data() + kDigits;
  const auto [stop, error] = std::from_chars(key.data(), end, *number, 16);
  if (error != std::errc() || stop != end) return damaged(key, "is no key of this workload");
  return ok_status();
}

Status ProfileRecords::verify(uint32_t database, uint64_t number, std::string_view key,
                              std::string_view value) const {
  const uint32_t wanted = value_bytes(database, number);
  if (value.size() != wanted) {
    return damaged(key, fmt::format("its value has {} bytes instead of {}", value.size(), wanted));
  }
  uint64_t stored = 0;
  std::memcpy(&stored, value.data(), sizeof stored);
  if (stored != checksum_of(database, key, value.data(), value.size())) {
    return damaged(key, "its value is not what was written");
  }
  return ok_status();
}

}  // namespace nvcache
