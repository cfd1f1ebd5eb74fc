// The Java programs that are run with and without nvcache, of which they know nothing: a Flink job
// and a Kafka Streams application. Their sources are built into nvbench. Stateless.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/java/java_options.h"
#include "nvcache/status_or.h"

namespace nvcache::java {

// One size of state and of DRAM. All runs of a case have the same events, so that they must send
// the same.
struct Case {
  std::string name;
  std::string dram;                     // what DRAM it has, and more, for people
  uint64_t keys = 0;                    // each with a value of 400 characters in each store
  uint64_t warm = 0;                    // events before the measured ones
  uint64_t events = 0;                  // measured
  std::vector<std::string> properties;  // "name=value" of what else the program is told
  bool direct = false;                  // RocksDB reads past the page cache
};

struct Program {
  std::string command;  // of nvbench
  std::string name;     // as its users call it
  std::string main_class;
  std::string jar;                 // RocksDB for Java, in the folder of script/rocksdb_jni
  std::string jar_folder;          // the other jars, there
  std::vector<std::string> flags;  // of java
  std::string tiered;              // NVCACHE_TIERED, unless the user has another
  std::vector<Case> cases;
};

const Program& flink();
const Program& kafka_streams();

// The cases that `options` name, with the sizes that they give. INVALID_ARGUMENT names a case that
// there is not, or one that is named twice.
[[nodiscard]] StatusOr<std::vector<Case>> chosen_cases(const Program& program,
                                                       const Options& options);

// Writes the sources of all programs into a folder; both use Cost.java.
[[nodiscard]] Status write_sources(const std::string& folder);

}  // namespace nvcache::java
