#include "support/failing_allocator.h"

#include <atomic>
#include <cstdlib>
#include <new>

namespace nvcache::test {
namespace {

constinit std::atomic<int64_t> left_for_all{0};  // allocations up to the one that fails; 0: off
constinit std::atomic<uint64_t> failures{0};
constinit thread_local int64_t left_for_thread = 0;
constinit thread_local uint64_t bytes_of_thread = 0;

bool must_fail() {
  bool fails = left_for_thread > 0 && --left_for_thread == 0;
  if (left_for_all.load(std::memory_order_relaxed) > 0) {
    fails |= left_for_all.fetch_sub(1, std::memory_order_relaxed) == 1;
  }
  if (fails) failures.fetch_add(1);
  return fails;
}

void* allocate(std::size_t size_bytes, std::size_t alignment_bytes) {
  if (must_fail()) return nullptr;
  bytes_of_thread += size_bytes;
  const std::size_t wanted = size_bytes == 0 ? 1 : size_bytes;
  if (alignment_bytes <= alignof(std::max_align_t)) return std::malloc(wanted);
  return std::aligned_alloc(alignment_bytes,
                            (wanted + alignment_bytes - 1) / alignment_bytes * alignment_bytes);
}

void* allocate_or_throw(std::size_t size_bytes, std::size_t alignment_bytes) {
  void* const memory = allocate(size_bytes, alignment_bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

FailingAllocation::FailingAllocation(uint64_t number, Allocations whose) {
  failures.store(0);
  const auto left = static_cast<int64_t>(number);
  if (whose == Allocations::kOfThisThread) {
    left_for_thread = left;
  } else {
    left_for_all.store(left);
  }
}

FailingAllocation::~FailingAllocation() {
  left_for_thread = 0;
  left_for_all.store(0);
}

bool FailingAllocation::failed() const { return failures.load() != 0; }

uint64_t allocated_bytes() { return bytes_of_thread; }

}  // namespace nvcache::test

using nvcache::test::allocate;
using nvcache::test::allocate_or_throw;

// The forms for arrays, and those with std::nothrow, call these by default; the standard
// library's nothrow forms catch what these throw.
void* operator new(std::size_t size) { return allocate_or_throw(size, 0); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  return allocate_or_throw(size, static_cast<std::size_t>(alignment));
}
// Not inlined, where compilers would see free() and miss malloc().
#define NVCACHE_NOT_INLINED __attribute__((noinline))
NVCACHE_NOT_INLINED void operator delete(void* memory) noexcept { std::free(memory); }
NVCACHE_NOT_INLINED void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
NVCACHE_NOT_INLINED void operator delete(void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
NVCACHE_NOT_INLINED void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  std::free(memory);
}
