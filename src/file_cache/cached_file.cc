// One file of a FileBlockCache: what is cached of it.
#include <algorithm>
#include <new>
#include <utility>

#include "base/assert.h"
#include "base/test_hooks.h"
#include "file_cache/file_block_cache.h"

namespace nvcache {
namespace {

constinit thread_local uint64_t disk_reads_of_thread = 0;

constexpr uint32_t kInsertsPerNote = 16;  // of one file: the files meet in a counter that seldom

}  // namespace

uint64_t FileBlockCache::thread_disk_reads() { return disk_reads_of_thread; }

CachedFile::CachedFile(FileBlockCache& owner, uint64_t id, uint64_t size_bytes)
    : owner_(owner), id_(id), size_bytes_(size_bytes) {}

bool CachedFile::read(uint64_t offset, MutableBytes into, ReadTicket* ticket) {
  auto& counts = owner_.counts_.mine();
  counts.add(FileCount::kReads, 1);
  const FileRange range{offset, into.size()};
  if (owner_.cache_ == nullptr || !cacheable(range)) return false;
  if (forgotten_.load(std::memory_order_acquire)) return false;
  ticket->cacheable = true;
  // Before the lookup: a write from now on makes the ticket worthless.
  ticket->stretches = stretch_sum(range);
  const Lookup lookup = owner_.cache_->lookup({id_, offset}, {.copy_into = into});
  if (lookup.size_bytes == into.size()) {
    counts.add(FileCount::kServedReads, 1);
    counts.add(FileCount::kServedBytes, into.size());
    return true;
  }
  ticket->token = lookup.token;
  // Another extent starts there, so there is no token to tell that a write came between:
  // this reader's geometry is left alone until that extent is gone.
  if (lookup.hit()) ticket->cacheable = false;
  return false;
}

void CachedFile::count_disk_read(uint64_t size_bytes, bool whole_block, uint64_t took_ns) {
  auto& counts = owner_.counts_.mine();
  counts.add(FileCount::kDiskReads, 1);
  counts.add(FileCount::kDiskReadBytes, size_bytes);
  if (!whole_block) counts.add(FileCount::kForeignReads, 1);
  if (whole_block && owner_.cache_ != nullptr) owner_.cache_->note_storage_read(took_ns);
  ++disk_reads_of_thread;
}

void CachedFile::offer(uint64_t offset, ByteView block, const ReadTicket& ticket) {
  if (!ticket.cacheable) return;
  put({offset, block.size()}, block, Origin::kRead, ticket.token, ticket.stretches);
}

bool CachedFile::begin_write(const FileRange& range) {
  owner_.counts_.add(FileCount::kWrites, 1);
  return owner_.cache_ != nullptr && invalidate(range);
}

void CachedFile::end_write(const FileRange& range, ByteView block, bool was_cached) {
  owner_.counts_.add(FileCount::kWrittenBytes, range.size);
  grow_to(range.end());
  if (owner_.cache_ == nullptr) return;
  // A reader that began during the write may have cached what it found half written.
  was_cached |= invalidate(range);
  const bool wanted =
      owner_.on_write_ == OnWrite::kOffer || (owner_.on_write_ == OnWrite::kUpdate && was_cached);
  if (wanted && !test_hooks.skip_update && block.size() == range.size && cacheable(range)) {
    try {
      put(range, block, Origin::kWrite, {}, stretch_sum(range));
    } catch (const std::bad_alloc&) {  // the write itself is done, and must not fail for this
    }
  }
}

void CachedFile::begin_truncate(uint64_t size_bytes) {
  if (owner_.cache_ != nullptr) invalidate(beyond(size_bytes));
}

void CachedFile::end_truncate(uint64_t size_bytes) {
  if (owner_.cache_ != nullptr) invalidate(beyond(size_bytes));
  const uint64_t before = size_bytes_.exchange(size_bytes, std::memory_order_relaxed);
  change_dataset(static_cast<int64_t>(size_bytes - before));
}

uint64_t CachedFile::metadata_bytes(uint64_t* extents) const {
  MutexLock lock(mutex_);
  *extents += extents_.size();
  return extents_.metadata_bytes() + sizeof(*this);
}

// ---- what is cached of it

// The sum of counts that only grow is unchanged only if each of them is.
uint32_t CachedFile::stretch_sum(const FileRange& range) const {
  NVCACHE_ASSERT_SLOW(range.size != 0);
  uint32_t sum = 0;
  const uint64_t first = range.offset / kStretchBytes;
  const uint64_t last = (range.end() - 1) / kStretchBytes;
  for (uint64_t i = 0; i < std::min(last - first + 1, kStretches); ++i) {
    sum += stretches_[(first + i) % kStretches].load(std::memory_order_acquire);
  }
  return sum;
}

void CachedFile::move_stretches(const FileRange& range) {
  NVCACHE_ASSERT_SLOW(range.size != 0);
  const uint64_t first = range.offset / kStretchBytes;
  const uint64_t last = (range.end() - 1) / kStretchBytes;
  for (uint64_t i = 0; i < std::min(last - first + 1, kStretches); ++i) {
    stretches_[(first + i) % kStretches].fetch_add(1, std::memory_order_acq_rel);
  }
}

bool CachedFile::invalidate(const FileRange& range) {
  if (range.size == 0) return false;
  bool erased = false;
  FileRange rest = range;
  {
    MutexLock lock(mutex_);
    move_stretches(range);
    erased = erase_some(&rest);
  }
  // Others have their turn in between. Blocks that they enter hold bytes read or written since, or
  // are outdated by the stretches; that some of them go, too, costs a miss.
  while (rest.size != 0) {
    MutexLock lock(mutex_);
    erased |= erase_some(&rest);
  }
  return erased;
}

// Under the lock, so that what is not in the map is not in the cache either: else a
// write could miss a block that another thread is about to erase.
bool CachedFile::erase_overlapped(const FileRange& range) {
  bool erased = false;
  for (FileRange rest = range; rest.size != 0;) erased |= erase_some(&rest);
  return erased;
}

bool CachedFile::erase_some(FileRange* rest) {
  const FileRange range = *rest;
  *rest = {};
  if (test_hooks.skip_overlap) return false;
  std::vector<FileRange> removed;
  const bool kept = test_hooks.skip_update && ExtentMap::takes(range) && extents_.erase(range);
  const bool more = extents_.take_overlapped(range, kErasedAtOnce, &removed);
  NVCACHE_ASSERT_SLOW(!more || removed.size() == kErasedAtOnce);
  NVCACHE_ASSERT_SLOW(!more || removed.back().end() < range.end());
  if (more) *rest = {removed.back().end(), range.end() - removed.back().end()};
  if (kept) extents_.insert(range);
  // Nobody asks for a file that is gone. To erase its many blocks must not make the offers of other
  // files stale, whose keys share generations with them.
  const bool gone = forgotten_.load(std::memory_order_acquire);
  uint64_t erased = 0;
  for (const FileRange& extent : removed) {
    const BlockKey key{id_, extent.offset};
    erased += owner_.cache_->erase(key, gone ? Gone::kMayReturn : Gone::kForGood) ? 1 : 0;
  }
  if (erased != 0) owner_.counts_.add(FileCount::kInvalidated, erased);
  return erased != 0;
}

// Why the extent map comes first: a write that begins while the block is on its way
// finds it there, and its erase makes the put's token worthless. Why one offer of a
// range at a time: the second could otherwise take out of the map what the first
// has just put into the cache. Why admission is asked before all that: while an engine
// writes, nearly every block is refused, and must cost it no lock and no map.
void CachedFile::put(const FileRange& extent, ByteView block, Origin origin, MissToken token,
                     uint32_t stretches) {
  owner_.counts_.add(FileCount::kOffers, 1);
  if (test_hooks.skip_overlap && origin == Origin::kWrite)
    owner_.cache_->erase({id_, extent.offset});
  const auto outdated = [&] {
    const bool stale =
        stretch_sum(extent) != stretches || forgotten_.load(std::memory_order_acquire);
    if (stale) owner_.counts_.add(FileCount::kStaleOffers, 1);
    return stale;
  };
  if (outdated()) return;
  Admission admission = owner_.cache_->admit({id_, extent.offset}, extent.size, origin, token);
  if (!admission.admitted()) return;
  bool inserted = false;
  {
    MutexLock lock(mutex_);
    if (outdated()) return;
    const auto in_the_way = [&](const FileRange& other) { return other.overlaps(extent); };
    if (std::any_of(on_their_way_.begin(), on_their_way_.end(), in_the_way)) return;
    if (test_hooks.skip_overlap && origin == Origin::kWrite) extents_.erase(extent);
    if (!extents_.contains(extent)) {
      erase_overlapped(extent);
      inserted = extents_.insert(extent);
    }
    on_their_way_.push_back(extent);
    if (inserted) sweep();
    if (inserted && ++inserts_ % kInsertsPerNote == 0) owner_.note_inserts(kInsertsPerNote);
  }
  Verdict verdict = Verdict::refuse(Reason::kNoSpace);
  try {
    verdict = std::move(admission).commit(block);
  } catch (const std::bad_alloc&) {  // refused: the extent must not stay on its way
  }
  if (verdict.admitted()) owner_.counts_.add(FileCount::kAdmittedBytes, extent.size);
  MutexLock lock(mutex_);
  [[maybe_unused]] const size_t arrived = std::erase(on_their_way_, extent);
  NVCACHE_ASSERT_SLOW(arrived == 1);
  if (stretch_sum(extent) != stretches) {
    // The put of a written block has no token, and may have come after the erase.
    if (verdict.admitted() && !extents_.contains(extent))
      owner_.cache_->erase({id_, extent.offset});
  } else if (!verdict.admitted() && inserted) {
    extents_.erase(extent);
  }
}

// The cache evicts without telling; each new extent pays for a look at two others of its file.
void CachedFile::sweep() {
  for (int i = 0; i < 2; ++i) sweep_one();
}

void CachedFile::sweep_one() {
  const std::optional<FileRange> extent = extents_.next(&sweep_position_);
  if (!extent || owner_.cache_->contains({id_, extent->offset})) return;
  const auto same = [&](const FileRange& other) { return other == *extent; };
  if (std::none_of(on_their_way_.begin(), on_their_way_.end(), same)) extents_.erase(*extent);
}

uint64_t CachedFile::sweep_all() {
  uint64_t left = 0;
  for (bool first = true;; first = false) {
    MutexLock lock(mutex_);  // others have their turn in between
    if (first) left = extents_.size();
    const uint64_t looks = std::min<uint64_t>(left, kErasedAtOnce);
    for (uint64_t i = 0; i < looks; ++i) sweep_one();
    left -= looks;
    if (left == 0) return extents_.size();
  }
}

// ---- its size

void CachedFile::grow_to(uint64_t size_bytes) {
  uint64_t now = size_bytes_.load(std::memory_order_relaxed);
  while (now < size_bytes) {
    if (!size_bytes_.compare_exchange_weak(now, size_bytes, std::memory_order_relaxed)) continue;
    change_dataset(static_cast<int64_t>(size_bytes - now));
    return;
  }
}

void CachedFile::change_dataset(int64_t bytes) {
  if (!forgotten_.load(std::memory_order_acquire)) owner_.change_dataset(bytes);
}

}  // namespace nvcache
