// A database above a tiered cache that comes back, which a process reads and writes until it is
// killed, and what both sides know of it: for each record the newest version that was begun, and
// the newest that RocksDB acknowledged. A kill loses no write that RocksDB's log has.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>

#include "adapters/rocksdb/tiered_db.h"

namespace nvcache::rocksdb::testing {

inline constexpr int kKillRecords = 8000;

// In memory that outlives a process.
class KillOracle {
 public:
  explicit KillOracle(const std::string& folder) {
    const int file = ::open((folder + "/oracle").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0 || ::ftruncate(file, sizeof(Versions)) != 0) std::abort();
    void* const memory =
        ::mmap(nullptr, sizeof(Versions), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (memory == MAP_FAILED) std::abort();
    ::close(file);
    versions_ = static_cast<Versions*>(memory);
  }
  ~KillOracle() { ::munmap(versions_, sizeof(Versions)); }
  KillOracle(const KillOracle&) = delete;
  KillOracle& operator=(const KillOracle&) = delete;

  // Writes the next version of a record. One thread at a time.
  bool write(::rocksdb::DB& db, int record) {
    const uint32_t version = versions_->begun[record].fetch_add(1) + 1;
    if (!db.Put({}, key_of(record), value_of(record, version)).ok()) return false;
    versions_->acknowledged[record].store(version);
    return true;
  }
  // Whether the database has a version that it may have.
  bool reads_right(::rocksdb::DB& db, int record) const {
    const uint32_t at_least = versions_->acknowledged[record].load();
    std::string value;
    const ::rocksdb::Status status = db.Get({}, key_of(record), &value);
    if (status.IsNotFound()) return at_least == 0;
    const int64_t version = status.ok() ? version_in(record, value) : -1;
    return version >= at_least && version <= versions_->begun[record].load();
  }

 private:
  struct Versions {
    std::atomic<uint32_t> begun[kKillRecords];
    std::atomic<uint32_t> acknowledged[kKillRecords];
  };
  Versions* versions_;
};

inline ::rocksdb::Options kill_options(const std::shared_ptr<::rocksdb::Cache>& cache) {
  ::rocksdb::Options options = tiered_options(cache);
  options.write_buffer_size = 256 << 10;
  options.target_file_size_base = 256 << 10;
  return options;
}

// The medium is the block device that FOLDER/device links to, or else a file.
inline std::string kill_spec(const std::string& folder) {
  const std::string device = folder + "/device";
  const std::string medium =
      std::filesystem::exists(device) ? "nvme:" + device : "file:" + folder + "/tier,io=direct";
  return "tiered://?dram=128KiB&tier=(size=9MiB,space=regions,region=128KiB,eviction=clock,"
         "maintenance=0,restart=warm,medium=" +
         medium + ")";
}

// Of databases with a cache each above one tier, which lies in the folder of the first.
inline std::string shared_kill_spec(const std::string& folder) {
  return "tiered://?dram=128KiB&tier=(name=killed,size=16MiB,space=regions,region=128KiB,"
         "eviction=clock,maintenance=0,restart=warm,medium=file:" +
         folder + "/tier,io=direct)";
}

}  // namespace nvcache::rocksdb::testing
