// Policies of your own, without a change to nvcache: an admission policy and an eviction policy,
// added by name. The tests of the promises that each policy makes: own_policies_test.cc.
//
// This file is also built as a shared library, own_policies.so, for
//   nvcache replay TRACE --policies ./own_policies.so --spec 'always+coldest(5)'
#include <nvcache/policies.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace own {

// One number, between `least` and `most`, or `fallback` if none is given.
nvcache::StatusOr<uint64_t> number(nvcache::PolicyArguments arguments, uint64_t least,
                                   uint64_t most, uint64_t fallback) {
  if (arguments.empty()) return fallback;
  uint64_t value = 0;
  const char* const end = arguments[0].data() + arguments[0].size();
  const auto [stopped, problem] = std::from_chars(arguments[0].data(), end, value);
  if (arguments.size() > 1 || problem != std::errc() || stopped != end || value < least ||
      value > most) {
    return nvcache::invalid_argument_error("allowed: a number from " + std::to_string(least) +
                                           " to " + std::to_string(most));
  }
  return value;
}

// up_to(BYTES): blocks that are not larger. Stateless, so thread-safe.
class UpTo final : public nvcache::AdmissionPolicy {
 public:
  explicit UpTo(uint64_t most_bytes) : most_bytes_(most_bytes) {}

  nvcache::Verdict admit(const nvcache::Candidate& block, const nvcache::Traffic&) override {
    return block.size_bytes <= most_bytes_
               ? nvcache::Verdict::admit()
               : nvcache::Verdict::refuse(nvcache::Reason::kOutsidePolicy);
  }
  std::string describe() const override { return "up_to(" + std::to_string(most_bytes_) + ")"; }

 private:
  const uint64_t most_bytes_;
};

// coldest(N): of N blocks drawn at random, the one that was hit least. A byte a slot counts hits;
// each draw halves the count of what it drew, so that use fades.
class Coldest final : public nvcache::EvictionPolicy {
 public:
  Coldest(uint64_t draws, uint32_t max_slots)
      : draws_(draws), chunks_(max_slots / kChunkSlots + 1) {}

  void on_insert(uint32_t slot, uint64_t) override {
    std::unique_ptr<Chunk>& chunk = chunks_[slot / kChunkSlots];
    if (chunk == nullptr) {
      chunk = std::make_unique<Chunk>();
      ++chunks_used_;
    }
    hits(slot).store(0, std::memory_order_relaxed);
  }

  // From any thread, without a lock: a hit that is lost in a race does no harm.
  void on_hit(uint32_t slot) override {
    const uint8_t count = hits(slot).load(std::memory_order_relaxed);
    if (count < 255) hits(slot).store(count + 1, std::memory_order_relaxed);
  }

  void on_remove(uint32_t, uint64_t, bool) override {}

  std::optional<uint32_t> next_victim(const nvcache::Residents& residents) override {
    const uint32_t limit = residents.slot_limit();
    if (limit == 0) return std::nullopt;
    std::optional<uint32_t> coldest;
    for (uint64_t draw = 0; draw < draws_; ++draw) {
      const std::optional<uint32_t> slot = evictable_from(random_() % limit, residents);
      if (!slot) return std::nullopt;
      if (!coldest || hits(*slot) < hits(*coldest)) coldest = slot;
      hits(*slot).store(hits(*slot) / 2, std::memory_order_relaxed);
    }
    return coldest;
  }

  uint64_t metadata_bytes() const override {
    return chunks_.size() * sizeof(chunks_[0]) + chunks_used_ * sizeof(Chunk);
  }

 private:
  // A shard may use many more slots than it does: its counts come in chunks, and stay in place.
  static constexpr uint32_t kChunkSlots = 4096;
  using Chunk = std::array<std::atomic<uint8_t>, kChunkSlots>;

  std::atomic<uint8_t>& hits(uint32_t slot) {
    return (*chunks_[slot / kChunkSlots])[slot % kChunkSlots];
  }

  // The first block that may leave, in `first` or behind it, round to it again.
  static std::optional<uint32_t> evictable_from(uint64_t first,
                                                const nvcache::Residents& residents) {
    const uint32_t limit = residents.slot_limit();
    for (uint32_t step = 0; step < limit; ++step) {
      const auto slot = static_cast<uint32_t>((first + step) % limit);
      if (residents.evictable(slot)) return slot;
    }
    return std::nullopt;
  }

  const uint64_t draws_;
  std::minstd_rand random_;  // the same victims in each run
  std::vector<std::unique_ptr<Chunk>> chunks_;
  uint64_t chunks_used_ = 0;
};

nvcache::Status add_policies(nvcache::PolicyRegistry& registry) {
  nvcache::Status status = registry.add(nvcache::AdmissionKind{
      .name = "up_to",
      .usage = "up_to, up_to(BYTES)",
      .make = [](nvcache::PolicyArguments arguments, const nvcache::AdmissionContext&)
          -> nvcache::StatusOr<std::unique_ptr<nvcache::AdmissionPolicy>> {
        const nvcache::StatusOr<uint64_t> most_bytes = number(arguments, 1, 1 << 20, 64 << 10);
        if (!most_bytes.ok()) return most_bytes.status();
        return std::make_unique<UpTo>(*most_bytes);
      }});
  if (!status.ok()) return status;
  return registry.add(nvcache::EvictionKind{
      .name = "coldest",
      .usage = "coldest, coldest(DRAWS)",
      .make = [](nvcache::PolicyArguments arguments, uint32_t max_slots)
          -> nvcache::StatusOr<std::unique_ptr<nvcache::EvictionPolicy>> {
        const nvcache::StatusOr<uint64_t> draws = number(arguments, 1, 100, 5);
        if (!draws.ok()) return draws.status();
        return std::make_unique<Coldest>(*draws, max_slots);
      }});
}

}  // namespace own

NVCACHE_POLICY_LIBRARY(registry) {
  (void)own::add_policies(registry);  // the registry keeps the statuses
}
