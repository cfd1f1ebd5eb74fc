#define XXH_INLINE_ALL
#include "experiments/workload/record.h"

#include <cstring>

#include "base/hash.h"
#include "base/prng.h"
#include "experiments/workload/key_chooser.h"
#include "fmt/format.h"
#include "xxhash.h"

namespace nvcache {
namespace {

constexpr size_t kRecordVersionAt = 8;
constexpr size_t kRecordBytesAt = 16;
constexpr size_t kChecksumAt = kFieldBytes - 8;

uint64_t hash_of_key(std::string_view key) { return XXH3_64bits(key.data(), key.size()); }

uint64_t checksum_of_field(const char* field, uint32_t place) {
  return XXH3_64bits_withSeed(field, kChecksumAt, place);
}

void write_field(uint64_t key_hash, uint32_t field, uint64_t version, char* into) {
  std::memcpy(into, &key_hash, 8);
  std::memcpy(into + kRecordVersionAt, &version, 8);
  Prng bytes(mix64(key_hash ^ mix64(version + field)));
  for (size_t at = kRecordBytesAt; at < kChecksumAt; at += 8) {
    const uint64_t word = bytes();
    std::memcpy(into + at, &word, kChecksumAt - at < 8 ? kChecksumAt - at : 8);
  }
  const uint64_t checksum = checksum_of_field(into, field);
  std::memcpy(into + kChecksumAt, &checksum, 8);
}

}  // namespace

std::string record_key(uint64_t number) { return fmt::format("user{}", ycsb_hash(number)); }

void fill_field(std::string_view key, uint32_t field, uint64_t version,
                std::span<char, kFieldBytes> into) {
  write_field(hash_of_key(key), field, version, into.data());
}

void fill_record(std::string_view key, uint64_t version, std::span<char, kRecordBytes> into) {
  const uint64_t key_hash = hash_of_key(key);
  for (uint32_t field = 0; field < kRecordFields; ++field) {
    write_field(key_hash, field, version, into.data() + size_t{field} * kFieldBytes);
  }
}

Status verify_record(std::string_view key, std::string_view value) {
  if (value.size() != kRecordBytes) {
    return data_loss_error(
        fmt::format("value of {} has {} bytes instead of {}", key, value.size(), kRecordBytes));
  }
  const uint64_t key_hash = hash_of_key(key);
  for (uint32_t field = 0; field < kRecordFields; ++field) {
    const char* at = value.data() + size_t{field} * kFieldBytes;
    uint64_t stored_key = 0;
    uint64_t stored_checksum = 0;
    std::memcpy(&stored_key, at, 8);
    std::memcpy(&stored_checksum, at + kChecksumAt, 8);
    if (stored_checksum != checksum_of_field(at, field)) {
      return data_loss_error(fmt::format("value of {}: field {} is damaged", key, field));
    }
    if (stored_key != key_hash) {
      return data_loss_error(
          fmt::format("value of {}: field {} belongs to another record", key, field));
    }
  }
  return ok_status();
}

}  // namespace nvcache
