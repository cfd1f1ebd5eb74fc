#include "kv_store/zone_headers.h"

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
  store(offsetof(KvZoneHeader, live_items), 0);
  store(offsetof(KvZoneHeader, live_bytes), 0);
  store(offsetof(KvZoneHeader, version), kv_version_word(version, zone, nonce_));
}

// After a loss of power the counts are what had reached the medium: nonsense is left out.
ZoneHeaders::Live ZoneHeaders::live() const {
  Live live;
  for (uint64_t zone = 0; zone < geometry_.zones; ++zone) {
    const uint64_t items = live_items(zone);
    const uint64_t item_bytes =
        load_word(at(zone) + offsetof(KvZoneHeader, live_bytes), std::memory_order_relaxed);
    if (items <= geometry_.zone_bytes / kKvItemHeaderBytes) live.items += items;
    if (item_bytes <= geometry_.zone_bytes) live.item_bytes += item_bytes;
  }
  return live;
}

}  // namespace nvcache
