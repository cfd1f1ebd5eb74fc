// The reports between the program that is killed and the test that kills it.
#pragma once

#include <cstdint>

#include "versioned_tables.h"

namespace nvcache::wt_test {

// This version of this key will be there, whatever happens.
struct Report {
  uint32_t key;
  uint32_t version;
};

inline constexpr char kKillTable[] = "table:t0";
inline constexpr uint32_t kKillKeys = 16000;  // twice the cache that the tests give WiredTiger
inline constexpr uint32_t kKillThreads = 4;   // key % kKillThreads owns a key
inline constexpr uint64_t kKillValueSeed = 17;

inline TableShape kill_shape(const char* create = "") {
  return {.create = std::string("allocation_size=512,leaf_page_max=4KB,") + create,
          .tables = 1,
          .keys = kKillKeys};
}

}  // namespace nvcache::wt_test
