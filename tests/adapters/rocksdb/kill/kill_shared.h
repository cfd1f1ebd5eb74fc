// Shared by the program that is killed and the test that kills it: a mapped file of counters,
// which survive the kill, and the caches and options that both use.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "adapters/rocksdb/test_db.h"

namespace nvcache::rocksdb::testing {

inline constexpr uint32_t kKillKeys = 6000;
inline constexpr uint32_t kKillThreads = 3;  // key % kKillThreads writes a key; all read all

struct KillShared {
  std::atomic<uint64_t> flushes;
  std::atomic<uint64_t> compactions;
  std::atomic<uint64_t> wrong_reads;          // in the program itself
  std::atomic<uint32_t> begun[kKillKeys];     // the newest version that was written
  std::atomic<uint32_t> promised[kKillKeys];  // and that RocksDB acknowledged

  // Whether the value that was read of a key is one that may be there. `promised_before`: read
  // before the value was.
  bool is_right(uint32_t key, const ::rocksdb::Status& status, const std::string& value,
                uint32_t promised_before) const {
    if (!status.ok()) return status.IsNotFound() && promised_before == 0;
    const int64_t version = version_in(static_cast<int>(key), value);
    return version >= promised_before && version <= begun[key].load();
  }
};

inline KillShared& map_kill_shared(const std::string& folder) {
  const int fd = ::open((folder + "/shared").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0 || ::ftruncate(fd, sizeof(KillShared)) != 0) std::abort();
  void* const memory =
      ::mmap(nullptr, sizeof(KillShared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (memory == MAP_FAILED) std::abort();
  ::close(fd);
  return *static_cast<KillShared*>(memory);
}

// Regions that a short life seals many of. Which settings it means besides is what is tested. The
// medium is the block device that FOLDER/device links to, or else a file.
inline std::string kill_spec(const std::string& folder, const std::string& admission = "always") {
  const std::string device = folder + "/device";
  const std::string medium =
      std::filesystem::exists(device) ? "nvme:" + device : "file:" + folder + "/tier,io=direct";
  return "nvcache://?size=9MiB&region=128KiB&eviction=clock&admission=" + admission +
         "&medium=" + medium;
}

// Flushes and compacts all the time.
inline ::rocksdb::Options kill_options(Caches caches) {
  caches.dram_bytes = 64 << 10;
  ::rocksdb::Options options = db_options(caches);
  options.write_buffer_size = 128 << 10;
  options.target_file_size_base = 256 << 10;
  options.level0_file_num_compaction_trigger = 2;
  options.max_bytes_for_level_base = 1 << 20;
  return options;
}

}  // namespace nvcache::rocksdb::testing
