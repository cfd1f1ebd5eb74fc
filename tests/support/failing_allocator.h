// An allocator that fails on demand, and counts: operator new of the test binary that links
// failing_allocator.cc. For tests that sweep an operation with the N-th allocation failing, N = 1,
// 2, ... until it needs no more.
//
// The switch counts the allocations of one thread, or of all threads. Thread-safe. An allocation
// with std::nothrow fails, too. malloc() is left alone: what C libraries do with it is theirs.
#pragma once

#include <cstdint>

namespace nvcache::test {

enum class Allocations : uint8_t { kOfThisThread, kOfAllThreads };

// While it lives, the `number`-th allocation from now on fails, and no other; from 1 on.
class FailingAllocation {
 public:
  FailingAllocation(uint64_t number, Allocations whose);
  ~FailingAllocation();
  FailingAllocation(const FailingAllocation&) = delete;
  FailingAllocation& operator=(const FailingAllocation&) = delete;

  // Whether an allocation has failed.
  bool failed() const;
};

// Bytes that this thread has allocated since it began, those that it returned included.
uint64_t allocated_bytes();

}  // namespace nvcache::test
