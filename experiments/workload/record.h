// YCSB's records: key "user" + hash of the record's number, value 10 fields of
// 100 bytes. Every field can be verified on its own, so that a benchmark checks
// each value it reads: it belongs to its key and is what was written.
//
//   field: 8 bytes hash of the key | 8 bytes version | 76 seeded bytes |
//          8 bytes checksum of the 92 before and the field's place
//
// Functions without state: thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "nvcache/status.h"

namespace nvcache {

inline constexpr uint32_t kRecordFields = 10;  // YCSB's fieldcount
inline constexpr uint32_t kFieldBytes = 100;   // YCSB's fieldlength
inline constexpr uint32_t kRecordBytes = kRecordFields * kFieldBytes;
inline constexpr size_t kMaxKeyBytes = 24;  // "user" and 20 digits

// YCSB's key (insertorder=hashed, zeropadding=1): "user" + decimal ycsb_hash(number).
std::string record_key(uint64_t number);

// Writes field `field` (below kRecordFields) of the record `key`. `version` seeds
// its bytes: equal arguments give equal bytes.
void fill_field(std::string_view key, uint32_t field, uint64_t version,
                std::span<char, kFieldBytes> into);

// Writes all fields.
void fill_record(std::string_view key, uint64_t version, std::span<char, kRecordBytes> into);

// DATA_LOSS says what is wrong with `value` as the record of `key`.
[[nodiscard]] Status verify_record(std::string_view key, std::string_view value);

}  // namespace nvcache
