// A file system whose reads of SST files take as long as on another storage medium,
// whatever disk the files are on. EMULATED storage: for measurements.
//
// A read is done at the later of two times: when the bytes are there, and when the
// model (medium/cost_model.h) says that the emulated medium would have been done. All
// files of one file system share one medium. Writes, and reads of other files, cost
// what they do below. The bytes come through the page cache even where the options
// ask for direct reads, so that a disk faster than the model is not needed.
//
// A server has more clients than a test machine has cores. `load` stands for them: each block
// read brings load - 1 reads of other clients (OtherClients), and reads wait for each other's
// transfer. Reads of more than kMaxLoadedBytes come from compaction and scans: they bring none.
//
// A thread that waits stands for one that is blocked in I/O: it sleeps, and leaves its
// core to others. Sequential reads are charged for RocksDB's own readahead: Prefetch() is not
// supported, and there is no asynchronous I/O.
//
// Thread-safe. No lock is held while bytes are read or a thread waits. The file system
// must outlive its files.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/histogram.h"
#include "base/mutex.h"
#include "experiments/engines/other_clients.h"
#include "medium/cost_model.h"
#include "rocksdb/file_system.h"
#include "rocksdb/version.h"

namespace nvcache::rocksdb {

inline constexpr double kMaxStorageLoad = 1000;

// The process-wide clock whose waits sleep. The kernel wakes a thread some tens of
// microseconds late; each thread learns by how much, asks to be woken that much sooner,
// and yields for what is left. Never deleted.
Clock& sleeping_clock();

// Reads of SST files, background ones included.
struct StorageStats {
  uint64_t reads = 0;
  uint64_t read_bytes = 0;
  Histogram latency_ns;
};

class EmulatedStorage final : public ::rocksdb::FileSystemWrapper {
 public:
  static constexpr uint64_t kMaxLoadedBytes = 64 << 10;

  // Without a profile reads cost what they do below, and are only counted. `load`: how many clients
  // like these read from the medium, for one that does; 1 to kMaxStorageLoad. `clock` must outlive
  // the file system.
  EmulatedStorage(std::optional<Profile> profile,
                  const std::shared_ptr<::rocksdb::FileSystem>& base, Clock& clock,
                  double load = 1);
  ~EmulatedStorage() override;

  const char* Name() const override { return name_.c_str(); }
  ::rocksdb::IOStatus NewRandomAccessFile(const std::string& name,
                                          const ::rocksdb::FileOptions& options,
                                          std::unique_ptr<::rocksdb::FSRandomAccessFile>* file,
                                          ::rocksdb::IODebugContext* debug) override;

#if ROCKSDB_MAJOR >= 8
  // None: neither asynchronous reads nor prefetching.
  void SupportedOps(int64_t& supported) override { supported = 0; }
#endif

  // Returns the reads since the last call. Costs a look at 16 histograms.
  StorageStats take_stats();

  // For its files: begins a read of that many bytes at `now_ns`; the time at which it is done.
  uint64_t start_read(uint64_t now_ns, uint64_t size_bytes);
  // Waits until then, and counts the read.
  void finish_read(uint64_t start_ns, uint64_t done_ns, uint64_t size_bytes);
  uint64_t now_ns() const { return clock_.now_ns(); }

 private:
  struct alignas(64) Stripe {
    Mutex mutex;
    StorageStats stats NVCACHE_GUARDED_BY(mutex);
  };

  struct Device {
    CostModel model;
    OtherClients others;
  };

  const std::string name_;
  Clock& clock_;
  Mutex mutex_;
  std::optional<Device> device_ NVCACHE_GUARDED_BY(mutex_);
  const bool emulated_;
  std::array<Stripe, 16> stripes_;
};

}  // namespace nvcache::rocksdb
