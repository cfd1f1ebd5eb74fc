// A BlockCache that is a map, to see what an adapter asks of it: who looked up,
// what was offered, what was erased. Thread-safe. Holds everything it admits.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "nvcache/block_cache.h"

namespace nvcache::rocksdb::testing {

class FakeBlockCache final : public BlockCache, private Pin::Owner, private Admission::Owner {
 public:
  // From now on each put is refused for this reason; kAdmitted: none is.
  void refuse_all(Reason reason) {
    std::lock_guard lock(mutex_);
    refuse_ = reason;
  }

  Lookup lookup(const BlockKey& key, const LookupOptions& options) override {
    std::lock_guard lock(mutex_);
    const auto found = blocks_.find({key.file, key.offset});
    const bool hit = found != blocks_.end();
    ++(hit ? stats_.hits : stats_.misses);
    if (options.caller == Caller::kBackground) {
      ++(hit ? stats_.background_hits : stats_.background_misses);
    }
    if (!hit) return {};
    const ByteView block(*found->second);
    Lookup lookup;
    lookup.size_bytes = static_cast<uint32_t>(block.size());
    if (options.copy_into) {
      if (block.size() <= options.copy_into->size()) {
        std::copy(block.begin(), block.end(), options.copy_into->begin());
      }
      return lookup;
    }
    lookup.pin = Pin(this, reinterpret_cast<uint64_t>(new Block(found->second)), block);
    ++pins_;
    return lookup;
  }

  // As if blocks lay on a device.
  void read_side_by_side() { side_by_side_ = true; }
  bool reads_side_by_side() const override { return side_by_side_; }
  void lookup_all(std::span<BlockLookup> lookups) override {
    batches_.push_back(lookups.size());
    BlockCache::lookup_all(lookups);
  }
  // How many lookups each lookup_all() had.
  std::vector<size_t> batches() const { return batches_; }

  Admission admit(const BlockKey& key, uint64_t size_bytes, Origin, MissToken token) override {
    std::lock_guard lock(mutex_);
    const Verdict verdict = judge(key, size_bytes);
    if (verdict.admitted()) {
      return Admission(*this, {.key = key, .size_bytes = size_bytes, .token = token});
    }
    ++stats_.refused[static_cast<size_t>(verdict.reason)];
    return Admission(verdict);
  }

  bool contains(const BlockKey& key) const override {
    std::lock_guard lock(mutex_);
    return blocks_.contains({key.file, key.offset});
  }

  StatusOr<uint64_t> erase_blocks(const Blocks& blocks, Gone gone) override {
    std::lock_guard lock(mutex_);
    uint64_t erased = 0;
    for (const BlockKey& key : blocks.keys) erased += blocks_.erase({key.file, key.offset});
    stats_.erases += erased;
    if (gone == Gone::kMayReturn) gone_.insert(blocks.files.begin(), blocks.files.end());
    for (const uint64_t file : blocks.files) {
      erased +=
          std::erase_if(blocks_, [file](const auto& each) { return each.first.first == file; });
    }
    return erased;
  }
  std::vector<BlockKey> keys() const {
    std::lock_guard lock(mutex_);
    std::vector<BlockKey> keys;
    for (const auto& each : blocks_) keys.push_back({each.first.first, each.first.second});
    return keys;
  }

  nvcache::Status resize(uint64_t size_bytes) override {
    if (size_bytes > kMaxSizeBytes) return out_of_range_error("size: over max_size");
    std::lock_guard lock(mutex_);
    stats_.size_bytes = size_bytes;
    return ok_status();
  }

  void set_dataset_size(uint64_t size_bytes) override {
    std::lock_guard lock(mutex_);
    stats_.dataset_size_bytes = size_bytes;
  }

  // As if the policy weighed costs.
  void want_storage_reads() { wants_reads_ = true; }
  bool wants_storage_reads() const override { return wants_reads_; }
  void note_storage_read(uint64_t took_ns) override {
    storage_reads_.fetch_add(1);
    if (took_ns == 0 || took_ns > 60'000'000'000) wrong_times_.fetch_add(1);
  }
  uint64_t storage_reads() const { return storage_reads_; }
  uint64_t wrong_times() const { return wrong_times_; }

  void note_compressed(uint64_t size_bytes) override {
    std::lock_guard lock(mutex_);
    ++stats_.compressed_blocks;
    stats_.compressed_bytes += size_bytes;
  }

  void drain() override {}

  Stats stats() const override {
    std::lock_guard lock(mutex_);
    return stats_;
  }

  int pins() const {
    std::lock_guard lock(mutex_);
    return pins_;
  }

  static constexpr uint64_t kMaxSizeBytes = 1u << 30;

 private:
  using Block = std::shared_ptr<const std::vector<std::byte>>;

  Verdict judge(const BlockKey& key, uint64_t size_bytes) const {
    if (refuse_ != Reason::kAdmitted) return Verdict::refuse(refuse_);
    if (size_bytes == 0 || size_bytes > kMaxBlockBytes) return Verdict::refuse(Reason::kBadSize);
    if (blocks_.contains({key.file, key.offset})) return Verdict::refuse(Reason::kDuplicate);
    if (gone_.contains(key.file)) return Verdict::refuse(Reason::kStaleToken);
    return Verdict::admit();
  }

  Verdict commit(const Admission::Offer& offer, ByteView block) override {
    std::lock_guard lock(mutex_);
    const Verdict verdict = judge(offer.key, block.size());
    ++stats_.refused[static_cast<size_t>(verdict.reason)];
    if (!verdict.admitted()) return verdict;
    blocks_[{offer.key.file, offer.key.offset}] =
        std::make_shared<const std::vector<std::byte>>(block.begin(), block.end());
    ++stats_.inserts;
    ++stats_.blocks;
    return verdict;
  }

  void release(uint64_t handle) override {
    delete reinterpret_cast<Block*>(handle);
    std::lock_guard lock(mutex_);
    --pins_;
  }

  mutable std::mutex mutex_;
  std::map<std::pair<uint64_t, uint64_t>, Block> blocks_;
  std::set<uint64_t> gone_;
  Stats stats_;
  Reason refuse_ = Reason::kAdmitted;
  int pins_ = 0;
  bool wants_reads_ = false;
  bool side_by_side_ = false;
  std::vector<size_t> batches_;
  std::atomic<uint64_t> storage_reads_{0};
  std::atomic<uint64_t> wrong_times_{0};
};

}  // namespace nvcache::rocksdb::testing
