// Shared by the tests of the key-value store: values that tell their key and number, and
// stores opened on a medium of the test's own.
#pragma once

#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "base/prng.h"
#include "gtest/gtest.h"
#include "kv_store/store/store.h"
#include "medium/dram.h"
#include "nvcache/kv_store.h"
#include "support/crashing_medium.h"
#include "support/page_cache_medium.h"

namespace nvcache::test {

// Bytes that no other value of the key shares, 8 by 8.
inline std::vector<std::byte> kv_value(std::string_view key, uint64_t number, size_t size_bytes) {
  std::vector<std::byte> value(size_bytes);
  Prng random(hash_bytes(key) ^ mix64(number));
  for (size_t at = 0; at < size_bytes; at += 8) {
    const uint64_t word = random();
    std::memcpy(value.data() + at, &word, std::min<size_t>(8, size_bytes - at));
  }
  return value;
}

inline bool same(ByteView a, ByteView b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size()) == 0);
}

inline ByteView bytes_of(std::string_view text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}
inline std::string text_of(ByteView bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// "" for a miss.
inline std::string get_text(KvStore& store, std::string_view key) {
  const KvItem item = store.get(key);
  return item ? text_of(item.value()) : "";
}

inline KvResult put_text(KvStore& store, std::string_view key, std::string_view value,
                         KvCondition condition = {}, uint32_t expires_s = 0) {
  return store.put(key, bytes_of(value), {.flags = 7, .expires_s = expires_s, .cas = 0}, condition);
}

// A small store: zones fill and are cleaned after a few dozen items.
inline KvConfig small_config(Durability durability = Durability::kCache) {
  KvConfig config;
  config.size_bytes = 64 << 10;
  config.zone_bytes = 4 << 10;
  config.item_bytes = 512;
  config.durability = durability;
  config.write_cache_bytes = 16 << 10;
  return config;
}

// Sizes of values of a store like small_config(), by key and number. Some keys may have values of
// nearly half a zone, so that no zone may have room for one beside what it holds.
struct ValueSizes {
  uint64_t large_each = 0;  // one key in this number; 0: none

  size_t of(uint64_t key, uint64_t number) const {
    if (large_each != 0 && key % large_each == 0) return 1950 + mix64(number) % 50;
    const uint64_t mix = mix64(number);
    return mix % 4 == 0 ? mix / 4 % 600 : mix / 4 % 60;
  }
};

// A store in the page cache, which outlives its process and no loss of power.
inline StatusOr<std::unique_ptr<KvStoreImpl>> make_kv_in_page_cache(
    const KvConfig& config, std::unique_ptr<PageCacheMedium> file) {
  KvMedium on;
  on.survives_power = false;
  on.has_pages = true;
  on.file = file.get();
  on.medium = std::move(file);
  return KvStoreImpl::make(config, std::move(on));
}

inline std::unique_ptr<KvStore> make_kv(const KvConfig& config, std::unique_ptr<Medium> medium) {
  KvMedium on;
  on.medium = std::move(medium);
  auto store = KvStoreImpl::make(config, std::move(on));
  EXPECT_TRUE(store.ok()) << store.status();
  return store.ok() ? *std::move(store) : nullptr;
}

}  // namespace nvcache::test
