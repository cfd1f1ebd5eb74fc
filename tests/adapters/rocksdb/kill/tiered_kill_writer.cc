// Reads and writes the database of a folder (kill_database.h) until it is killed, and checks what
// it reads. Prints a byte for each so many operations.
//
// usage: nvcache_rocksdb_tiered_writer FOLDER SEED      exit: 2 with a value that is wrong
#include "kill_database.h"

#include <atomic>
#include <thread>
#include <vector>

#include "base/prng.h"

namespace nvcache::rocksdb::testing {
namespace {

int write_until_killed(const std::string& folder, uint64_t seed) {
  KillOracle oracle(folder);
  const Tiered tiered(kill_spec(folder));
  TestDb db(folder + "/db", kill_options(tiered.cache));
  if (tiered.opened == nullptr || db.get() == nullptr) return 1;
  std::vector<std::thread> readers;
  for (uint64_t reader = 1; reader <= 2; ++reader) {
    readers.emplace_back([&, reader] {
      Prng random(seed + reader);
      while (oracle.reads_right(*db.get(), static_cast<int>(random.below(kKillRecords)))) {
      }
      _exit(2);
    });
  }
  Prng random(seed);
  for (uint64_t i = 1;; ++i) {
    const auto record = static_cast<int>(random.below(kKillRecords));
    if (!oracle.write(*db.get(), record)) _exit(3);
    if (!oracle.reads_right(*db.get(), static_cast<int>(random.below(kKillRecords)))) _exit(2);
    if (i % 512 == 0) tiered.opened->control()->drain();  // something is sealed before the kill
    if (i % 64 == 0 && ::write(STDOUT_FILENO, ".", 1) != 1) _exit(4);
  }
}

}  // namespace
}  // namespace nvcache::rocksdb::testing

int main(int argc, char** argv) {
  if (argc != 3) return 1;
  return nvcache::rocksdb::testing::write_until_killed(argv[1],
                                                       std::strtoull(argv[2], nullptr, 10));
}
