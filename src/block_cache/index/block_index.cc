#include "block_cache/index/block_index.h"

#include <algorithm>

#include "base/assert.h"

namespace nvcache {
namespace {
constexpr uint32_t kFirstBuckets = 16;
constexpr uint32_t kBucketsPerPage = 4096 / 64;
constexpr uint32_t kBucketsPerHugePage = kHugePageBytes / 64;

// A range as large as a huge page begins where one does, for populate_reserved(): the system lays
// reserved ranges so where their size is that of whole ones (Linux 6.7).
uint32_t whole_pages(uint32_t buckets) {
  const uint32_t unit = buckets < kBucketsPerHugePage ? kBucketsPerPage : kBucketsPerHugePage;
  return (buckets + unit - 1) / unit * unit;
}
}  // namespace

// Each range has pages of its own, so that its memory can be given back. Room for
// every slot at 7/8 of the cells, and for the last step of growth.
BlockIndex::BlockIndex(uint32_t max_slots)
    : max_buckets_(whole_pages(std::max<uint32_t>(
          kFirstBuckets,
          static_cast<uint32_t>(uint64_t{max_slots} * 8 / 7 / kCells * 17 / 16) + 2))),
      buckets_(size_t{2} * max_buckets_),
      shape_(kFirstBuckets) {}

uint64_t BlockIndex::next_shape(uint64_t shape) const {
  const uint32_t buckets = buckets_in(shape);
  return shape_with(std::min(max_buckets_, buckets + std::max(buckets / 16, 2u)), shape);
}

uint64_t BlockIndex::shape_for(uint32_t entries, uint64_t shape) const {
  const auto needed = static_cast<uint32_t>(uint64_t{entries} * 8 / 7 / kCells + 2);
  return shape_with(std::min(max_buckets_, std::max(needed, buckets_in(shape))), shape);
}

void BlockIndex::place(uint64_t shape, uint64_t hash, uint32_t slot) {
  Bucket* buckets = table(shape);
  const uint32_t value = tag(hash) | (slot + 1);
  const uint32_t first = home(shape, hash);
  for (uint32_t at = first;;) {
    Bucket& bucket = buckets[at];
    if (const uint32_t empty = empty_cells(bucket); empty != 0) {
      bucket.cells[std::countr_zero(empty)].store(value, std::memory_order_release);
      return;
    }
    count_passing(bucket, hash, +1);
    if (++at == buckets_in(shape)) at = 0;
    NVCACHE_ASSERT(at != first);  // the table has room: it grew before
  }
}

void BlockIndex::count_passing(Bucket& bucket, uint64_t hash, int change) {
  constexpr uint32_t kStuck = 15;
  const uint32_t counts = bucket.passed.load(std::memory_order_relaxed);
  const uint32_t count = (counts & passed_mask(hash)) >> passed_shift(hash);
  if (count == kStuck) return;
  NVCACHE_ASSERT_SLOW(change > 0 || count > 0);
  const uint32_t changed = (count + static_cast<uint32_t>(change)) << passed_shift(hash);
  bucket.passed.store((counts & ~passed_mask(hash)) | changed, std::memory_order_release);
}

void BlockIndex::erase(uint64_t hash, uint32_t slot) {
  const uint64_t shape = shape_.load(std::memory_order_relaxed);
  Bucket* buckets = table(shape);
  const uint32_t value = tag(hash) | (slot + 1);
  const uint32_t first = home(shape, hash);
  for (uint32_t at = first;;) {
    for (std::atomic<uint32_t>& cell : buckets[at].cells) {
      if (cell.load(std::memory_order_relaxed) != value) continue;
      cell.store(0, std::memory_order_release);
      for (uint32_t back = first; back != at;) {
        count_passing(buckets[back], hash, -1);
        if (++back == buckets_in(shape)) back = 0;
      }
      --entries_;
      return;
    }
    if (++at == buckets_in(shape)) at = 0;
    NVCACHE_ASSERT(at != first);  // it was inserted, with this hash
  }
}

void BlockIndex::populate(uint64_t shape) {
  populate_reserved(table(shape), size_t{buckets_in(shape)} * sizeof(Bucket));
}

void BlockIndex::discard(uint64_t shape) {
  discard_reserved(table(shape), size_t{buckets_in(shape)} * sizeof(Bucket));
}

}  // namespace nvcache
