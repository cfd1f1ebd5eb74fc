// The bytes on the medium of a key-value store: docs/design/format.md in code. Words have 8
// bytes, little-endian: memory writes 8 bytes at once, and no more. Every word or group of
// words that may be torn carries a check. Stateless.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/assert.h"
#include "base/prng.h"
#include "nvcache/bytes.h"

namespace nvcache {

inline constexpr uint32_t kKvFormatVersion = 1;
inline constexpr uint64_t kKvMagic = 0x31766b65686361cfull;
inline constexpr uint64_t kKvFormattingMagic = 0x30766b65686361cfull;  // a format was cut short

inline constexpr uint64_t kKvTimeAt = 4096 + 512;  // the latest time seen, in the page of the state

inline constexpr uint32_t kKvLineBytes = 64;
inline constexpr uint32_t kKvGrainBytes = 8;  // items start at multiples of this

// The table: groups of 8 buckets of 8 descriptors, and 16 more descriptors that full buckets
// of the group share.
inline constexpr uint32_t kKvBucketSlots = 8;
inline constexpr uint32_t kKvGroupBuckets = 8;
inline constexpr uint32_t kKvOverflowSlots = 16;
inline constexpr uint32_t kKvGroupSlots = kKvBucketSlots * kKvGroupBuckets + kKvOverflowSlots;

struct KvDescriptor {
  uint64_t place = 0;  // address / 8 in the lower 40 bits, hash tag in the upper 24; 0: empty
  uint64_t proof = 0;  // checksum in the lower 32 bits, zone version in the upper 32

  static constexpr uint32_t kPlaceBits = 40;
  uint64_t address() const { return (place & ((uint64_t{1} << kPlaceBits) - 1)) * kKvGrainBytes; }
  uint32_t tag() const { return static_cast<uint32_t>(place >> kPlaceBits); }
  uint32_t version() const { return static_cast<uint32_t>(proof >> 32); }
  uint32_t checksum() const { return static_cast<uint32_t>(proof); }
  bool operator==(const KvDescriptor&) const = default;
};

inline uint32_t kv_tag(uint64_t hash) { return static_cast<uint32_t>(hash & 0xffffff); }

// The part of the checksum that depends on the zone's version. It can be exchanged without
// reading the item, when an item stays in place and gets a new version.
inline uint32_t kv_version_mask(uint32_t version, uint64_t address) {
  return static_cast<uint32_t>(mix64(address ^ (uint64_t{version} << 32)));
}

inline KvDescriptor make_descriptor(uint64_t address, uint32_t tag, uint32_t version,
                                    uint32_t item_checksum) {
  NVCACHE_ASSERT_SLOW(address % kKvGrainBytes == 0 &&
                      address / kKvGrainBytes >> KvDescriptor::kPlaceBits == 0);
  return {.place = address / kKvGrainBytes | uint64_t{tag} << KvDescriptor::kPlaceBits,
          .proof = uint64_t{version} << 32 | (item_checksum ^ kv_version_mask(version, address))};
}

// Precedes an item's key and value. The descriptor's checksum covers all but `expiry`, which
// changes in place and carries its own check.
struct KvItemHeader {
  uint64_t expiry = 0;  // seconds in the lower 32 bits, check in the upper
  uint64_t cas = 0;
  uint32_t flags = 0;
  uint32_t value_bytes = 0;
  uint8_t key_bytes = 0;
};
inline constexpr uint32_t kKvExpiryBytes = 8;
inline constexpr uint32_t kKvItemHeaderBytes = 25;  // the key follows without padding

inline uint64_t kv_item_bytes(uint64_t key_bytes, uint64_t value_bytes) {
  const uint64_t bytes = kKvItemHeaderBytes + key_bytes + value_bytes;
  return (bytes + kKvGrainBytes - 1) / kKvGrainBytes * kKvGrainBytes;
}

inline uint64_t kv_expiry_word(uint32_t expires_s, uint64_t cas, uint64_t address, uint64_t nonce) {
  const uint64_t check = mix64(mix64(cas ^ nonce) ^ address ^ (uint64_t{expires_s} << 32));
  return check << 32 | expires_s;
}

// One line for each zone. `sequence` and the counts are hints: no promise depends on them.
struct KvZoneHeader {
  uint64_t version;   // 39 bits, 1 bit: being cleaned, check of 24 bits above
  uint64_t hot_line;  // 32 bits, check of 32 bits above
  uint64_t sequence;  // when it was opened; 0: not since the store was made or cleared
  uint64_t live_items;
  uint64_t live_bytes;
  // How far a cleaning is, in grains; 0 outside of one. `to` (31 bits), which of `gaps` counts (1),
  // check (32).
  uint64_t cleaning;
  uint64_t gaps[2];  // `from` - `to` (32 bits), attempts to finish it (32)
};
static_assert(sizeof(KvZoneHeader) == kKvLineBytes);

inline constexpr uint64_t kKvVersionMask = (uint64_t{1} << 39) - 1;
// Beside the version: descriptors of the next one may have been written.
inline constexpr uint64_t kKvBeingCleaned = uint64_t{1} << 39;

inline uint64_t kv_version_word(uint64_t version, uint64_t zone, uint64_t nonce) {
  return mix64(mix64(version ^ nonce) + zone) << 40 |
         (version & (kKvVersionMask | kKvBeingCleaned));
}
inline uint64_t kv_hot_line_word(uint64_t hot_line, uint64_t version, uint64_t zone,
                                 uint64_t nonce) {
  return mix64(mix64(version ^ ~nonce) + zone + (hot_line << 20)) << 32 | hot_line;
}

inline uint64_t kv_cleaning_word(uint64_t to, uint64_t which_gap, uint64_t gap, uint64_t version,
                                 uint64_t zone, uint64_t nonce) {
  const uint64_t place = which_gap << 31 | to;
  const uint64_t check = mix64(mix64(version ^ nonce ^ mix64(gap)) + zone + (place << 20));
  return (check | 1) << 32 | place;  // never 0
}

// Words that threads share, on the medium.
inline uint64_t load_word(const std::byte* at, std::memory_order order) {
  auto* word = reinterpret_cast<uint64_t*>(const_cast<std::byte*>(at));
  return std::atomic_ref<uint64_t>(*word).load(order);
}
inline void store_word(std::byte* at, uint64_t value, std::memory_order order) {
  std::atomic_ref<uint64_t>(*reinterpret_cast<uint64_t*>(at)).store(value, order);
}
inline void add_word(std::byte* at, uint64_t amount) {
  std::atomic_ref<uint64_t>(*reinterpret_cast<uint64_t*>(at))
      .fetch_add(amount, std::memory_order_relaxed);
}

// An item as it lies on the medium; `bytes` is all of it, without padding.
struct KvItemView {
  const std::byte* bytes = nullptr;
  KvItemHeader header;

