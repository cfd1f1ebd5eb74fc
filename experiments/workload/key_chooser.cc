#include "experiments/workload/key_chooser.h"

#include <algorithm>

#include "experiments/workload/zipfian.h"
#include "fmt/format.h"

namespace nvcache {
namespace {

// YCSB's ScrambledZipfianGenerator: it hashes ranks of a zipfian over this many items, whatever
// the record count is, onto the records. YCSB's zeta is that of so many items, too.
constexpr uint64_t kScrambledItems = 10'000'000'000;
constexpr double kScrambledZeta = 26.46902820178302;

class UniformChooser final : public KeyChooser {
 public:
  explicit UniformChooser(uint64_t records) : records_(records) {}
  uint64_t next(Prng& prng) override { return prng.below(records_); }
  std::unique_ptr<KeyChooser> clone() const override {
    return std::make_unique<UniformChooser>(*this);
  }

 private:
  uint64_t records_;  // YCSB spreads over the records loaded, not over later ones
};

class ScrambledZipfianChooser final : public KeyChooser {
 public:
  ScrambledZipfianChooser(const KeySequence& sequence, uint64_t spread)
      : sequence_(&sequence),
        spread_(spread),
        ranks_(kScrambledItems + 1, kYcsbTheta, kScrambledZeta) {}

  uint64_t next(Prng& prng) override {
    for (;;) {
      const uint64_t number = ycsb_hash(ranks_.next(prng)) % spread_;
      if (number < sequence_->count()) return number;
    }
  }
  std::unique_ptr<KeyChooser> clone() const override {
    return std::make_unique<ScrambledZipfianChooser>(*this);
  }

 private:
  const KeySequence* sequence_;
  uint64_t spread_;
  Zipfian ranks_;
};

// YCSB's SkewedLatestGenerator: the newest record is the most popular one.
class LatestChooser final : public KeyChooser {
 public:
  explicit LatestChooser(const KeySequence& sequence)
      : sequence_(&sequence), ages_(std::max<uint64_t>(2, sequence.count())) {}

  uint64_t next(Prng& prng) override {
    const uint64_t count = sequence_->count();
    ages_.grow_to(count);
    const uint64_t age = ages_.next(prng);
    return age < count ? count - 1 - age : 0;
  }
  std::unique_ptr<KeyChooser> clone() const override {
    return std::make_unique<LatestChooser>(*this);
  }

 private:
  const KeySequence* sequence_;
  Zipfian ages_;
};

}  // namespace

uint64_t ycsb_hash(uint64_t value) {
  uint64_t hash = 0xCBF29CE484222325ull;
  for (int i = 0; i < 8; ++i) {
    hash ^= value & 0xff;
    hash *= 1099511628211ull;
    value >>= 8;
  }
  return (hash >> 63) != 0 ? ~hash + 1 : hash;
}

void KeySequence::acknowledge(uint64_t number) {
  MutexLock lock(mutex_);
  early_.insert(number);
  uint64_t count = count_.load(std::memory_order_relaxed);
  while (!early_.empty() && *early_.begin() == count) {
    early_.erase(early_.begin());
    ++count;
  }
  count_.store(count, std::memory_order_release);
}

StatusOr<Distribution> parse_distribution(std::string_view name) {
  if (name == "uniform") return Distribution::kUniform;
  if (name == "zipfian") return Distribution::kZipfian;
  if (name == "latest") return Distribution::kLatest;
  return invalid_argument_error(
      fmt::format("distribution '{}': allowed are zipfian, latest and uniform", name));
}

std::string_view distribution_name(Distribution distribution) {
  switch (distribution) {
    case Distribution::kUniform:
      return "uniform";
    case Distribution::kZipfian:
      return "zipfian";
    case Distribution::kLatest:
      return "latest";
  }
  return "unknown";
}

std::unique_ptr<KeyChooser> make_key_chooser(Distribution distribution, const KeySequence& sequence,
                                             uint64_t expected_inserts) {
  switch (distribution) {
    case Distribution::kUniform:
      return std::make_unique<UniformChooser>(sequence.count());
    case Distribution::kLatest:
      return std::make_unique<LatestChooser>(sequence);
    case Distribution::kZipfian:
      break;
  }
  return std::make_unique<ScrambledZipfianChooser>(sequence, sequence.count() + expected_inserts);
}

}  // namespace nvcache
