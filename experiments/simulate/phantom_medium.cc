#include "experiments/simulate/phantom_medium.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>

#include "base/assert.h"
#include "base/text.h"
#include "medium/check.h"

namespace nvcache::simulate {

StatusOr<std::unique_ptr<PhantomMedium>> PhantomMedium::open(uint64_t size_bytes,
                                                             const Profile& profile, Clock& clock,
                                                             uint64_t block_bytes) {
  void* base =
      mmap(nullptr, size_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) {
    return resource_exhausted_error(
        fmt::format("no address space for a phantom of {} bytes: {}; allowed: a larger --scale, or "
                    "more of it (ulimit -v)",
                    size_bytes, std::strerror(errno)));
  }
  return std::unique_ptr<PhantomMedium>(new PhantomMedium(static_cast<const std::byte*>(base),
                                                          size_bytes, profile, clock, block_bytes));
}

PhantomMedium::PhantomMedium(const std::byte* base, uint64_t size_bytes, const Profile& profile,
                             Clock& clock, uint64_t block_bytes)
    : base_(base),
      size_bytes_(size_bytes),
      traits_{.name = fmt::format("phantom:{}", profile.name),
              .reads = Reads::kInPlaceAsked,
              .emulated = true},
      clock_(clock),
      model_(profile),
      block_bytes_(block_bytes),
      labels_(block_bytes == 0 ? 0 : size_bytes / block_bytes + 1) {}

PhantomMedium::~PhantomMedium() { munmap(const_cast<std::byte*>(base_), size_bytes_); }

Status PhantomMedium::read(uint64_t, MutableBytes) {
  return unimplemented_error("a phantom holds no data: it is for simulations");
}

Status PhantomMedium::write(uint64_t offset, ByteView from) {
  Status status = check_range(traits_.name, offset, from.size(), size_bytes_);
  if (!status.ok()) return status;
  if (block_bytes_ > 0) {
    NVCACHE_ASSERT(from.size() >= block_bytes_);
    std::memcpy(&labels_[offset / block_bytes_], from.data(), sizeof(uint64_t));
  }
  if (owes_writes_) {
    owed_bytes_ += from.size();
  } else {
    write_aside(from.size());
  }
  return status;
}

void PhantomMedium::write_aside(uint64_t size_bytes) {
  written_bytes_ += size_bytes;
  clock_.wait_until_ns(model_.start_write(clock_.now_ns(), size_bytes));
}

uint64_t PhantomMedium::label_of(ByteView block) const {
  const auto offset = static_cast<uint64_t>(block.data() - base_);
  NVCACHE_ASSERT(block_bytes_ > 0 && offset < size_bytes_);
  return labels_[offset / block_bytes_];
}

Status PhantomMedium::on_direct_read(Extent extent) {
  Status status = check_range(traits_.name, extent.offset, extent.size_bytes, size_bytes_);
  if (!status.ok()) return status;
  for (const uint64_t bytes : part_bytes_) read_aside(bytes);
  if (part_bytes_.empty()) read_aside(extent.size_bytes);
  return status;
}

void PhantomMedium::read_aside(uint64_t size_bytes) {
  read_bytes_ += size_bytes;
  clock_.wait_until_ns(model_.start_read(clock_.now_ns(), size_bytes));
}

Status PhantomMedium::resize(uint64_t) { return out_of_range_error("a phantom keeps its size"); }

}  // namespace nvcache::simulate
