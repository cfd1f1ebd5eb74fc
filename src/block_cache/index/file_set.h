// Files that a pass over all blocks looks for. Bits by the file's hash, 16 to 32 for each file, say
// of nearly all others that they are not there. One multiplication hashes (Fibonacci hashing, Knuth
// 6.4): a pass asks for each block.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

namespace nvcache {

// Thread-safe once it is made.
class FileSet {
 public:
  // May throw std::bad_alloc.
  explicit FileSet(std::vector<uint64_t> files)
      : files_(std::move(files)),
        shift_(64 - std::bit_width(kBitsPerFile * files_.size() + kWordBits)),
        bits_((uint64_t{1} << (64 - shift_)) / kWordBits) {
    std::ranges::sort(files_);
    for (const uint64_t file : files_) {
      const uint64_t bit = bit_of(file);
      bits_[bit / kWordBits] |= uint64_t{1} << bit % kWordBits;
    }
  }
  bool has(uint64_t file) const {
    const uint64_t bit = bit_of(file);
    return (bits_[bit / kWordBits] >> bit % kWordBits & 1) != 0 &&
           std::ranges::binary_search(files_, file);
  }

 private:
  static constexpr uint64_t kBitsPerFile = 16;
  static constexpr uint64_t kWordBits = 64;

  uint64_t bit_of(uint64_t file) const { return file * 0x9e3779b97f4a7c15ull >> shift_; }

  std::vector<uint64_t> files_;
  const int shift_;
  std::vector<uint64_t> bits_;
};

}  // namespace nvcache
