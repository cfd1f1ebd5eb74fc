#include "support/crashing_medium.h"

#include <algorithm>
#include <cstring>

#include "medium/check.h"

namespace nvcache {
namespace {

constexpr uint64_t kWordBytes = 8;

uint64_t whole_lines(uint64_t size_bytes) {
  return (size_bytes + CrashingMedium::kLineBytes - 1) / CrashingMedium::kLineBytes *
         CrashingMedium::kLineBytes;
}

}  // namespace

CrashingMedium::CrashingMedium(uint64_t size_bytes)
    : current_bytes_(whole_lines(size_bytes)),
      current_(current_bytes_ / kWordBytes + kLineBytes / kWordBytes),
      base_(
          reinterpret_cast<std::byte*>(whole_lines(reinterpret_cast<uintptr_t>(current_.data())))),
      traits_{.name = "crashing",
              .reads = Reads::kInPlaceChecked,
              .persistent = true,
              .flush_granularity_bytes = kLineBytes},
      shadow_(current_bytes_) {}

CrashingMedium::CrashingMedium(const std::vector<std::byte>& image) : CrashingMedium(image.size()) {
  std::copy(image.begin(), image.end(), base_);
  MutexLock lock(mutex_);
  std::copy(image.begin(), image.end(), shadow_.begin());
}

Status CrashingMedium::read(uint64_t offset, MutableBytes into) {
  if (Status status = check_range("crashing", offset, into.size(), current_bytes_); !status.ok()) {
    return status;
  }
  if (!into.empty()) std::memcpy(into.data(), base_ + offset, into.size());
  return ok_status();
}

Status CrashingMedium::write(uint64_t offset, ByteView from) {
  if (Status status = check_range("crashing", offset, from.size(), current_bytes_); !status.ok()) {
    return status;
  }
  if (!from.empty()) std::memcpy(base_ + offset, from.data(), from.size());
  return ok_status();
}

// Like the hardware, it reads a line while other threads may store beside the flushed bytes.
// This race is intended, and hidden from ThreadSanitizer.
__attribute__((no_sanitize("thread"))) void CrashingMedium::load_line(uint64_t offset,
                                                                      std::byte* to) const {
  const volatile uint64_t* from = reinterpret_cast<const uint64_t*>(base_ + offset);
  uint64_t words[kLineBytes / kWordBytes];
  for (uint64_t i = 0; i < kLineBytes / kWordBytes; ++i) words[i] = from[i];
  __builtin_memcpy(to, words, kLineBytes);
}

Status CrashingMedium::flush(Extent extent) {
  if (Status status = check_range("crashing", extent.offset, extent.size_bytes, current_bytes_);
      !status.ok()) {
    return status;
  }
  MutexLock lock(mutex_);
  pass_boundary();
  const uint64_t end = whole_lines(extent.offset + extent.size_bytes);
  for (uint64_t at = extent.offset / kLineBytes * kLineBytes; at < end; at += kLineBytes) {
    PendingLine line{.offset = at, .bytes = {}};
    load_line(at, line.bytes);
    flushed_lines_.fetch_add(1, std::memory_order_relaxed);
    if (std::memcmp(line.bytes, shadow_.data() + at, kLineBytes) != 0) pending_.push_back(line);
  }
  return ok_status();
}

Status CrashingMedium::drain() {
  MutexLock lock(mutex_);
  pass_boundary();
  drains_.fetch_add(1, std::memory_order_relaxed);
  for (const PendingLine& line : pending_) {
    std::memcpy(shadow_.data() + line.offset, line.bytes, kLineBytes);
  }
  pending_.clear();
  return ok_status();
}

Status CrashingMedium::resize(uint64_t size_bytes) {
  return check_resize("crashing", size_bytes, size_bytes == current_bytes_ ? size_bytes : 0);
}

void CrashingMedium::pass_boundary() {
  const uint64_t boundary = boundaries_.fetch_add(1, std::memory_order_relaxed);
  if (!armed_ || boundary != crash_boundary_) return;
  armed_ = false;
  image_ = make_image(crash_seed_);
  crashed_.store(true, std::memory_order_release);
}

std::vector<std::byte> CrashingMedium::make_image(uint64_t seed) {
  Prng random(seed);
  std::vector<std::byte> image = shadow_;
  // A flush that was not drained may have reached the medium, or not.
  for (const PendingLine& line : pending_) {
    if (random.below(2) == 0) std::memcpy(image.data() + line.offset, line.bytes, kLineBytes);
  }
  const uint64_t mood =
      random.below(4);  // some crashes keep nearly everything, some nearly nothing
  for (uint64_t offset = 0; offset < current_bytes_; offset += kLineBytes) {
    std::byte line[kLineBytes];
    load_line(offset, line);
    if (std::memcmp(line, shadow_.data() + offset, kLineBytes) == 0) continue;
    const uint64_t choice = random.below(8);
    const bool whole = choice < (mood == 0 ? 6 : mood == 1 ? 1 : 3);
    const bool nothing = !whole && choice < (mood == 1 ? 7 : mood == 0 ? 7 : 6);
    for (uint64_t at = 0; at < kLineBytes && !nothing; at += kWordBytes) {
      if (whole || random.below(2) == 0) {
        std::memcpy(image.data() + offset + at, line + at, kWordBytes);
      }
    }
  }
  return image;
}

std::vector<std::byte> CrashingMedium::crash(uint64_t seed) {
  MutexLock lock(mutex_);
  return make_image(seed);
}

void CrashingMedium::crash_at(uint64_t boundary, uint64_t seed) {
  MutexLock lock(mutex_);
  armed_ = true;
  crash_boundary_ = boundary;
  crash_seed_ = seed;
  crashed_.store(false, std::memory_order_release);
}

void CrashingMedium::evict_lines(uint64_t seed, uint64_t one_in) {
  Prng random(seed);
  MutexLock lock(mutex_);
  for (uint64_t offset = 0; offset < current_bytes_; offset += kLineBytes) {
    std::byte line[kLineBytes];
    load_line(offset, line);
    if (std::memcmp(line, shadow_.data() + offset, kLineBytes) == 0) continue;
    if (random.below(one_in) == 0) std::memcpy(shadow_.data() + offset, line, kLineBytes);
  }
}

uint64_t CrashingMedium::dirty_lines() {
  MutexLock lock(mutex_);
  uint64_t dirty = 0;
  for (uint64_t offset = 0; offset < current_bytes_; offset += kLineBytes) {
    std::byte line[kLineBytes];
    load_line(offset, line);
    dirty += std::memcmp(line, shadow_.data() + offset, kLineBytes) != 0;
  }
  return dirty;
}

}  // namespace nvcache
