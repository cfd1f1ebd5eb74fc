#include "file_cache/file_block_cache.h"

#include <algorithm>
#include <new>
#include <utility>

#include "base/test_hooks.h"

namespace nvcache {
namespace {

constinit thread_local uint64_t disk_reads_of_thread = 0;

constexpr size_t kErasedAtOnce = 1024;  // extents, under a file's lock: about half a millisecond

}  // namespace

// ---- one file

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
  ticket->regions = region_sum(range);
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

void CachedFile::count_disk_read(uint64_t size_bytes, bool whole_block) {
  auto& counts = owner_.counts_.mine();
  counts.add(FileCount::kDiskReads, 1);
  counts.add(FileCount::kDiskReadBytes, size_bytes);
  if (!whole_block) counts.add(FileCount::kForeignReads, 1);
  ++disk_reads_of_thread;
}

void CachedFile::offer(uint64_t offset, ByteView block, const ReadTicket& ticket) {
  if (!ticket.cacheable) return;
  put({offset, block.size()}, block, Origin::kRead, ticket.token, ticket.regions);
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
      put(range, block, Origin::kWrite, {}, region_sum(range));
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
uint32_t CachedFile::region_sum(const FileRange& range) const {
  uint32_t sum = 0;
  const uint64_t first = range.offset / kRegionBytes;
  const uint64_t last = (range.end() - 1) / kRegionBytes;
  for (uint64_t i = 0; i < std::min(last - first + 1, kRegions); ++i) {
    sum += regions_[(first + i) % kRegions].load(std::memory_order_acquire);
  }
  return sum;
}

void CachedFile::move_regions(const FileRange& range) {
  const uint64_t first = range.offset / kRegionBytes;
  const uint64_t last = (range.end() - 1) / kRegionBytes;
  for (uint64_t i = 0; i < std::min(last - first + 1, kRegions); ++i) {
    regions_[(first + i) % kRegions].fetch_add(1, std::memory_order_acq_rel);
  }
}

bool CachedFile::invalidate(const FileRange& range) {
  if (range.size == 0) return false;
  bool erased = false;
  FileRange rest = range;
  {
    MutexLock lock(mutex_);
    move_regions(range);
    erased = erase_some(&rest);
  }
  // Others have their turn in between. What they enter now they have read or written since, or it
  // is outdated by the regions; that some of it goes, too, costs a miss.
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
  if (more) *rest = {removed.back().end(), range.end() - removed.back().end()};
  if (kept) extents_.insert(range);
  // Nobody asks for a file that is gone. To erase its many blocks must not make the offers of other
  // files stale, whose keys share generations with them.
  const bool dead = forgotten_.load(std::memory_order_acquire);
  uint64_t erased = 0;
  for (const FileRange& extent : removed) {
    const BlockKey key{id_, extent.offset};
    erased += (dead ? owner_.cache_->erase_dead(key) : owner_.cache_->erase(key)) ? 1 : 0;
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
                     uint32_t regions) {
  owner_.counts_.add(FileCount::kOffers, 1);
  if (test_hooks.skip_overlap && origin == Origin::kWrite)
    owner_.cache_->erase({id_, extent.offset});
  const auto outdated = [&] {
    const bool stale = region_sum(extent) != regions || forgotten_.load(std::memory_order_acquire);
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
  }
  Verdict verdict = Verdict::refuse(Reason::kNoSpace);
  try {
    verdict = std::move(admission).commit(block);
  } catch (const std::bad_alloc&) {  // refused: the extent must not stay on its way
  }
  if (verdict.admitted()) owner_.counts_.add(FileCount::kAdmittedBytes, extent.size);
  MutexLock lock(mutex_);
  std::erase(on_their_way_, extent);
  if (region_sum(extent) != regions) {
    // The put of a written block has no token, and may have come after the erase.
    if (verdict.admitted() && !extents_.contains(extent))
      owner_.cache_->erase({id_, extent.offset});
  } else if (!verdict.admitted() && inserted) {
    extents_.erase(extent);
  }
}

// The cache evicts without telling; each new extent pays for a look at two others.
void CachedFile::sweep() {
  for (int i = 0; i < 2; ++i) {
    const std::optional<FileRange> extent = extents_.next(&sweep_position_);
    if (!extent || owner_.cache_->contains({id_, extent->offset})) continue;
    const auto same = [&](const FileRange& other) { return other == *extent; };
    if (std::none_of(on_their_way_.begin(), on_their_way_.end(), same)) extents_.erase(*extent);
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

// ---- all files

FileBlockCache::FileBlockCache(std::shared_ptr<BlockCache> cache, OnWrite on_write)
    : cache_(std::move(cache)),
      on_write_(on_write),
      eraser_({.name = "nvcache-erase", .round = [this] { return erase_dropped(); }}) {}

FileBlockCache::~FileBlockCache() {
  {
    MutexLock lock(mutex_);
    dropped_.clear();  // their blocks leave with the cache, or as others need their room
  }
  eraser_.stop();
}

std::shared_ptr<CachedFile> FileBlockCache::open(const std::string& path,
                                                 const FileIdentity& identity) {
  std::shared_ptr<CachedFile> outdated;
  std::shared_ptr<CachedFile> file;
  {
    MutexLock lock(mutex_);
    Known& known = files_[path];
    if (known.opens == 0 && known.file != nullptr && known.identity != identity) {
      outdated = std::exchange(known.file, nullptr);
    }
    if (known.file == nullptr) {
      known.file = std::make_shared<CachedFile>(*this, next_id_++, identity.size_bytes);
    }
    if (known.opens++ == 0) change_dataset(static_cast<int64_t>(known.file->size_bytes()));
    file = known.file;
  }
  if (outdated != nullptr) drop(std::move(outdated));
  return file;
}

void FileBlockCache::close(const std::string& path, const CachedFile& file,
                           const FileIdentity& identity) {
  MutexLock lock(mutex_);
  const auto at = files_.find(path);
  if (at == files_.end() || at->second.file.get() != &file || --at->second.opens != 0) return;
  at->second.identity = identity;
  change_dataset(-static_cast<int64_t>(file.size_bytes()));
}

void FileBlockCache::forget(const std::string& path) {
  std::shared_ptr<CachedFile> file;
  {
    MutexLock lock(mutex_);
    const auto at = files_.find(path);
    if (at == files_.end()) return;
    file = at->second.file;
    if (at->second.opens != 0) change_dataset(-static_cast<int64_t>(file->size_bytes()));
    files_.erase(at);
  }
  drop(std::move(file));
}

// No read of the file is served and no block of it is admitted any more; its number is not used
// again. So its blocks only take room.
void FileBlockCache::drop(std::shared_ptr<CachedFile> file) {
  file->forgotten_.store(true, std::memory_order_release);
  if (cache_ == nullptr) return;
  uint64_t extents = 0;
  (void)file->metadata_bytes(&extents);
  if (extents <= kErasedAtOnce || !eraser_.start()) {
    file->invalidate(CachedFile::beyond(0));
    return;
  }
  {
    // A written block that is on its way to the cache is taken out again at its end.
    MutexLock lock(file->mutex_);
    file->move_regions(CachedFile::beyond(0));
  }
  {
    MutexLock lock(mutex_);
    dropped_.push_back(std::move(file));
  }
  eraser_.wake();
}

bool FileBlockCache::erase_dropped() {
  std::shared_ptr<CachedFile> file;
  {
    MutexLock lock(mutex_);
    if (dropped_.empty()) return false;
    file = dropped_.front();
  }
  FileRange rest = CachedFile::beyond(0);
  {
    MutexLock lock(file->mutex_);
    file->erase_some(&rest);
  }
  MutexLock lock(mutex_);
  if (rest.size == 0 && !dropped_.empty()) dropped_.pop_front();
  if (dropped_.empty()) none_dropped_.notify_all();
  return !dropped_.empty();
}

void FileBlockCache::drain() {
  MutexLock lock(mutex_);
  while (!dropped_.empty()) none_dropped_.wait(mutex_);
}

void FileBlockCache::change_dataset(int64_t bytes) {
  const uint64_t total =
      dataset_bytes_.fetch_add(static_cast<uint64_t>(bytes), std::memory_order_relaxed) +
      static_cast<uint64_t>(bytes);
  if (cache_ != nullptr) cache_->set_dataset_size(total);
}

uint64_t FileBlockCache::thread_disk_reads() { return disk_reads_of_thread; }

FileStats FileBlockCache::stats() const {
  FileStats stats;
  for (size_t i = 0; i < stats.counts.size(); ++i) {
    stats.counts[i] = counts_.sum(static_cast<FileCount>(i));
  }
  stats.dataset_bytes = dataset_bytes_.load(std::memory_order_relaxed);
  MutexLock lock(mutex_);
  for (const auto& [path, known] : files_) {
    stats.files += known.opens != 0 ? 1 : 0;
    stats.metadata_bytes += known.file->metadata_bytes(&stats.extents);
  }
  return stats;
}

}  // namespace nvcache
