// A volume in regions: blocks are appended to regions that are open in DRAM, regions are written
// whole and emptied whole, and what they hold can come back after a restart.
#pragma once

#include <atomic>
#include <memory>

#include "base/background_thread.h"
#include "base/mutex.h"
#include "block_cache/index/volume.h"
#include "block_cache/io/medium_probe.h"
#include "block_cache/region/region_eviction.h"
#include "block_cache/region/region_space.h"
#include "nvcache/status_or.h"

namespace nvcache {

class RegionVolume final : public Volume {
 public:
  // Fails as RegionSpace::open() does.
  [[nodiscard]] static StatusOr<std::unique_ptr<Volume>> open(const Parts& parts);
  ~RegionVolume() override;

  Space& space() override { return *space_; }
  MediumProbe& probe() override { return *probe_; }
  [[nodiscard]] Status start() override;
  Reason enter(uint64_t hash, const BlockKey& key, ByteView block, const Freshness& fresh) override;
  void drain() override { space_->writer().drain(); }
  [[nodiscard]] Status resize(uint64_t size_bytes) override;
  // Regions are emptied when room is wanted; a policy that works in passes is told the time.
  void maintain() override;
  // A region may have no block left.
  void note_erased() override {
    if (space_->wants_to_discard()) eviction_->wake();
  }
  [[nodiscard]] Status remember_erased(std::span<const BlockKey> keys,
                                       std::span<const uint64_t> files) override {
    return space_->remember_erased(keys, files);
  }
  bool recovering() const override { return space_->recovering(); }
  void add_stats(Stats* stats) const override;

 private:
  explicit RegionVolume(const Parts& parts);

  [[nodiscard]] Status open_space();
  RegionWriter::Events events();
  void close();
  // True: there was no memory, and it must be tried again.
  bool recover();
  uint32_t recovery_threads() const;
  Status shrink_to(uint32_t regions) NVCACHE_REQUIRES(resize_mutex_);
  // Blocks that came back beyond a limit that was set as they came leave.
  void finish_resize();

  const Parts parts_;
  std::unique_ptr<RegionSpace> space_;
  std::unique_ptr<MediumProbe> probe_;
  std::unique_ptr<RegionEviction> eviction_;
  Mutex resize_mutex_;
  bool started_ = false;
  std::atomic<bool> closing_{false};
  BackgroundThread recovery_;
  BackgroundThread maintenance_;
};

}  // namespace nvcache
