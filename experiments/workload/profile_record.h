// The key-value pairs of a profile's databases. Pairs are numbered in the order of their
// keys; the number and the database determine the key and the size of the value. Each
// value can be verified: it belongs to its key, and every byte is what was written.
//
//   key:   16 hexadecimal digits of the number, then filler up to key_bytes
//   value: 8 bytes checksum of the rest and the key | 8 bytes version | seeded bytes
//
// Immutable: thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "experiments/workload/profile.h"
#include "nvcache/status.h"

namespace nvcache {

class ProfileRecords {
 public:
  // `seed` determines sizes, not bytes; `profile` must outlive this.
  ProfileRecords(const WorkloadProfile& profile, uint64_t seed) : profile_(profile), seed_(seed) {}

  void key(uint64_t number, std::string* into) const;
  uint32_t value_bytes(uint32_t database, uint64_t number) const;
  // Equal arguments give equal bytes.
  void value(uint32_t database, uint64_t number, uint64_t version, std::string_view key,
             std::string* into) const;

  // The number in a key; DATA_LOSS if it is none of these.
  [[nodiscard]] Status number_of(std::string_view key, uint64_t* number) const;
  // DATA_LOSS says what is wrong with `value` as that of `key`.
  [[nodiscard]] Status verify(uint32_t database, uint64_t number, std::string_view key,
                              std::string_view value) const;

 private:
  const WorkloadProfile& profile_;
  const uint64_t seed_;
};

}  // namespace nvcache
