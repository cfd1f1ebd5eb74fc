#include "block_cache/region/region_recovery.h"

#include <algorithm>
#include <exception>
#include <functional>
#include <new>

#include "base/background_thread.h"
#include "base/hash.h"
#include "base/test_hooks.h"

namespace nvcache {
namespace {

// The count of a footer that is not there, or must not be believed.
constexpr uint32_t kNoFooter = ~uint32_t{0};
constexpr uint32_t kOutdated = kNoFooter - 1;

constexpr size_t kAhead = 8;  // records, of 40 bytes

bool is_there(const RegionFooter& footer) { return footer.count < kOutdated; }

// Others do what this thread has no memory for.
void run_quietly(const std::function<void()>& work) noexcept {
  try {
    work();
  } catch (const std::bad_alloc&) {
  }
}

// Runs `work` on so many threads, and returns when all have done it. If the system has no more
// threads, fewer run it; the caller's does in any case.
void on_threads(uint32_t threads, const std::function<void()>& work) {
  std::vector<std::unique_ptr<BackgroundThread>> helpers;
  try {
    while (helpers.size() + 1 < threads) {
      helpers.push_back(std::make_unique<BackgroundThread>(BackgroundThread::Work{
          .name = "nvcache-recover", .round = [&work] { return run_quietly(work), false; }}));
      if (!helpers.back()->start()) break;
      helpers.back()->wake();
    }
  } catch (const std::bad_alloc&) {  // fewer
  }
  work();
}

}  // namespace

bool RegionRecovery::run() {
  footers_.resize(regions_.table.regions_to_recover(), {.count = kOutdated});
  read_footers();
  if (recovery_.stop.load(std::memory_order_relaxed)) return false;
  std::vector<uint32_t> free;
  std::vector<uint32_t> outdated;
  for (uint32_t region = 0; region < footers_.size(); ++region) {
    if (footers_[region].count == kNoFooter) free.push_back(region);
    if (footers_[region].count == kOutdated) outdated.push_back(region);
  }
  sort_footers();
  // An opening whose superblock did not reach the medium has used these sequences before.
  regions_.table.begin_after(footers_.empty() ? 0 : footers_.front().sequence);
  std::vector<uint64_t> index_bytes;
  for (const RegionFooter& footer : footers_) {
    index_bytes.push_back(geometry_.round_up(RegionFooter::tail_bytes(footer.count)));
    blocks_expected_ += footer.count;
  }
  // While indexes are left, some wait for the medium.
  const uint32_t threads = threads_ + RecoveryWindow::kReaders;
  blocks_.resize(threads);
  window_ = std::make_unique<RecoveryWindow>(std::move(index_bytes), parts_,
                                             ReadPace(recovery_.clock, recovery_.bytes_per_second));
  // From here on nothing throws, and puts find room.
  for (const uint32_t region : free) regions_.table.recover_free(region);
  for (const uint32_t region : outdated) regions_.table.recover_outdated(region);
  on_threads(threads, [this] { work(); });
  return !recovery_.stop.load(std::memory_order_relaxed);
}

// ---- footers

void RegionRecovery::read_footers() {
  const auto regions = static_cast<uint32_t>(footers_.size());
  const uint32_t chunks = (regions + kFootersTogether - 1) / kFootersTogether;
  on_threads(std::min(kFooterThreads, chunks), [&] {
    AlignedBytes memory(geometry_.unit_bytes, geometry_.unit_bytes);
    while (!recovery_.stop.load(std::memory_order_relaxed)) {
      const uint32_t first = next_region_.fetch_add(kFootersTogether, std::memory_order_relaxed);
      if (first >= regions) break;
      read_some_footers(first, std::min(kFootersTogether, regions - first), memory);
    }
  });
}

void RegionRecovery::read_some_footers(uint32_t first, uint32_t count, AlignedBytes& memory) {
  for (uint32_t region = first; region < first + count; ++region) {
    if (!regions_.table.is_believed(region)) continue;
    if (!read_medium(geometry_.end_of(region) - geometry_.unit_bytes, memory.span())) {
      regions_.damaged.fetch_add(1, std::memory_order_relaxed);
      continue;
    }
    const ByteView bytes = ByteView(memory.span()).last(RegionFooter::kBytes);
    const auto footer = RegionFooter::decode_of(geometry_, regions_.nonce, region, bytes);
    if (!footer) {
      footers_[region].count = kNoFooter;
    } else if (is_usable(*footer)) {
      footers_[region] = *footer;
    }
  }
}

// A list of places has all regions that were written before it.
bool RegionRecovery::is_usable(const RegionFooter& footer) const {
  const uint64_t end = regions_.removals.places_until();
  return footer.sequence >= regions_.removals.all_until() && (end == 0 || footer.sequence < end);
}

void RegionRecovery::sort_footers() {
  std::erase_if(footers_, [](const RegionFooter& each) { return !is_there(each); });
  std::ranges::sort(footers_, std::greater<>(), &RegionFooter::sequence);
  if (test_hooks.recover_oldest_first) std::ranges::reverse(footers_);
}

// ---- indexes

void RegionRecovery::work() {
  const uint32_t number = next_blocks_.fetch_add(1, std::memory_order_relaxed);
  if (number >= blocks_.size()) return;  // a thread that was here before: the others do its work
  carry_out_jobs(blocks_[number]);
  window_->leave();
}

void RegionRecovery::carry_out_jobs(Blocks& blocks) {
  while (!recovery_.stop.load(std::memory_order_relaxed)) {
    const RecoveryWindow::Job job = window_->next();
    if (job.what == RecoveryWindow::Job::What::kEnd) return;
    if (job.what == RecoveryWindow::Job::What::kNone) continue;
    if (job.what == RecoveryWindow::Job::What::kTake) {
      take(job, blocks);
    } else {
      prepare(job);
    }
    window_->done(job);
  }
}

// An index that cannot be read, or is damaged, costs its region.
void RegionRecovery::prepare(const RecoveryWindow::Job& job) noexcept {
  Index& index = index_at(job.index);
  if (job.what == RecoveryWindow::Job::What::kRead) {
    index.footer = footers_[job.index];
    index.usable = read_index(&index);
    return;
  }
  index.usable = index.usable && sort_index(&index);
  if (index.usable) {
    regions_.table.recover_begin(index.footer.region);
  } else {
    regions_.damaged.fetch_add(1, std::memory_order_relaxed);
    regions_.table.recover_outdated(index.footer.region);
  }
}

bool RegionRecovery::read_medium(uint64_t offset, MutableBytes into) noexcept {
  try {
    return regions_.medium.read(offset, into).ok();
  } catch (const std::exception&) {
    return false;
  }
}

bool RegionRecovery::read_index(Index* index) noexcept try {
  const RegionFooter& footer = index->footer;
  const uint64_t end = geometry_.end_of(footer.region);
  const uint64_t begin = geometry_.round_down(end - RegionFooter::tail_bytes(footer.count));
  if (index->memory == nullptr || index->memory->span().size() < end - begin) {
    index->memory.reset();
    index->memory = std::make_unique<AlignedBytes>(end - begin, geometry_.unit_bytes);
  }
  const MutableBytes bytes = index->memory->span().first(end - begin);
  if (!read_medium(begin, bytes)) return false;
  const std::byte* const footer_at = bytes.data() + bytes.size() - RegionFooter::kBytes;
  index->records = {reinterpret_cast<const BlockRecord*>(footer_at) - footer.count, footer.count};
  return true;
} catch (const std::exception&) {
  return false;
}

bool RegionRecovery::sort_index(Index* index) noexcept try {
  index->removed = regions_.table.removed_from(index->footer.region);
  if (!is_whole(geometry_, regions_.nonce, index->footer, index->records)) return false;
  index->by_shard.sort(index->records, recovery_.shards);
  return true;
} catch (const std::exception&) {
  return false;
}

void RegionRecovery::take(const RecoveryWindow::Job& job, Blocks& blocks) {
  const uint32_t end_index = job.index + job.count;
  const uint32_t end = first_shard(job.part + 1);
  for (uint32_t shard = first_shard(job.part); shard < end; ++shard) {
    if (job.index == 0) make_room(recovery_.shards.at(shard));  // while others read ahead
    for (uint32_t i = job.index; i < end_index; ++i) {
      const Index& index = index_at(i);
      if (index.usable) take_shard(index, shard, blocks);
    }
  }
  for (uint32_t i = job.index; i < end_index; ++i) {
    const Index& index = index_at(i);
    if (window_->is_last(i) && index.usable) regions_.table.recover_sealed(index.footer.region);
  }
}

// Keys do not spread evenly.
void RegionRecovery::make_room(Shard& shard) const {
  const uint64_t share = blocks_expected_ / recovery_.shards.size();
  shard.expect_blocks(share + share / 32);
}

void RegionRecovery::take_shard(const Index& index, uint32_t shard, Blocks& blocks) {
  const uint64_t first_place = geometry_.place_of(index.footer.region, 0);
  const std::span<const HashedRecord> records = index.by_shard.of(shard);
  size_t count = 0;
  uint64_t grains = 0;
  for (size_t i = 0; i < records.size(); ++i) {
    // Another processor has sorted them: half of them lie in its caches.
    if (i + kAhead < records.size()) __builtin_prefetch(&records[i + kAhead]);
    const HashedRecord& each = records[i];
    const BlockRecord& record = each.record;
    if (!may_come_back(index, record)) continue;
    // Member by member: as a whole it is built on the stack, in pieces that a copy has to wait for.
    RecoveredBlock& block = blocks[count++];
    block.key = record.key;
    block.hash = each.hash;
    block.place = first_place + record.offset_grains;
    block.size_bytes = record.size_bytes;
    block.checksum = record.checksum;
    grains += geometry_.grains_of(record.size_bytes);
    if (count < blocks.size()) continue;
    give(index, shard, blocks, grains);
    count = 0;
    grains = 0;
  }
  if (count > 0) give(index, shard, std::span(blocks).first(count), grains);
}

// With mutable keys a block whose key keeps it away is removed: the next list has its place.
bool RegionRecovery::may_come_back(const Index& index, const BlockRecord& record) {
  const std::vector<uint32_t>& removed = index.removed;
  if (record.size_bytes == 0 ||
      (!removed.empty() && std::ranges::binary_search(removed, record.offset_grains))) {
    return false;
  }
  if (!regions_.removals.covers(record.key, index.footer.sequence)) return true;
  if (!test_hooks.forget_filtered) {
    regions_.table.note_removed(index.footer.region, record.offset_grains);
  }
  return false;
}

// The region holds its blocks before anybody can remove one.
void RegionRecovery::give(const Index& index, uint32_t shard, std::span<RecoveredBlock> blocks,
                          uint64_t grains) {
  const uint32_t region = index.footer.region;
  regions_.table.add(region, grains, static_cast<uint32_t>(blocks.size()));
  for (RecoveredBlock& block : blocks) block.is_gone = recovery_.gone_files.has(block.key.file);
  recovery_.shards.at(shard).restore(blocks);
  for (const RecoveredBlock& block : blocks) {
    if (block.is_in) continue;
    const uint64_t offset_grains = block.place - geometry_.place_of(region, 0);
    regions_.table.remove(region, static_cast<uint32_t>(offset_grains),
                          geometry_.grains_of(block.size_bytes));
  }
}

}  // namespace nvcache
