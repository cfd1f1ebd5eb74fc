#include "kv_store/format/zone_headers.h"

#include <atomic>
#include <cstring>

#include "base/assert.h"
#include "base/test_hooks.h"

namespace nvcache {
namespace {

constexpr uint64_t kToMask = (uint64_t{1} << 31) - 1;

}  // namespace

ZoneHeaders::Loaded ZoneHeaders::load(uint64_t zone) const {
  KvZoneHeader header;
  std::memcpy(&header, at(zone), sizeof(header));
  const uint64_t version = header.version & kKvVersionMask;
  const uint64_t marked = header.version & (kKvVersionMask | kKvBeingCleaned);
  const uint64_t hot_line = header.hot_line & 0xffffffff;
  Loaded loaded{
      .version = version, .hot_line = 0, .sequence = header.sequence, .cleaning = std::nullopt};
  if (header.version != kv_version_word(marked, zone, nonce_)) loaded.version = 0;
  if (header.hot_line == kv_hot_line_word(hot_line, version, zone, nonce_) &&
      hot_line <= geometry_.zone_bytes) {
    loaded.hot_line = hot_line;
  }
  if (loaded.version != 0) loaded.cleaning = progress_in(zone, header);
  if (loaded.version != 0 && marked != version && !loaded.cleaning) {
    loaded.cleaning = Progress{.is_known = false};
  }
  return loaded;
}

std::optional<ZoneHeaders::Progress> ZoneHeaders::progress_in(uint64_t zone,
                                                              const KvZoneHeader& header) const {
  if (header.cleaning == 0) return std::nullopt;
  const uint64_t to = header.cleaning & kToMask;
  const uint64_t which = header.cleaning >> 31 & 1;
  const uint64_t gap = header.gaps[which];
  const uint64_t version = header.version & kKvVersionMask;
  if (header.cleaning != kv_cleaning_word(to, which, gap, version, zone, nonce_)) {
    return std::nullopt;
  }
  const uint64_t from = to + (gap & 0xffffffff);
  if (from > geometry_.zone_bytes / kKvGrainBytes) return std::nullopt;
  return Progress{.to = to * kKvGrainBytes,
                  .from = from * kKvGrainBytes,
                  .attempt = static_cast<uint32_t>(gap >> 32)};
}

// Two words cannot be written at once. So a new gap goes where the old one is not, and the word
// that says where both ends are, and which gap counts, is written last.
void ZoneHeaders::note_progress(uint64_t zone, uint64_t version, const Progress& progress) {
  NVCACHE_ASSERT(progress.to <= progress.from && progress.from <= geometry_.zone_bytes);
  if (test_hooks.skip_cleaning_mark) return;
  std::byte* header = at(zone);
  std::byte* const word = header + offsetof(KvZoneHeader, cleaning);
  const auto gap_at = [&](uint64_t which) {
    return header + offsetof(KvZoneHeader, gaps) + which * sizeof(uint64_t);
  };
  const uint64_t to = progress.to / kKvGrainBytes;
  const uint64_t gap =
      uint64_t{progress.attempt} << 32 | (progress.from - progress.to) / kKvGrainBytes;
  uint64_t which = load_word(word, std::memory_order_relaxed) >> 31 & 1;
  if (load_word(gap_at(which), std::memory_order_relaxed) != gap) {
    which = 1 - which;
    store_word(gap_at(which), gap, std::memory_order_release);
  }
  store_word(word, kv_cleaning_word(to, which, gap, version, zone, nonce_),
             std::memory_order_release);
}

void ZoneHeaders::mark_cleaning(uint64_t zone, uint64_t version) {
  if (test_hooks.skip_cleaning_mark || test_hooks.skip_version_mark) return;
  store_word(at(zone) + offsetof(KvZoneHeader, version),
             kv_version_word(version | kKvBeingCleaned, zone, nonce_), std::memory_order_release);
}

void ZoneHeaders::write(uint64_t zone, uint64_t version, uint64_t hot_line, uint64_t sequence) {
  NVCACHE_ASSERT(version <= kKvVersionMask && hot_line <= geometry_.zone_bytes);
  std::byte* header = at(zone);
  const auto store = [&](size_t field, uint64_t value) {
    store_word(header + field, value, std::memory_order_relaxed);
  };
  store(offsetof(KvZoneHeader, sequence), sequence);
  store(offsetof(KvZoneHeader, hot_line), kv_hot_line_word(hot_line, version, zone, nonce_));
  restart_counts(zone);
  store_word(header + offsetof(KvZoneHeader, version), kv_version_word(version, zone, nonce_),
             std::memory_order_release);
  // The word of the last cleaning holds for the version before. The line becomes durable as a
  // whole.
  store_word(header + offsetof(KvZoneHeader, cleaning), 0, std::memory_order_release);
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

bool ZoneHeaders::recount(uint64_t zone, uint64_t items, uint64_t item_bytes) {
  const auto missing = [&](size_t field, uint64_t counted) {
    return static_cast<int64_t>(counted - load_word(at(zone) + field, std::memory_order_relaxed));
  };
  const int64_t more_items = missing(offsetof(KvZoneHeader, live_items), items);
  const int64_t more_bytes = missing(offsetof(KvZoneHeader, live_bytes), item_bytes);
  if (more_items == 0 && more_bytes == 0) return false;
  count(zone, more_items, more_bytes);
  return true;
}

// Counts that were lost in a crash may make a sum negative.
ZoneHeaders::Live ZoneHeaders::live() const {
  const auto sum = [&](Sum field) {
    return static_cast<uint64_t>(std::max<int64_t>(0, static_cast<int64_t>(sums_.sum(field))));
  };
  return {.items = sum(Sum::kItems), .item_bytes = sum(Sum::kItemBytes)};
}

}  // namespace nvcache
