#include "experiments/simulate/store_memory.h"

#include <algorithm>
#include <utility>

#include "base/text.h"

namespace nvcache::simulate {

StatusOr<std::unique_ptr<StoreMemory>> StoreMemory::open(uint64_t size_bytes,
                                                         const Profile& profile,
                                                         EventClock& clock) {
  MediumOptions options;
  options.size_bytes = size_bytes;
  StatusOr<std::unique_ptr<Medium>> inner = open_medium("dram", options, clock);
  if (!inner.ok()) return inner.status();
  return std::unique_ptr<StoreMemory>(new StoreMemory(profile, *std::move(inner), clock));
}

StoreMemory::StoreMemory(const Profile& profile, std::unique_ptr<Medium> inner, EventClock& clock)
    : inner_(std::move(inner)),
      traits_{.name = fmt::format("simulated:{}", profile.name),
              .reads = Reads::kInPlaceAsked,
              .emulated = true},
      clock_(clock),
      fence_ns_(profile.fence_ns),
      model_(profile) {}

void StoreMemory::begin_event(uint64_t now_ns) {
  clock_.begin_event(now_ns);
  accepted_ns_ = 0;
}

Status StoreMemory::read(uint64_t offset, MutableBytes into) {
  clock_.wait_until_ns(model_.start_read(clock_.now_ns(), into.size()));
  return inner_->read(offset, into);
}

Status StoreMemory::write(uint64_t offset, ByteView from) {
  written_bytes_ += from.size();
  clock_.wait_until_ns(model_.start_write(clock_.now_ns(), from.size()));
  return inner_->write(offset, from);
}

Status StoreMemory::flush(Extent extent) {
  written_bytes_ += extent.size_bytes;
  const CostModel::Flush cost =
      model_.start_flush(clock_.now_ns(), extent.offset, extent.size_bytes);
  accepted_ns_ = std::max(accepted_ns_, cost.accepted_ns);
  clock_.wait_until_ns(cost.issued_ns);
  return ok_status();
}

Status StoreMemory::drain() {
  clock_.wait_until_ns(std::max(clock_.now_ns(), accepted_ns_) + fence_ns_);
  return ok_status();
}

Status StoreMemory::on_direct_read(Extent extent) {
  read_bytes_ += extent.size_bytes;
  clock_.wait_until_ns(model_.start_read(clock_.now_ns(), extent.size_bytes));
  return ok_status();
}

void StoreMemory::on_direct_write(Extent extent) {
  written_bytes_ += extent.size_bytes;
  clock_.wait_until_ns(model_.start_store(clock_.now_ns(), extent.offset, extent.size_bytes));
}

Status StoreMemory::resize(uint64_t) {
  return out_of_range_error("the memory of a simulation keeps its size");
}

}  // namespace nvcache::simulate
