#include "block_cache/in_place/slab_space.h"

#include <algorithm>
#include <bit>

#include "base/assert.h"

namespace nvcache {

SlabSpace::SlabSpace(uint64_t size_bytes, uint64_t max_size_bytes, uint32_t grain_bytes)
    : Space(grain_bytes),
      slabs_((std::max(size_bytes, max_size_bytes) / grain_bytes + kSlabGrains - 1) / kSlabGrains),
      leaves_(std::bit_ceil(std::max<uint64_t>(slabs_, 1))) {
  MutexLock lock(mutex_);
  taken_.resize(slabs_ * kSlabWords);
  // The tree ends at the last slab that exists: absent leaves have no free grain.
  tree_.resize(leaves_ + slabs_);
  limit_grains_.store(size_bytes / grain_bytes, std::memory_order_relaxed);
  if (slabs_ > 0) refresh_slabs(0, slabs_ - 1);
}

std::optional<uint64_t> SlabSpace::allocate(uint32_t size_bytes) {
  const uint32_t grains = to_grains(size_bytes);
  if (!has_room(size_bytes)) return std::nullopt;
  MutexLock lock(mutex_);
  if (slabs_ == 0 || grains == 0 || tree_[1].longest < grains) return std::nullopt;
  const uint64_t first = find_run(grains);
  NVCACHE_ASSERT_SLOW(first + grains <= limit());
  mark(first, grains, true);
  used_grains_ += grains;
  return first;
}

void SlabSpace::release(uint64_t offset_grains, uint32_t size_bytes) {
  const uint32_t grains = to_grains(size_bytes);
  MutexLock lock(mutex_);
  NVCACHE_ASSERT_SLOW(grains > 0 && grains <= used_grains_);
  mark(offset_grains, grains, false);
  used_grains_ -= grains;
}

void SlabSpace::set_limit(uint64_t size_bytes) {
  MutexLock lock(mutex_);
  const uint64_t old_limit = limit();
  const uint64_t new_limit = std::min(size_bytes / grain_bytes(), slabs_ * kSlabGrains);
  limit_grains_.store(new_limit, std::memory_order_relaxed);
  const uint64_t low = std::min(old_limit, new_limit) / kSlabGrains;
  const uint64_t high = std::max(old_limit, new_limit) / kSlabGrains;
  if (slabs_ > 0) refresh_slabs(std::min(low, slabs_ - 1), std::min(high, slabs_ - 1));
}

uint64_t SlabSpace::taken_end_bytes() const {
  MutexLock lock(mutex_);
  for (uint64_t word = taken_.size(); word > 0; --word) {
    if (taken_[word - 1] != 0) {
      return ((word - 1) / kSlabWords + 1) * kSlabGrains * uint64_t{grain_bytes()};
    }
  }
  return 0;
}

uint64_t SlabSpace::used_bytes() const {
  MutexLock lock(mutex_);
  return used_grains_ * grain_bytes();
}

uint64_t SlabSpace::limit_bytes() const { return limit() * grain_bytes(); }

uint64_t SlabSpace::metadata_bytes() const {
  // Counts only what serves the usable part: memory for the space beyond the limit is not in use.
  const uint64_t used_slabs = (limit() + kSlabGrains - 1) / kSlabGrains;
  return used_slabs * (kSlabWords * sizeof(uint64_t) + 2 * sizeof(Node));
}

void SlabSpace::mark(uint64_t first, uint64_t count, bool taken) {
  for (uint64_t grain = first; grain < first + count;) {
    const uint64_t bit = grain % 64;
    const uint64_t run = std::min<uint64_t>(64 - bit, first + count - grain);
    const uint64_t mask = (run == 64 ? ~uint64_t{0} : ((uint64_t{1} << run) - 1)) << bit;
    NVCACHE_ASSERT_SLOW((taken_[grain / 64] & mask) == (taken ? 0 : mask));
    if (taken) {
      taken_[grain / 64] |= mask;
    } else {
      taken_[grain / 64] &= ~mask;
    }
    grain += run;
  }
  refresh_slabs(first / kSlabGrains, (first + count - 1) / kSlabGrains);
}

void SlabSpace::refresh_slabs(uint64_t first_slab, uint64_t last_slab) {
  for (uint64_t slab = first_slab; slab <= last_slab; ++slab) {
    tree_[leaves_ + slab] = measure_slab(slab);
  }
  uint64_t low = leaves_ + first_slab;
  uint64_t high = leaves_ + last_slab;
  uint32_t half_grains = kSlabGrains;
  while (low > 1) {
    low /= 2;
    high /= 2;
    for (uint64_t node = low; node <= high; ++node) {
      const Node left = 2 * node < tree_.size() ? tree_[2 * node] : Node{};
      const Node right = 2 * node + 1 < tree_.size() ? tree_[2 * node + 1] : Node{};
      tree_[node] = join(left, right, half_grains);
    }
    half_grains *= 2;
  }
  longest_free_grains_.store(tree_[1].longest, std::memory_order_relaxed);
}

SlabSpace::Node SlabSpace::join(const Node& left, const Node& right, uint32_t half_grains) {
  Node node;
  node.prefix = left.prefix == half_grains ? half_grains + right.prefix : left.prefix;
  node.suffix = right.suffix == half_grains ? half_grains + left.suffix : right.suffix;
  node.longest = std::max({left.longest, right.longest, left.suffix + right.prefix});
  return node;
}

// The free bits of one word, without the grains beyond the limit.
uint64_t SlabSpace::free_word(uint64_t word) const {
  const uint64_t first = word * 64;
  const uint64_t end = limit();
  if (first >= end) return 0;
  const uint64_t inside = end - first;
  const uint64_t mask = inside >= 64 ? ~uint64_t{0} : (uint64_t{1} << inside) - 1;
  return ~(taken_[word] | aside_word(word)) & mask;
}

SlabSpace::Node SlabSpace::measure_slab(uint64_t slab) const {
  Node node;
  uint32_t run = 0;
  bool from_start = true;
  for (uint64_t word = slab * kSlabWords; word < (slab + 1) * kSlabWords; ++word) {
    uint64_t bits = free_word(word);
    uint32_t left = 64;
    while (left > 0) {
      const uint32_t ones = std::min<uint32_t>(static_cast<uint32_t>(std::countr_one(bits)), left);
      run += ones;
      left -= ones;
      if (left == 0) break;
      bits = ones == 64 ? 0 : bits >> ones;
      if (from_start) node.prefix = run;
      from_start = false;
      node.longest = std::max(node.longest, run);
      run = 0;
      const uint32_t zeros =
          std::min<uint32_t>(static_cast<uint32_t>(std::countr_zero(bits)), left);
      left -= zeros;
      bits = zeros >= 64 ? 0 : bits >> zeros;
    }
  }
  if (from_start) node.prefix = run;
  node.suffix = run;
  node.longest = std::max(node.longest, run);
  return node;
}

uint64_t SlabSpace::find_run(uint32_t grains) const {
  uint64_t node = 1;
  uint64_t first_slab = 0;
  uint64_t slabs = leaves_;
  while (node < leaves_) {
    const Node& left = tree_[2 * node];
    slabs /= 2;
    if (left.longest >= grains) {
      node = 2 * node;
      continue;
    }
    const uint64_t middle = (first_slab + slabs) * kSlabGrains;
    const Node right = 2 * node + 1 < tree_.size() ? tree_[2 * node + 1] : Node{};
    if (left.suffix + right.prefix >= grains) return middle - left.suffix;
    node = 2 * node + 1;
    first_slab += slabs;
  }
  return find_in_slab(first_slab, grains);
}

// The caller knows that the slab holds a run of `grains`.
uint64_t SlabSpace::find_in_slab(uint64_t slab, uint32_t grains) const {
  uint64_t start = slab * kSlabGrains;
  uint32_t run = 0;
  for (uint64_t word = slab * kSlabWords; word < (slab + 1) * kSlabWords; ++word) {
    const uint64_t bits = free_word(word);
    for (uint32_t bit = 0; bit < 64;) {
      const uint64_t rest = bits >> bit;
      if (const auto free = static_cast<uint32_t>(std::countr_one(rest)); free > 0) {
        run += free;
        if (run >= grains) return start;
        bit += free;
      } else {
        bit = std::min(bit + static_cast<uint32_t>(std::countr_zero(rest)), 64u);
        run = 0;
        start = word * 64 + bit;
      }
    }
  }
  NVCACHE_ASSERT(run >= grains);  // never comes here: the tree told of a run
  return start;
}

}  // namespace nvcache
