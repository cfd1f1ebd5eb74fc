#include "medium/emulated.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/striped_counters.h"
#include "base/text.h"
#include "base/units.h"
#include "medium/check.h"
#include "medium/emulated_queue.h"
#include "medium/table.h"

namespace nvcache {
namespace {

constexpr double kMaxLoad = 1000;

Traits emulated_traits(const Profile& profile, const Traits& inner, double load) {
  Traits traits = inner;
  const std::string loaded = load > 1 ? fmt::format(",load={:g}", load) : "";
  traits.name = fmt::format("emulated:{}{}", profile.name, loaded);
  traits.emulated = true;
  const bool in_place = inner.reads != Reads::kByCopy && profile.byte_addressable;
  traits.reads = in_place ? Reads::kInPlaceAsked : Reads::kByCopy;
  traits.is_device = inner.is_device || !profile.byte_addressable;
  if (!inner.is_device && !in_place) traits.async = AsyncReads::kModel;
  if (!profile.byte_addressable) {
    traits.io_granularity_bytes = std::max(inner.io_granularity_bytes, profile.transfer_bytes);
  }
  return traits;
}

}  // namespace

EmulatedMedium::EmulatedMedium(const Profile& profile, std::unique_ptr<Medium> inner, Clock& clock,
                               double load)
    : inner_(std::move(inner)),
      clock_(clock),
      traits_(emulated_traits(profile, inner_->traits(), load)),
      fence_ns_(profile.fence_ns),
      model_(profile, load) {}

Status EmulatedMedium::read(uint64_t offset, MutableBytes into) {
  if (Status status = check(offset, into.data(), into.size()); !status.ok()) return status;
  const uint64_t done_ns = charge_read(into.size());
  Status status = inner_->read(offset, into);
  clock_.wait_until_ns(done_ns);
  return status;
}

TakenReadQueue EmulatedMedium::take_read_queue() noexcept {
  if (traits_.async == AsyncReads::kOff) return nullptr;
  return take_or_make(kept_queues_, [this] {
    return std::make_unique<EmulatedQueue>(*this, inner_->take_read_queue());
  });
}

Status EmulatedMedium::write(uint64_t offset, ByteView from) {
  if (Status status = check(offset, from.data(), from.size()); !status.ok()) return status;
  const uint64_t done_ns = charge_write(from.size());
  Status status = inner_->write(offset, from);
  clock_.wait_until_ns(done_ns);
  return status;
}

Status EmulatedMedium::flush(Extent extent) {
  if (Status status = check_range(traits_.name, extent.offset, extent.size_bytes, size_bytes());
      !status.ok()) {
    return status;
  }
  const uint64_t now_ns = clock_.now_ns();
  CostModel::Flush cost;
  {
    MutexLock lock(mutex_);
    cost = model_.start_flush(now_ns, extent.offset, extent.size_bytes);
  }
  NVCACHE_ASSERT_SLOW(cost.issued_ns >= now_ns && cost.accepted_ns >= cost.issued_ns);
  std::atomic<uint64_t>& accepted_ns = accepted_ns_[thread_stripe() % kFlushers];
  if (accepted_ns.load(std::memory_order_relaxed) < cost.accepted_ns) {
    accepted_ns.store(cost.accepted_ns, std::memory_order_relaxed);
  }
  Status status = inner_->flush(extent);
  clock_.wait_until_ns(cost.issued_ns);
  return status;
}

Status EmulatedMedium::drain() {
  const uint64_t accepted_ns =
      accepted_ns_[thread_stripe() % kFlushers].load(std::memory_order_relaxed);
  const uint64_t done_ns = std::max(clock_.now_ns(), accepted_ns) + fence_ns_;
  Status status = inner_->drain();
  clock_.wait_until_ns(done_ns);
  return status;
}

void EmulatedMedium::on_direct_write(Extent extent) {
  const uint64_t now_ns = clock_.now_ns();
  uint64_t done_ns = 0;
  {
    MutexLock lock(mutex_);
    done_ns = model_.start_store(now_ns, extent.offset, extent.size_bytes);
  }
  inner_->on_direct_write(extent);
  clock_.wait_until_ns(done_ns);
}

ByteView EmulatedMedium::direct() const {
  return traits_.reads != Reads::kByCopy ? inner_->direct() : ByteView{};
}

Status EmulatedMedium::on_direct_read(Extent extent) {
  const uint64_t done_ns = charge_read(extent.size_bytes);
  Status status = inner_->on_direct_read(extent);
  clock_.wait_until_ns(done_ns);
  return status;
}

Status EmulatedMedium::discard(Extent extent) {
  if (Status status = check_range(traits_.name, extent.offset, extent.size_bytes, size_bytes());
      !status.ok()) {
    return status;
  }
  return inner_->discard(extent);
}

Status EmulatedMedium::resize(uint64_t size_bytes) { return inner_->resize(size_bytes); }

uint64_t EmulatedMedium::charge_read(uint64_t size_bytes) {
  const uint64_t now_ns = clock_.now_ns();
  MutexLock lock(mutex_);
  return model_.start_read(now_ns, size_bytes);
}

uint64_t EmulatedMedium::charge_write(uint64_t size_bytes) {
  const uint64_t now_ns = clock_.now_ns();
  MutexLock lock(mutex_);
  return model_.start_write(now_ns, size_bytes);
}

// Refused accesses are not charged.
Status EmulatedMedium::check(uint64_t offset, const void* buffer, uint64_t length) const {
  if (Status status = check_range(traits_.name, offset, length, size_bytes()); !status.ok()) {
    return status;
  }
  return check_granularity(traits_.name, offset, buffer, length, traits_.io_granularity_bytes);
}

StatusOr<MediumOpener> parse_emulated(const MediumSpec& given) {
  const std::string_view spec = given.whole;
  std::string_view rest = given.place;
  const auto [name, option] = split_once(rest, ',');
  const Profile* profile = find_profile(name);
  if (profile == nullptr) {
    return bad_medium(fmt::format("profile '{}' is unknown", name), spec, profile_names());
  }
  rest.remove_prefix(name.size());
  double load = 1;
  if (rest.starts_with(",load=")) {
    const std::string_view text = split_once(option, ',').first.substr(5);
    const StatusOr<double> number = parse_number("load", text, 1, kMaxLoad);
    if (!number.ok()) return invalid_argument("medium '{}': {}", spec, number.status().message());
    load = *number;
    rest.remove_prefix(6 + text.size());
  }
  // Everything behind on= belongs to the inner medium, its commas too.
  std::string_view inner_spec = "dram";
  if (!rest.empty()) {
    if (!rest.starts_with(",on=")) {
      rest.remove_prefix(1);
      return bad_medium(fmt::format("option '{}' is unknown", rest), spec,
                        "load=N, then " + allowed_inner_media());
    }
    inner_spec = rest.substr(4);
  }
  if (inner_spec.starts_with("emulated") || inner_spec.starts_with("modelled")) {
    return bad_medium("an emulated medium cannot lie on another one", spec, allowed_inner_media());
  }
  StatusOr<MediumOpener> inner = parse_medium(inner_spec);
  if (!inner.ok()) return inner.status();
  return [profile, load, open_inner = *std::move(inner)](
             const MediumOptions& options, Clock& clock) -> StatusOr<std::unique_ptr<Medium>> {
    StatusOr<std::unique_ptr<Medium>> medium = open_inner(options, clock);
    if (!medium.ok()) return medium.status();
    return std::make_unique<EmulatedMedium>(*profile, *std::move(medium), clock, load);
  };
}

}  // namespace nvcache
