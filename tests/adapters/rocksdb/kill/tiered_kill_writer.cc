// Reads and writes the database of a folder (kill_database.h) until it is killed, and checks what
// it reads. Prints a byte for each so many operations. With BESIDE, does the same with the database
// of that folder, whose cache shares the first one's tier.
//
// usage: nvcache_rocksdb_tiered_writer FOLDER SEED [BESIDE]      exit: 2 with a value that is wrong
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "base/prng.h"
#include "kill_database.h"

namespace nvcache::rocksdb::testing {
namespace {

[[noreturn]] void write_until_killed(const std::string& folder, const std::string& spec,
                                     uint64_t seed, bool reports) {
  KillOracle oracle(folder);
  const Tiered tiered(spec);
  TestDb db(folder + "/db", kill_options(tiered.cache));
  if (tiered.opened == nullptr || db.get() == nullptr) _exit(1);
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
    if (reports && i % 64 == 0 && ::write(STDOUT_FILENO, ".", 1) != 1) _exit(4);
  }
}

}  // namespace
}  // namespace nvcache::rocksdb::testing

int main(int argc, char** argv) {
  using namespace nvcache::rocksdb::testing;
  if (argc != 3 && argc != 4) return 1;
  const std::string folder = argv[1];
  const uint64_t seed = std::strtoull(argv[2], nullptr, 10);
  if (argc == 3) write_until_killed(folder, kill_spec(folder), seed, /*reports=*/true);
  const std::string spec = shared_kill_spec(folder);
  std::thread beside([&] { write_until_killed(argv[3], spec, seed + 10, /*reports=*/false); });
  write_until_killed(folder, spec, seed, /*reports=*/true);
}
