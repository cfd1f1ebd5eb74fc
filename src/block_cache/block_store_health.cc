// What the block store does about a medium that fails: what it notes of writes, what it loses, and
// which put may reach a medium that is switched off.
#include <new>

#include "block_cache/block_store.h"

namespace nvcache {

// What could not be read is not worth a write. A block for a region lands in DRAM, and tells
// nothing of the medium.
bool BlockStore::may_be_probe() {
  using Kind = MediumHealth::Kind;
  if (health_.off(Kind::kRead)) {
    if (health_.claim_probe(Kind::kRead)) probe_->read();
    return !health_.off();
  }
  if (regions_ == nullptr) return health_.probe_is_due(Kind::kWrite);
  if (health_.claim_probe(Kind::kWrite)) probe_->write();
  return !health_.off();
}

// An exception is a failure: the slot must not stay filling.
Status BlockStore::write_medium(uint64_t offset, ByteView block) {
  try {
    return medium_->write(offset, block);
  } catch (const std::bad_alloc&) {
    return Status(StatusCode::kInternal, "");
  }
}

// Set aside first: else another put could be given the extent in between.
void BlockStore::lose(Shard& shard, uint32_t slot, Extent failed) {
  in_place_->set_aside(failed, clock_.now_ns());
  probe_->watch();
  shard.abandon(slot, /*failed=*/true);
}

void BlockStore::make_probe(PlacesToTry& places) {
  probe_ = std::make_unique<MediumProbe>(MediumProbe::Parts{.medium = *medium_,
                                                            .health = health_,
                                                            .reader = reader_,
                                                            .clock = clock_,
                                                            .space = *space_,
                                                            .places = places,
                                                            .counters = counters_});
}

void BlockStore::count_written(uint32_t written_bytes, const Status& status) {
  const MediumHealth::News news = health_.note(MediumHealth::Kind::kWrite, status);
  if (news == MediumHealth::News::kWatched) probe_->look();
  if (news == MediumHealth::News::kBack) probe_->look_everywhere();
  if (!status.ok()) return;
  counters_.add(Count::kMediumWrittenBytes, written_bytes);
  counters_.add(Count::kMediumWrites, 1);
}

}  // namespace nvcache
