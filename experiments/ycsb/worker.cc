#include "experiments/ycsb/worker.h"

#include "experiments/workload/record.h"
#include "fmt/format.h"

namespace nvcache {

Worker::Worker(RunShared& shared, const RunPlan& plan, const KeyChooser& chooser,
               const KeyChooser& warmup_chooser, uint32_t thread)
    : shared_(shared),
      warmup_(plan.warmup_workload, shared.sequence, warmup_chooser.clone(),
              thread_seed(plan.seed, 2 * uint64_t{thread})),
      measured_(plan.workload, shared.sequence, chooser.clone(),
                thread_seed(plan.seed, 2 * uint64_t{thread} + 1)),
      measures_(thread < plan.threads) {}

void Worker::run() {
  bool measuring = false;
  shared_.engine.thread_block_reads();
  for (;;) {
    const Phase phase = shared_.phase.load(std::memory_order_relaxed);
    if (phase == Phase::kStopped || (phase == Phase::kMeasured && !measures_)) break;
    if (phase == Phase::kMeasured && !measuring) {
      measuring = true;
      begin_measuring();
    }
    const Operation op = (measuring ? measured_ : warmup_).next();
    key_ = record_key(op.record);
    const uint64_t start_ns = shared_.clock.now_ns();
    status_ = issue(op);
    const uint64_t end_ns = shared_.clock.now_ns();
    if (!status_.ok()) {
      shared_.phase.store(Phase::kStopped, std::memory_order_relaxed);
      break;
    }
    latency_ns_[static_cast<size_t>(op.type)].record(end_ns - start_ns);
    // Only this thread writes it.
    ops_.store(ops() + 1, std::memory_order_relaxed);
  }
  block_reads_ = shared_.engine.thread_block_reads() - block_reads_before_;
}

void Worker::begin_measuring() {
  for (Histogram& histogram : latency_ns_) histogram.clear();
  rows_scanned_ = 0;
  values_verified_ = 0;
  block_reads_before_ = shared_.engine.thread_block_reads();
}

Status Worker::issue(const Operation& op) {
  switch (op.type) {
    case OpType::kRead:
      return read();
    case OpType::kUpdate:
      return update(op);
    case OpType::kInsert:
      return insert(op);
    case OpType::kScan:
      return scan(op);
    case OpType::kReadModifyWrite: {
      // As YCSB: a read of the record, then an update of a field.
      Status status = read();
      return status.ok() ? update(op) : status;
    }
  }
  return internal_error("unknown operation");
}

Status Worker::read() {
  Status status = shared_.engine.read(key_, &value_);
  if (!status.ok()) {
    return Status(status.code(),
                  fmt::format("reading {}: {}", key_, std::string(status.message())));
  }
  ++values_verified_;
  return verify_record(key_, value_);
}

Status Worker::update(const Operation& op) {
  // Updates one field. The engine keeps a record as one value, so it is read, changed and
  // written, as in YCSB's binding for RocksDB.
  if (Status status = read(); !status.ok()) return status;
  char* field = value_.data() + size_t{op.field} * kFieldBytes;
  fill_field(key_, op.field, op.version, std::span<char, kFieldBytes>(field, kFieldBytes));
  return shared_.engine.update(key_, value_);
}

Status Worker::insert(const Operation& op) {
  value_.resize(kRecordBytes);
  fill_record(key_, op.version, std::span<char, kRecordBytes>(value_.data(), kRecordBytes));
  Status status = shared_.engine.insert(key_, value_);
  if (status.ok()) shared_.sequence.acknowledge(op.record);
  return status;
}

Status Worker::scan(const Operation& op) {
  return shared_.engine.scan(key_, op.scan_rows,
                             [this](std::string_view key, std::string_view value) {
                               ++rows_scanned_;
                               ++values_verified_;
                               return verify_record(key, value);
                             });
}

void Worker::add_to(RunResult& result) const {
  if (!measures_) return;
  for (size_t i = 0; i < kOpTypeCount; ++i) {
    result.latency_ns[i].merge(latency_ns_[i]);
    result.ops += latency_ns_[i].count();
  }
  result.rows_scanned += rows_scanned_;
  result.values_verified += values_verified_;
  result.block_reads += block_reads_;
}

}  // namespace nvcache
