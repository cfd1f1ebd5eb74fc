#include "kv_store/zone_headers.h"

#include <atomic>
#include <cstring>

namespace nvcache {

ZoneHeaders::Loaded ZoneHeaders::load(uint64_t zone) const {
  KvZoneHeader header;
  std::memcpy(&header, at(zone), sizeof(header));
  const uint64_t version = header.version & kKvVersionMask;
  const uint64_t hot_line = header.hot_line & 0xffffffff;
  Loaded loaded{.version = version, .hot_line = 0, .sequence = header.sequence};
  if (header.version != kv_version_word(version, zone, nonce_)) loaded.version = 0;
  if (header.hot_line == kv_hot_line_word(hot_line, version, zone, nonce_) &&
      hot_line <= geometry_.zone_bytes) {
    loaded.hot_line = hot_line;
  }
  return loaded;
}

void ZoneHeaders::write(uint64_t zone, uint64_t version, uint64_t hot_line, uint64_t sequence) {
  std::byte* header = at(zone);
  const auto store = [&](size_t field, uint64_t value) {
    store_word(header + field, value, std::memory_order_relaxed);
  };
  store(offsetof(KvZoneHeader, sequence), sequence);
  store(offsetof(KvZoneHeader, hot_line), kv_hot_line_word(hot_line, version, zone, nonce_));
  restart_counts(zone);
  store(offsetof(KvZoneHeader, version), kv_version_word(version, zone, nonce_));
}

void ZoneHeaders::restart_counts(uint64_t zone) {
  const auto exchange = [&](size_t field) {
    auto& word = *reinterpret_cast<uint64_t*>(at(zone) + field);
    return std::atomic_ref<uint64_t>(word).exchange(0, std::memory_order_relaxed);
  };
  auto& sums = sums_.mine();
  sums.add(Sum::kItems, -exchange(offsetof(KvZoneHeader, live_items)));
  sums.add(Sum::kItemBytes, -exchange(offsetof(KvZoneHeader, live_bytes)));
}

void ZoneHeaders::adopt_counts(uint64_t zone) {
  const uint64_t items = live_items(zone);
  const uint64_t item_bytes = live_bytes(zone);
  sums_.mine().add(Sum::kItems, items);
  sums_.mine().add(Sum::kItemBytes, item_bytes);
  if (items > geometry_.zone_bytes / kKvItemHeaderBytes || item_bytes > geometry_.zone_bytes) {
    restart_counts(zone);
  }
}

// Counts that were lost in a crash may make a sum negative.
ZoneHeaders::Live ZoneHeaders::live() const {
  const auto sum = [&](Sum field) {
    return static_cast<uint64_t>(std::max<int64_t>(0, static_cast<int64_t>(sums_.sum(field))));
  };
  return {.items = sum(Sum::kItems), .item_bytes = sum(Sum::kItemBytes)};
}

}  // namespace nvcache
