// A file in the page cache, in DRAM: its bytes lie in pages that the kernel writes to the disk when
// it likes, in any order, and all of them at a sync. flush() and drain() promise nothing.
//
// A loss of power leaves what is on the disk, and of the pages that differ any subset: the disk may
// have been writing them.
//
// Caller-locked, but for the memory itself.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "base/prng.h"
#include "medium/medium.h"
#include "medium/page_file.h"

namespace nvcache::test {

class PageCacheMedium final : public Medium, public PageFile {
 public:
  static constexpr uint64_t kPageBytes = 4096;

  // Zeros, or the bytes of an image.
  explicit PageCacheMedium(uint64_t size_bytes)
      : PageCacheMedium(std::vector<std::byte>(size_bytes)) {}
  explicit PageCacheMedium(std::vector<std::byte> image)
      : words_((image.size() + 7) / 8), disk_(std::move(image)) {
    std::memcpy(base(), disk_.data(), disk_.size());
  }

  // Loses power just before the n-th sync from now on: then image() is what is left.
  void lose_power_at_sync(uint64_t number, uint64_t seed) {
    syncs_left_ = number;
    seed_ = seed;
  }
  bool lost_power() const { return lost_power_; }
  const std::vector<std::byte>& image() const { return image_; }
  // The bytes that a loss of power leaves now.
  std::vector<std::byte> lose_power(uint64_t seed) const {
    Prng random(seed);
    std::vector<std::byte> image = disk_;
    const uint64_t one_in = 1 + random.below(4);
    for (uint64_t at = 0; at < image.size(); at += kPageBytes) {
      if (random.below(one_in) == 0) std::memcpy(image.data() + at, base() + at, kPageBytes);
    }
    return image;
  }
  // The kernel writes one page in `one_in` to the disk.
  void write_back(uint64_t seed, uint64_t one_in) {
    Prng random(seed);
    for (uint64_t at = 0; at < disk_.size(); at += kPageBytes) {
      if (random.below(one_in) == 0) std::memcpy(disk_.data() + at, base() + at, kPageBytes);
    }
  }

  uint64_t size_bytes() const override { return disk_.size(); }
  const Traits& traits() const override { return traits_; }
  [[nodiscard]] Status read(uint64_t offset, MutableBytes into) override {
    std::memcpy(into.data(), base() + offset, into.size());
    return ok_status();
  }
  [[nodiscard]] Status write(uint64_t offset, ByteView from) override {
    std::memcpy(base() + offset, from.data(), from.size());
    return ok_status();
  }
  ByteView direct() const override { return {base(), disk_.size()}; }
  [[nodiscard]] Status resize(uint64_t) override { return ok_status(); }

  [[nodiscard]] Status sync_all() override { return sync({0, disk_.size()}); }
  [[nodiscard]] Status sync(Extent extent) override {
    if (syncs_left_-- == 0) {
      image_ = lose_power(seed_);
      lost_power_ = true;
    }
    const uint64_t begin = extent.offset / kPageBytes * kPageBytes;
    const uint64_t pages =
        (extent.offset + extent.size_bytes - begin + kPageBytes - 1) / kPageBytes;
    std::memcpy(disk_.data() + begin, base() + begin,
                std::min(pages * kPageBytes, disk_.size() - begin));
    return ok_status();
  }
  void populate(Extent) override {}

 private:
  std::byte* base() const {
    return reinterpret_cast<std::byte*>(const_cast<uint64_t*>(words_.data()));
  }

  std::vector<uint64_t> words_;  // so that the memory is aligned
  std::vector<std::byte> disk_;
  std::vector<std::byte> image_;
  bool lost_power_ = false;
  uint64_t syncs_left_ = ~uint64_t{0};
  uint64_t seed_ = 0;
  const Traits traits_{.name = "page cache", .reads = Reads::kInPlaceChecked, .persistent = true};
};

}  // namespace nvcache::test
