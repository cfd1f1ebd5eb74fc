// The options of `nvcache bench flink` and `nvcache bench kafka-streams`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "experiments/harness/result_files.h"

namespace nvcache::java {

struct Options {
  std::vector<std::string> cases;  // names, in the order in which they run
  uint32_t pairs = 5;              // runs of each case, without and with nvcache in turn
  uint64_t keys = 0;               // 0: the case's, as in the next two
  uint64_t warm = 0;
  uint64_t events = 0;
  uint64_t divisor = 1;  // of the case's own events: --quick has more
  std::string tiered;    // what NVCACHE_TIERED says in runs with nvcache; empty: the program's
  std::string library;   // libnvcache_jvm.so; empty: the one built or installed with nvbench
  std::string jars;      // the folder of script/rocksdb_jni; empty: the one of the build
  std::string db;        // empty: a temporary folder
  double limit_seconds = 3600;
  ResultFiles files;
  std::string command;  // as typed
};

}  // namespace nvcache::java
