// A volume in place: each block lies in an extent of its own, and stays there until it leaves. On
// byte-addressable media the thread that puts a block writes it; on a device a queue does.
#pragma once

#include <memory>

#include "base/background_thread.h"
#include "base/mutex.h"
#include "block_cache/in_place/background_eviction.h"
#include "block_cache/in_place/block_writer.h"
#include "block_cache/in_place/slab_space.h"
#include "block_cache/in_place/write_queue.h"
#include "block_cache/index/volume.h"
#include "block_cache/io/medium_probe.h"
#include "nvcache/status_or.h"

namespace nvcache {

class InPlaceVolume final : public Volume {
 public:
  // INVALID_ARGUMENT: the space is too large for the medium's grains.
  [[nodiscard]] static StatusOr<std::unique_ptr<Volume>> open(const Parts& parts);
  ~InPlaceVolume() override;

  Space& space() override { return space_; }
  MediumProbe& probe() override { return probe_; }
  [[nodiscard]] Status start() override;
  Reason enter(uint64_t hash, const BlockKey& key, ByteView block, const Freshness& fresh) override;
  bool keeps_pending() const override { return write_queue_ != nullptr; }
  SharedBuffer find_pending(uint64_t hash, uint32_t slot, const BlockKey& key,
                            uint32_t* size_bytes) const override;
  void drain() override;
  [[nodiscard]] Status resize(uint64_t size_bytes) override;
  void maintain() override;
  void add_stats(Stats* stats) const override;

 private:
  explicit InPlaceVolume(const Parts& parts);

  // The queue's name for a slot.
  uint64_t handle_of(uint64_t hash, uint32_t slot) const {
    return uint64_t{parts_.shards.number_of(hash)} << 32 | slot;
  }
  // kAdmitted with room at *offset_grains, or why there is none.
  Reason allocate(uint64_t hash, uint32_t size_bytes, uint64_t* offset_grains);
  Reason make_room(uint64_t hash, uint32_t size_bytes, uint64_t* offset_grains);
  // A block that is entered. `buffer`: for the queue.
  Reason write(uint64_t hash, const BlockKey& key, uint32_t slot, uint64_t offset, ByteView block,
               MutableBuffer buffer);
  Reason write_later(uint64_t hash, const BlockKey& key, uint32_t slot, uint64_t offset,
                     ByteView block, MutableBuffer buffer, bool probe);

  const Parts parts_;
  SlabSpace space_;
  MediumProbe probe_;
  BlockWriter writer_;
  std::unique_ptr<BackgroundEviction> background_eviction_;  // null: puts evict
  std::unique_ptr<WriteQueue> write_queue_;                  // null: who puts a block writes it
  Mutex resize_mutex_;
  BackgroundThread maintenance_;
};

}  // namespace nvcache
