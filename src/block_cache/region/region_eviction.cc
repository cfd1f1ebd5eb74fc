#include "block_cache/region/region_eviction.h"

#include <thread>
#include <vector>

#include "base/first_exception.h"

namespace nvcache {
namespace {
constexpr int kMoveAttempts = 256;
}  // namespace

RegionEviction::RegionEviction(const Volume::Parts& parts, RegionSpace& space)
    : space_(space),
      shards_(parts.shards),
      admission_(parts.admission),
      health_(parts.health),
      counters_(parts.counters),
      most_rewritten_bytes_(static_cast<uint64_t>(
          parts.config.rewrite * static_cast<double>(space.geometry().region_bytes))),
      thread_({.name = "nvcache-evict", .round = [this] { return make_room(); }}) {}

// While no block could be written, none leaves for it.
bool RegionEviction::may_evict() const {
  return shards_.evicts() && !health_.off() && admission_.may_evict();
}

// One region a round. Regions that are to be discarded come first: they are not free yet.
bool RegionEviction::make_room() {
  if (space_.discard_one()) return true;
  const bool wants_room = space_.wants_room();
  // The blocks from before a restart are all in before the oldest leave.
  if ((!wants_room && !space_.wants_to_discard()) || space_.recovering()) return false;
  const bool may = wants_room && may_evict();
  const std::optional<uint32_t> region = space_.take_to_empty(!may);
  if (!region) return false;
  empty(*region);
  return true;
}

void RegionEviction::empty(uint32_t region) {
  const StatusOr<std::vector<BlockRecord>> records = space_.read_records(region);
  if (!records.ok()) return drop(region);
  counters_.add(Count::kMediumReadBytes,
                space_.geometry().round_up(RegionFooter::tail_bytes(records->size())));
  uint64_t rewritten_bytes = 0;
  FirstException problem;
  for (auto record = records->rbegin(); record != records->rend(); ++record) {
    if (record->size_bytes == 0) continue;
    const bool may_stay = rewritten_bytes + record->size_bytes <= most_rewritten_bytes_;
    problem.run([&] { rewritten_bytes += leave(region, *record, may_stay); });
  }
  space_.let_go(region);
  problem.rethrow();
}

uint32_t RegionEviction::leave(uint32_t region, const BlockRecord& record, bool may_stay) {
  const uint64_t hash = shards_.hash_of(record.key);
  Shard& shard = shards_.of(hash);
  const uint64_t place = space_.geometry().place_of(region, record.offset_grains);
  Evacuation left = shard.evacuate(hash, record.key, place, may_stay, shards_.sink());
  if (left.what == Evacuation::What::kKept) {
    if (rewrite(shard, record.key, left.block)) return record.size_bytes;
    shard.unpin(left.block.slot);
    left = shard.evacuate(hash, record.key, place, false, shards_.sink());
  }
  if (left.what != Evacuation::What::kEvicted) return 0;
  FirstException problem;
  if (shards_.sink() != nullptr) problem.run([&] { shards_.demote(shard, left.block); });
  shard.unpin(left.block.slot);
  problem.rethrow();
  return 0;
}

// A reader's pin lasts as long as it reads; a block that is read all the time has to leave.
bool RegionEviction::move(Entry& entry, uint64_t place) {
  for (int attempt = 0; attempt < kMoveAttempts; ++attempt) {
    if (entry.unpin_and_move(place)) return true;
    std::this_thread::yield();
  }
  return false;
}

bool RegionEviction::rewrite(Shard& shard, const BlockKey& key, const DetachedBlock& block) {
  const uint32_t size_bytes = block.word.size_bytes();
  RegionSpace::Spot spot;
  Reason room = Reason::kWriteQueueFull;
  while ((room = space_.append(size_bytes, &spot, RegionWriter::For::kKeptBlock)) ==
         Reason::kWriteQueueFull) {
    space_.writer().wait_for_buffer();
  }
  if (room != Reason::kAdmitted) return false;
  const bool read = shards_.read(block, {spot.bytes, size_bytes});
  if (read) {
    spot.record->key = key;
    spot.record->size_bytes = size_bytes;
    spot.record->checksum = shard.checksum(block.slot);
  }
  if (!read || !move(shard.entry(block.slot), spot.place)) {
    space_.cancel(spot, size_bytes);
    return false;
  }
  space_.finish(spot);
  space_.release(block.word.offset_grains(), size_bytes);
  counters_.add(Count::kRewritten, 1);
  counters_.add(Count::kRewrittenBytes, size_bytes);
  return true;
}

void RegionEviction::evict_between(uint32_t first, uint32_t end) {
  const Geometry& geometry = space_.geometry();
  shards_.evict_between(geometry.place_of(first, 0), geometry.place_of(end, 0));
}

// An index that cannot be read: the cache's own has the blocks, too, but not by their region.
void RegionEviction::drop(uint32_t region) {
  evict_between(region, region + 1);
  space_.let_go(region);
}

void RegionEviction::drop_between(uint32_t first, uint32_t end) {
  evict_between(first, end);
  for (uint32_t region = first; region < end; ++region) {
    if (space_.take_sealed(region)) space_.let_go(region);
  }
}

void RegionEviction::lose(uint32_t region, std::span<const BlockRecord> records) {
  for (const BlockRecord& record : records) {
    if (record.size_bytes == 0) continue;
    const uint64_t hash = shards_.hash_of(record.key);
    const uint64_t place = space_.geometry().place_of(region, record.offset_grains);
    shards_.of(hash).lose(hash, record.key, place);
  }
}

}  // namespace nvcache
