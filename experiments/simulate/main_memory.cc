#include "experiments/simulate/main_memory.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "base/prng.h"
#include "medium/cost_model.h"

namespace nvcache::simulate {
namespace {

constexpr uint64_t kFrameBytes = 4 << 10;

constexpr uint32_t groups_of(const Places& sizes, Kind kind) {
  const uint64_t bytes = kind == Kind::kPage ? sizes.page_bytes : sizes.block_bytes;
  return static_cast<uint32_t>((bytes + sizes.group_bytes - 1) / sizes.group_bytes);
}

class Dram final : public MainMemory {
 public:
  uint64_t load(uint64_t now_ns, const Part& part) override {
    return part.groups != 0 ? now_ns : model_.start_read(now_ns, bytes_of(part));
  }
  uint64_t store(uint64_t now_ns, const Part& part) override {
    return part.groups != 0 ? now_ns : model_.start_write(now_ns, bytes_of(part));
  }
  void count(Result*) const override {}

 private:
  static uint64_t bytes_of(const Part& part) {
    return (groups_of({}, part.kind) - part.first_group) * kGroupBytes;
  }

  CostModel model_{*find_profile("dram")};
};

class MemoryMode final : public MainMemory {
 public:
  MemoryMode(uint64_t dram_bytes, uint64_t nvram_bytes, const Profile& nvram, const Places& places,
             uint64_t seed)
      : group_bytes_(places.group_bytes),
        frame_groups_(kFrameBytes / group_bytes_),
        groups_of_page_(groups_of(places, Kind::kPage)),
        groups_of_block_(groups_of(places, Kind::kBlock)),
        groups_of_pages_(uint64_t{places.pages} * groups_of_page_),
        lines_(dram_bytes / group_bytes_, kEmpty),
        frames_(nvram_bytes / kFrameBytes),
        nvram_(nvram) {
    const uint64_t groups = groups_of_pages_ + uint64_t{places.blocks} * groups_of_block_;
    NVCACHE_ASSERT(groups <= frames_.size() * frame_groups_);
    std::iota(frames_.begin(), frames_.end(), 0);
    Prng prng(seed);
    for (size_t i = frames_.size(); i > 1; --i) std::swap(frames_[i - 1], frames_[prng.below(i)]);
  }

  uint64_t load(uint64_t now_ns, const Part& part) override { return access(now_ns, part, 0); }
  uint64_t store(uint64_t now_ns, const Part& part) override {
    return access(now_ns, part, kStored);
  }

  void count(Result* result) const override {
    result->line_lookups = lookups_;
    result->line_hits = hits_;
    result->nvram_read_bytes = read_bytes_;
    result->nvram_written_bytes = written_bytes_;
  }

 private:
  static constexpr uint8_t kStored = 0x80;  // beside the tag
  static constexpr uint8_t kEmpty = 0x7f;

  uint64_t access(uint64_t now_ns, const Part& part, uint8_t stored) {
    const uint32_t whole = part.kind == Kind::kPage ? groups_of_page_ : groups_of_block_;
    const uint32_t groups = part.groups == 0 ? whole - part.first_group : part.groups;
    NVCACHE_ASSERT(part.first_group + groups <= whole);
    const uint64_t before = part.kind == Kind::kPage ? 0 : groups_of_pages_;
    const uint64_t first = before + uint64_t{part.place} * whole + part.first_group;
    uint64_t missed = 0;
    uint64_t displaced = 0;
    for (uint64_t group = first; group < first + groups; ++group) {
      const uint64_t at =
          uint64_t{frames_[group / frame_groups_]} * frame_groups_ + group % frame_groups_;
      uint8_t& line = lines_[at % lines_.size()];
      const auto tag = static_cast<uint8_t>(at / lines_.size());
      if ((line & ~kStored) == tag) {
        line |= stored;
        continue;
      }
      ++missed;
      if ((line & kStored) != 0) ++displaced;
      line = tag | stored;
    }
    lookups_ += groups;
    hits_ += groups - missed;
    return missed == 0 ? now_ns : charge(now_ns, missed * group_bytes_, displaced * group_bytes_);
  }

  uint64_t charge(uint64_t now_ns, uint64_t missed_bytes, uint64_t displaced_bytes) {
    read_bytes_ += missed_bytes;
    written_bytes_ += displaced_bytes;
    uint64_t done_ns = nvram_.start_read(now_ns, missed_bytes);
    if (displaced_bytes > 0) {
      done_ns = std::max(done_ns, nvram_.start_write(now_ns, displaced_bytes));
    }
    return std::max(done_ns, dram_.start_write(now_ns, missed_bytes));
  }

  const uint64_t group_bytes_;
  const uint64_t frame_groups_;
  const uint32_t groups_of_page_;
  const uint32_t groups_of_block_;
  const uint64_t groups_of_pages_;  // all of them
  std::vector<uint8_t> lines_;      // of each set: the tag, and whether it was stored to
  std::vector<uint32_t> frames_;    // where each frame lies
  CostModel nvram_;
  CostModel dram_{*find_profile("dram")};
  uint64_t lookups_ = 0;
  uint64_t hits_ = 0;
  uint64_t read_bytes_ = 0;
  uint64_t written_bytes_ = 0;
};

}  // namespace

std::unique_ptr<MainMemory> make_dram() { return std::make_unique<Dram>(); }

std::unique_ptr<MainMemory> make_memory_mode(uint64_t dram_bytes, uint64_t nvram_bytes,
                                             const Profile& nvram, const Places& places,
                                             uint64_t seed) {
  return std::make_unique<MemoryMode>(dram_bytes, nvram_bytes, nvram, places, seed);
}

}  // namespace nvcache::simulate
