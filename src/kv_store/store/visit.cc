// Visits the items of a store: for dumps, by slots of the table; for a copy of a store that nobody
// changes, by zones in the order in which they were written.
#include <algorithm>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "kv_store/log/zone_walk.h"
#include "kv_store/store/store.h"

namespace nvcache {
namespace {

constexpr uint64_t kSlotsAtOnce = 2048;

}  // namespace

uint64_t KvStoreImpl::visit(uint64_t cursor, const KvVisitor& visitor) {
  if (cursor == 0) {
    for (KvBufferRef& buffer : cache_.all()) {
      const std::string_view key = buffer->key();  // lies in the buffer, which the item holds
      const ByteView value = buffer->value();
      const KvMeta meta = buffer->meta();
      const KvItem item{
          Pin(this, reinterpret_cast<uintptr_t>(buffer.detach()) | kBufferHandle, value), meta};
      if (!parts_.config.is_past(meta.expires_s)) visitor(key, item);
    }
  }
  const uint64_t end = std::min(parts_.geometry.slots(), cursor + kSlotsAtOnce);
  for (uint64_t slot = cursor; slot < end; ++slot) {
    ItemLocation found;
    if (!index_.look_at(slot, &found)) continue;
    const KvItem item{Pin(this, found.zone, found.item.value()),
                      KvMeta{.flags = found.item.header.flags,
                             .expires_s = found.item.expires_s(),
                             .cas = found.item.header.cas},
                      is_outdated(found.item.header.cas)};
    if (!parts_.config.is_past(item.meta.expires_s)) visitor(found.item.key_text(), item);
  }
  return end < parts_.geometry.slots() ? end : 0;
}

std::vector<uint64_t> KvStoreImpl::zones_by_age() const {
  std::vector<std::pair<uint64_t, uint64_t>> order;
  for (uint64_t zone = 0; zone < parts_.geometry.zones; ++zone) {
    if (!parts_.headers.is_fresh(zone)) {
      order.emplace_back(parts_.headers.load(zone).sequence, zone);
    }
  }
  std::sort(order.begin(), order.end());
  std::vector<uint64_t> zones;
  zones.reserve(order.size());
  for (const auto& [sequence, zone] : order) zones.push_back(zone);
  return zones;
}

void KvStoreImpl::visit_zone(
    uint64_t zone, const std::function<void(std::string_view, ByteView, const KvMeta&)>& visit) {
  ZoneWalk walk(parts_, zone);
  for (auto items = walk.next(); !items.empty(); items = walk.next()) {
    for (const WalkedItem& each : items) {
      const std::string_view key = each.item.key_text();
      ItemLocation found;
      if (!each.live || index_.find(bucket_of(key), key, &found) != Presence::kPresent) continue;
      const ZonePin pin(parts_.zones, found.zone);
      const KvMeta meta{.flags = found.item.header.flags,
                        .expires_s = found.item.expires_s(),
                        .cas = found.item.header.cas};
      if (found.slot == each.found.slot && !parts_.config.is_past(meta.expires_s)) {
        visit(key, found.item.value(), meta);
      }
    }
  }
}

}  // namespace nvcache
