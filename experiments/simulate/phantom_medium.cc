#include "experiments/simulate/phantom_medium.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>

#include "base/text.h"
#include "medium/check.h"

namespace nvcache::simulate {

absl::StatusOr<std::unique_ptr<PhantomMedium>> PhantomMedium::open(uint64_t size_bytes,
                                                                   const Profile& profile,
                                                                   Clock& clock) {
  void* base =
      mmap(nullptr, size_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) {
    return absl::ResourceExhaustedError(
        fmt::format("no address space for a phantom of {} bytes: {}; allowed: a larger --scale, or "
                    "more of it (ulimit -v)",
                    size_bytes, std::strerror(errno)));
  }
  return std::unique_ptr<PhantomMedium>(
      new PhantomMedium(static_cast<const std::byte*>(base), size_bytes, profile, clock));
}

PhantomMedium::PhantomMedium(const std::byte* base, uint64_t size_bytes, const Profile& profile,
                             Clock& clock)
    : base_(base),
      size_bytes_(size_bytes),
      traits_{.name = fmt::format("phantom:{}", profile.name),
              .reads = Reads::kInPlaceAsked,
              .emulated = true},
      clock_(clock),
      model_(profile) {}

PhantomMedium::~PhantomMedium() { munmap(const_cast<std::byte*>(base_), size_bytes_); }

absl::Status PhantomMedium::read(uint64_t, MutableBytes) {
  return absl::UnimplementedError("a phantom holds no data: it is for simulations");
}

absl::Status PhantomMedium::write(uint64_t offset, ByteView from) {
  absl::Status status = check_range(traits_.name, offset, from.size(), size_bytes_);
  if (status.ok()) write_aside(from.size());
  return status;
}

void PhantomMedium::write_aside(uint64_t size_bytes) {
  written_bytes_ += size_bytes;
  clock_.wait_until_ns(model_.start_write(clock_.now_ns(), size_bytes));
}

absl::Status PhantomMedium::on_direct_read(Extent extent) {
  absl::Status status = check_range(traits_.name, extent.offset, extent.size_bytes, size_bytes_);
  if (!status.ok()) return status;
  read_bytes_ += extent.size_bytes;
  clock_.wait_until_ns(model_.start_read(clock_.now_ns(), extent.size_bytes));
  return status;
}

absl::Status PhantomMedium::resize(uint64_t) {
  return absl::OutOfRangeError("a phantom keeps its size");
}

}  // namespace nvcache::simulate