  const std::byte* key() const { return bytes + kKvItemHeaderBytes; }
  std::string_view key_text() const {
    return {reinterpret_cast<const char*>(key()), header.key_bytes};
  }
  ByteView value() const { return {key() + header.key_bytes, header.value_bytes}; }
  uint32_t expires_s() const { return static_cast<uint32_t>(header.expiry); }
  uint64_t size_bytes() const { return kv_item_bytes(header.key_bytes, header.value_bytes); }
  // The bytes that the descriptor's checksum covers.
  ByteView checked() const {
    return {bytes + kKvExpiryBytes,
            kKvItemHeaderBytes - kKvExpiryBytes + uint64_t{header.key_bytes} + header.value_bytes};
  }
};

inline KvItemView view_item(const std::byte* at) {
  KvItemView item{.bytes = at, .header = {}};
  item.header.expiry = load_word(at, std::memory_order_relaxed);
  std::memcpy(&item.header.cas, at + 8, 8);
  std::memcpy(&item.header.flags, at + 16, 4);
  std::memcpy(&item.header.value_bytes, at + 20, 4);
  item.header.key_bytes = static_cast<uint8_t>(at[24]);
  return item;
}

inline void write_item_header(std::byte* to, const KvItemHeader& header) {
  std::memcpy(to, &header.expiry, 8);
  std::memcpy(to + 8, &header.cas, 8);
  std::memcpy(to + 16, &header.flags, 4);
  std::memcpy(to + 20, &header.value_bytes, 4);
  to[24] = static_cast<std::byte>(header.key_bytes);
}

}  // namespace nvcache
