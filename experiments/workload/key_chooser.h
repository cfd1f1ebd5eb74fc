// Which record an operation touches: YCSB's request distributions.
//
// Each thread owns a chooser; all choosers of a run share one KeySequence, which
// hands out the numbers of new records and says which records exist.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <set>
#include <string_view>

#include "base/mutex.h"
#include "base/prng.h"
#include "nvcache/status_or.h"

namespace nvcache {

// 64-bit FNV-1a over the eight bytes of `value`, low byte first, and made
// non-negative as Java's Math.abs does: YCSB's Utils.hash.
uint64_t ycsb_hash(uint64_t value);

// Numbers of records: [0, count()) exist. Thread-safe. (YCSB's
// AcknowledgedCounterGenerator.)
class KeySequence {
 public:
  explicit KeySequence(uint64_t records) : next_(records), count_(records) {}

  // The number of a record that the caller is about to insert.
  uint64_t reserve() { return next_.fetch_add(1, std::memory_order_relaxed); }
  // The record is inserted; it counts once all records before it are, too.
  void acknowledge(uint64_t number);
  uint64_t count() const { return count_.load(std::memory_order_acquire); }

 private:
  std::atomic<uint64_t> next_;
  std::atomic<uint64_t> count_;
  Mutex mutex_;
  std::set<uint64_t> early_ NVCACHE_GUARDED_BY(mutex_);  // inserted before a lower number was
};

enum class Distribution : uint8_t { kUniform, kZipfian, kLatest };

// "uniform", "zipfian" or "latest"; INVALID_ARGUMENT says what was given.
[[nodiscard]] StatusOr<Distribution> parse_distribution(std::string_view name);
std::string_view distribution_name(Distribution distribution);

// Caller-locked.
class KeyChooser {
 public:
  virtual ~KeyChooser() = default;
  // The number of an existing record.
  virtual uint64_t next(Prng& prng) = 0;
  // The same chooser for another thread.
  virtual std::unique_ptr<KeyChooser> clone() const = 0;
};

// `sequence` must outlive the chooser. `expected_inserts` is how many records
// zipfian leaves room for: it spreads over records + expected_inserts and draws
// again where a record does not exist yet, so that growth does not move the hot
// keys (YCSB: 2 x operation count x share of inserts).
std::unique_ptr<KeyChooser> make_key_chooser(Distribution distribution, const KeySequence& sequence,
                                             uint64_t expected_inserts);

}  // namespace nvcache
