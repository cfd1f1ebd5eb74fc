#include "experiments/workload/ycsb.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/text.h"
#include "experiments/workload/record.h"
#include "fmt/format.h"

namespace nvcache {
namespace {

YcsbWorkload mix(char letter, OpType first, double first_share, OpType second,
                 Distribution distribution) {
  YcsbWorkload workload;
  workload.name = letter;
  workload.shares[static_cast<size_t>(first)] += first_share;
  workload.shares[static_cast<size_t>(second)] += 1.0 - first_share;
  workload.distribution = distribution;
  return workload;
}

}  // namespace

std::string_view op_type_name(OpType type) {
  switch (type) {
    case OpType::kRead:
      return "read";
    case OpType::kUpdate:
      return "update";
    case OpType::kInsert:
      return "insert";
    case OpType::kScan:
      return "scan";
    case OpType::kReadModifyWrite:
      return "read_modify_write";
  }
  return "unknown";
}

std::string YcsbWorkload::describe_mix() const {
  std::string text;
  for (size_t i = 0; i < kOpTypeCount; ++i) {
    if (shares[i] <= 0) continue;
    std::string type(op_type_name(static_cast<OpType>(i)));
    std::replace(type.begin(), type.end(), '_', '-');
    text += fmt::format("{}{}% {}", text.empty() ? "" : ", ", std::lround(shares[i] * 100), type);
  }
  return text;
}

StatusOr<YcsbWorkload> ycsb_workload(std::string_view letter) {
  constexpr auto kZipfian = Distribution::kZipfian;
  const char name = letter.size() == 1 ? lower(letter[0]) : '?';
  switch (name) {
    case 'a':
      return mix('a', OpType::kRead, 0.5, OpType::kUpdate, kZipfian);
    case 'b':
      return mix('b', OpType::kRead, 0.95, OpType::kUpdate, kZipfian);
    case 'c':
      return mix('c', OpType::kRead, 1.0, OpType::kUpdate, kZipfian);
    case 'd':
      return mix('d', OpType::kRead, 0.95, OpType::kInsert, Distribution::kLatest);
    case 'e':
      return mix('e', OpType::kScan, 0.95, OpType::kInsert, kZipfian);
    case 'f':
      return mix('f', OpType::kRead, 0.5, OpType::kReadModifyWrite, kZipfian);
    default:
      return invalid_argument_error(
          fmt::format("workload '{}': allowed are a, b, c, d, e and f", letter));
  }
}

OperationStream::OperationStream(const YcsbWorkload& workload, KeySequence& sequence,
                                 std::unique_ptr<KeyChooser> chooser, uint64_t seed)
    : workload_(workload), sequence_(&sequence), chooser_(std::move(chooser)), prng_(seed) {}

OpType OperationStream::next_type() {
  double draw = prng_.unit();
  OpType last = OpType::kRead;
  for (size_t i = 0; i < kOpTypeCount; ++i) {
    if (workload_.shares[i] <= 0) continue;
    last = static_cast<OpType>(i);
    if (draw < workload_.shares[i]) return last;
    draw -= workload_.shares[i];
  }
  return last;
}

Operation OperationStream::next() {
  Operation op;
  op.type = next_type();
  op.record = op.type == OpType::kInsert ? sequence_->reserve() : chooser_->next(prng_);
  switch (op.type) {
    case OpType::kRead:
      break;
    case OpType::kScan:
      op.scan_rows = 1 + static_cast<uint32_t>(prng_.below(workload_.max_scan_rows));
      break;
    case OpType::kUpdate:
    case OpType::kReadModifyWrite:
      op.field = static_cast<uint32_t>(prng_.below(kRecordFields));
      op.version = prng_();
      break;
    case OpType::kInsert:
      op.version = prng_();
      break;
  }
  return op;
}

uint64_t thread_seed(uint64_t seed, uint64_t thread) { return mix64(seed ^ mix64(thread + 1)); }

}  // namespace nvcache
