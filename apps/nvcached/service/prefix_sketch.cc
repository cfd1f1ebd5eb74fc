#include "apps/nvcached/service/prefix_sketch.h"

#include <algorithm>

#include "base/hash.h"

namespace nvcache::server {

void PrefixSketch::add(std::string_view prefix, KeyUse use) {
  const MutexLock lock(mutex_);
  if (++samples_ >= kAge) age();
  if (prefix.empty()) {
    ++without_prefix_;
    return;
  }
  PrefixCounts& counts = find_or_replace(prefix.substr(0, kMostBytes)).counts;
  ++counts.samples;
  switch (use) {
    case KeyUse::kHit:
      ++counts.hits;
      break;
    case KeyUse::kMiss:
      ++counts.misses;
      break;
    case KeyUse::kSet:
      ++counts.sets;
      break;
    case KeyUse::kDelete:
      ++counts.deletes;
      break;
  }
}

PrefixSketch::Entry& PrefixSketch::find_or_replace(std::string_view prefix) {
  const uint64_t hash = hash_bytes(prefix);
  size_t least = 0;
  for (size_t i = 0; i < size_; ++i) {
    if (hashes_[i] == hash && entries_[i].prefix() == prefix) return entries_[i];
    if (entries_[i].counts.samples < entries_[least].counts.samples) least = i;
  }
  const bool is_full = size_ == kMost;
  const size_t at = is_full ? least : size_++;
  Entry& entry = entries_[at];
  const uint64_t inherited = is_full ? entry.counts.samples : 0;
  entry.counts = {.samples = inherited, .error = inherited};
  entry.bytes = prefix.size();
  std::copy(prefix.begin(), prefix.end(), entry.text.begin());
  hashes_[at] = hash;
  return entry;
}

void PrefixSketch::age() {
  samples_ /= 2;
  without_prefix_ /= 2;
  for (Entry& entry : entries_) {
    PrefixCounts& counts = entry.counts;
    for (uint64_t* count : {&counts.samples, &counts.error, &counts.hits, &counts.misses,
                            &counts.sets, &counts.deletes}) {
      *count /= 2;
    }
  }
}

// Copies under the lock, and counts afterwards: the thread that adds hardly waits.
void PrefixSketch::add_to(PrefixTotals& totals) const {
  std::array<Entry, kMost> entries;
  size_t size = 0;
  {
    const MutexLock lock(mutex_);
    totals.samples += samples_;
    totals.without_prefix += without_prefix_;
    size = size_;
    std::copy_n(entries_.begin(), size, entries.begin());
  }
  for (size_t i = 0; i < size; ++i) {
    const PrefixCounts& from = entries[i].counts;
    PrefixCounts& to = totals.prefixes[std::string(entries[i].prefix())];
    to.samples += from.samples;
    to.error += from.error;
    to.hits += from.hits;
    to.misses += from.misses;
    to.sets += from.sets;
    to.deletes += from.deletes;
  }
}

}  // namespace nvcache::server
