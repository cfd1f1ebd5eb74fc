// The YCSB core workloads A to F (Cooper et al., "Benchmarking Cloud Serving
// Systems with YCSB", SoCC '10, and the workload files of YCSB 0.17):
//   A 50% read, 50% update, zipfian      D 95% read, 5% insert, latest
//   B 95% read,  5% update, zipfian      E 95% scan (1..100 rows, uniform), 5% insert, zipfian
//   C 100% read, zipfian                 F 50% read, 50% read-modify-write, zipfian
// An update writes one of the record's ten fields (writeallfields=false).
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/prng.h"
#include "experiments/workload/key_chooser.h"
#include "nvcache/status_or.h"

namespace nvcache {

enum class OpType : uint8_t { kRead, kUpdate, kInsert, kScan, kReadModifyWrite };
inline constexpr size_t kOpTypeCount = 5;

// "read", "update", "insert", "scan", "read_modify_write".
std::string_view op_type_name(OpType type);

struct YcsbWorkload {
  char name = 'c';
  std::array<double, kOpTypeCount> shares{};  // by OpType; sums to 1
  Distribution distribution = Distribution::kZipfian;
  uint32_t max_scan_rows = 100;

  double share(OpType type) const { return shares[static_cast<size_t>(type)]; }
  bool writes() const { return share(OpType::kRead) + share(OpType::kScan) < 1.0; }
  // "50% read, 50% update".
  std::string describe_mix() const;
};

// The core workload of that letter, a to f in either case. INVALID_ARGUMENT else.
[[nodiscard]] StatusOr<YcsbWorkload> ycsb_workload(std::string_view letter);

struct Operation {
  OpType type = OpType::kRead;
  uint64_t record = 0;     // for an insert: a number reserved from the sequence
  uint32_t field = 0;      // of updates and read-modify-writes
  uint32_t scan_rows = 0;  // of scans
  uint64_t version = 0;    // seeds the bytes that are written
};

// One thread's endless stream of operations, determined by its seed (and, where
// records are inserted, by what the other threads insert in that time).
// Caller-locked.
class OperationStream {
 public:
  // `sequence` must outlive the stream; acknowledge inserts to it.
  OperationStream(const YcsbWorkload& workload, KeySequence& sequence,
                  std::unique_ptr<KeyChooser> chooser, uint64_t seed);

  Operation next();

 private:
  OpType next_type();

  YcsbWorkload workload_;
  KeySequence* sequence_;
  std::unique_ptr<KeyChooser> chooser_;
  Prng prng_;
};

// The seed of thread `thread` of a run that was given `seed`.
uint64_t thread_seed(uint64_t seed, uint64_t thread);

}  // namespace nvcache
