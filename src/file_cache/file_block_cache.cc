#include "file_cache/file_block_cache.h"

#include <algorithm>
#include <new>
#include <utility>

#include "base/assert.h"

namespace nvcache {
namespace {

constexpr uint64_t kLeastInserts = 1024;  // between two sweeps of all files

}  // namespace

FileBlockCache::FileBlockCache(std::shared_ptr<BlockCache> cache, OnWrite on_write)
    : cache_(std::move(cache)),
      on_write_(on_write),
      sweep_after_(kLeastInserts),
      thread_({.name = "nvcache-files", .round = [this] { return tidy_up(); }}) {}

FileBlockCache::~FileBlockCache() {
  {
    MutexLock lock(mutex_);
    dropped_.clear();  // their blocks leave with the cache, or as others need their room
  }
  thread_.stop();
}

std::shared_ptr<CachedFile> FileBlockCache::open(const std::string& path,
                                                 const FileIdentity& identity) {
  std::shared_ptr<CachedFile> outdated;
  std::shared_ptr<CachedFile> file;
  {
    MutexLock lock(mutex_);
    auto at = files_.find(path);
    const bool same =
        at != files_.end() && (at->second.opens != 0 || at->second.identity == identity);
    if (!same) {
      // Whatever finds no memory here leaves the list as it was.
      file = std::make_shared<CachedFile>(*this, next_id_++, identity.size_bytes);
      if (at == files_.end()) {
        at = files_.emplace(path, Known{.file = file, .identity = {}}).first;
      } else {
        outdated = std::exchange(at->second.file, file);
      }
    }
    Known& known = at->second;
    file = known.file;
    if (known.opens++ == 0) change_dataset(static_cast<int64_t>(file->size_bytes()));
  }
  if (outdated != nullptr) drop(std::move(outdated));
  return file;
}

void FileBlockCache::close(const std::string& path, const CachedFile& file,
                           const FileIdentity& identity) {
  MutexLock lock(mutex_);
  const auto at = files_.find(path);
  if (at == files_.end() || at->second.file.get() != &file) return;
  NVCACHE_ASSERT(at->second.opens > 0);
  if (--at->second.opens != 0) return;
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
// again. So its blocks only take room, until others need it: without memory they are left.
void FileBlockCache::drop(std::shared_ptr<CachedFile> file) try {
  const bool was_forgotten = file->forgotten_.exchange(true, std::memory_order_release);
  NVCACHE_ASSERT(!was_forgotten);
  if (cache_ == nullptr) return;
  uint64_t extents = 0;
  (void)file->metadata_bytes(&extents);
  if (extents <= CachedFile::kErasedAtOnce || !thread_.start()) {
    file->invalidate(CachedFile::beyond(0));
    return;
  }
  {
    // A written block that is on its way to the cache is taken out again at its end.
    MutexLock lock(file->mutex_);
    file->move_stretches(CachedFile::beyond(0));
  }
  {
    MutexLock lock(mutex_);
    dropped_.push_back(std::move(file));
  }
  thread_.wake();
} catch (const std::bad_alloc&) {
}

bool FileBlockCache::tidy_up() {
  if (erase_dropped()) return true;
  if (inserts_.load(std::memory_order_relaxed) >= sweep_after_.load(std::memory_order_relaxed)) {
    sweep_files();
  }
  return false;
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
  NVCACHE_ASSERT(dropped_.empty() || dropped_.front() == file);  // only this thread takes any out
  if (rest.size == 0 && !dropped_.empty()) dropped_.pop_front();
  if (dropped_.empty()) none_dropped_.notify_all();
  return !dropped_.empty();
}

// Without a thread only the files that blocks enter are swept, by those who enter them.
void FileBlockCache::note_inserts(uint64_t inserts) {
  const uint64_t sum = inserts_.fetch_add(inserts, std::memory_order_relaxed) + inserts;
  if (sum >= sweep_after_.load(std::memory_order_relaxed) && thread_.start()) thread_.wake();
}

// Files that no block enters keep extents of blocks that left long ago, and closed files of which
// nothing is cached are of no use.
void FileBlockCache::sweep_files() {
  inserts_.store(0, std::memory_order_relaxed);
  std::vector<std::shared_ptr<CachedFile>> files;
  {
    MutexLock lock(mutex_);
    files.reserve(files_.size());
    for (const auto& [path, known] : files_) files.push_back(known.file);
  }
  uint64_t extents = 0;
  for (const auto& file : files) extents += file->sweep_all();
  sweep_after_.store(std::max(kLeastInserts, extents), std::memory_order_relaxed);
  MutexLock lock(mutex_);
  std::erase_if(files_, [](const auto& each) {
    uint64_t left = 0;
    return each.second.opens == 0 && (each.second.file->metadata_bytes(&left), left == 0);
  });
}

void FileBlockCache::drain() {
  MutexLock lock(mutex_);
  while (thread_.is_in_this_process() && !dropped_.empty()) none_dropped_.wait(mutex_);
}

void FileBlockCache::change_dataset(int64_t bytes) {
  const uint64_t total =
      dataset_bytes_.fetch_add(static_cast<uint64_t>(bytes), std::memory_order_relaxed) +
      static_cast<uint64_t>(bytes);
  if (cache_ != nullptr) cache_->set_dataset_size(total);
}

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
