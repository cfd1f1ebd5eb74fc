#include "kv_store/recovery/found_store.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/files.h"
#include "base/hash.h"
#include "fmt/format.h"

namespace nvcache {
namespace {

// Differs after every start of the machine; 0 if the kernel does not tell.
uint64_t boot_number() {
  const std::optional<std::string> text = read_file("/proc/sys/kernel/random/boot_id", 64);
  return text && !text->empty() ? hash_bytes(*text) | 1 : 0;
}

}  // namespace

uint64_t boot_of(const KvConfig& config) { return config.boot ? config.boot() : boot_number(); }

KvTrust trust_of(const KvState& found, uint64_t boot, Durability wanted, bool survives_power) {
  if (wanted == Durability::kVolatile) return KvTrust::kNothing;
  if (found.clean) return KvTrust::kAll;
  if (!found.invalidates) return KvTrust::kNothing;
  if (found.power) return KvTrust::kAll;
  if (boot == 0 || found.boot != boot) return KvTrust::kNothing;
  return survives_power ? KvTrust::kAfterSync : KvTrust::kAll;
}

KvTrust trust_in(const KvFoundStore& found, const KvMedium& on, const KvConfig& config) {
  return trust_of(found.state, boot_of(config), config.durability, on.survives_power);
}

StatusOr<std::optional<KvFoundStore>> find_store(KvMedium& on) {
  KvSuperblockFile file(on);
  KvFoundStore store{.superblock = {}, .state = {}, .recovered = true};
  const StatusOr<bool> found = file.load(&store.superblock, &store.state);
  if (!found.ok()) return found.status();
  if (!*found) return std::nullopt;
  return store;
}

ZoneHeaders::Live live_in(const KvMedium& on, const KvGeometry& geometry) {
  const std::byte* const base = on.medium->direct().data();
  ZoneHeaders::Live live;
  for (uint64_t zone = 0; zone < geometry.zones; ++zone) {
    const std::byte* const header = base + geometry.header_at(zone);
    const uint64_t items =
        load_word(header + offsetof(KvZoneHeader, live_items), std::memory_order_relaxed);
    const uint64_t bytes =
        load_word(header + offsetof(KvZoneHeader, live_bytes), std::memory_order_relaxed);
    // Words that were torn count nothing.
    if (bytes > geometry.zone_bytes || items > bytes / kKvItemHeaderBytes) continue;
    live.items += items;
    live.item_bytes += bytes;
  }
  return live;
}

std::string why_emptied(const KvFoundStore& found, const KvMedium& on) {
  const std::string emptied = fmt::format("emptied a store of about {} items: ",
                                          live_in(on, found.superblock.geometry).items);
  if (!found.state.invalidates) {
    return emptied + "it was last used with durability=volatile, and not closed in order";
  }
  return emptied +
         "it was not closed in order, and this is another start of the machine, or another "
         "machine; survives=process keeps items within one, survives=power over all";
}

}  // namespace nvcache
