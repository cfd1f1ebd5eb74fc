// Repeats an operation with its first, second, ... allocation failing, until it needs no more.
#pragma once

#include <cstdint>

#include "gtest/gtest.h"
#include "support/failing_allocator.h"

namespace nvcache::test {

// operation(): must not throw. after(): checks that all is well, with memory again. Both run once
// for each allocation that fails, and once without a failure. Returns how many failed.
template <typename Operation, typename After>
uint64_t sweep(Allocations whose, Operation&& operation, After&& after) {
  constexpr uint64_t kMost = 10'000;
  for (uint64_t number = 1; number <= kMost; ++number) {
    SCOPED_TRACE(testing::Message() << "allocation " << number);
    bool failed = false;
    {
      const FailingAllocation failing(number, whose);
      EXPECT_NO_THROW(operation());
      failed = failing.failed();
    }
    after();
    if (!failed) return number - 1;
    if (testing::Test::HasFailure()) return number;
  }
  ADD_FAILURE() << "the operation never ends without a failed allocation";
  return kMost;
}

}  // namespace nvcache::test
