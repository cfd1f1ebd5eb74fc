// Tables in which table, key and version determine every value; what each key must hold at
// any time; and threads that write, read and compare.
//
// Each key is written by one thread only, so that thread knows what it must read.
// The others know which versions it may have by then.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "wiredtiger.h"

namespace nvcache::wt_test {

struct TableShape {
  std::string create = "allocation_size=4KB,leaf_page_max=8KB";  // for WT_SESSION::create
  uint32_t tables = 2;
  uint32_t keys = 12000;  // per table
  uint32_t min_value_bytes = 100;
  uint32_t max_value_bytes = 900;
  uint32_t long_value_bytes = 0;  // one value in sixteen is up to this long
};

struct LoadShape {
  uint32_t threads = 4;
  uint32_t operations = 6000;  // per thread
  uint32_t write_percent = 30;
  uint32_t remove_percent = 3;
  uint32_t roll_back_percent = 5;  // of the writing transactions
  bool checkpoints = true;         // one every few operations, as fast as they allow
  // Called by one of the threads, the others going on, at this many points of the run.
  uint32_t steps = 3;
  std::function<void(int step)> at_step = nullptr;
};

// Caller-locked, unless a method says that it is thread-safe.
class VersionedTables {
 public:
  VersionedTables(TableShape shape, uint64_t seed, std::string prefix = "t");

  std::string uri(uint32_t table) const { return "table:" + prefix_ + std::to_string(table); }
  const TableShape& shape() const { return shape_; }

  // Makes the tables and gives each key a first version.
  void create(WT_CONNECTION* connection);
  // The same by bulk cursors.
  void create_in_bulk(WT_CONNECTION* connection);
  // Writes a new version of every `step`-th key.
  void update(WT_CONNECTION* connection, uint32_t step = 1);
  // Threads that write, read and compare.
  void run(WT_CONNECTION* connection, const LoadShape& load);
  // Reads all keys in order and at random, and compares. `cursor_config` may name a checkpoint.
  void verify(WT_CONNECTION* connection, const char* cursor_config = nullptr);
  // The three one after the other.
  void create_run_verify(WT_CONNECTION* connection, const LoadShape& load) {
    create(connection);
    run(connection, load);
    verify(connection);
  }

  // OK, or the first thing that was wrong. Thread-safe.
  std::string problem() const;
  bool good() const { return problem().empty(); }

  // For changes that the caller makes itself: the keys are gone, both ends included.
  void forget(uint32_t table, uint32_t first_key, uint32_t last_key);
  // The values expected now: for a checkpoint, or a backup, of now, or for the same
  // tables with another name (empty: the same).
  VersionedTables snapshot(const std::string& prefix = "") const;

  // For programs that write by themselves: the bytes of a version, and the version in
  // bytes (0: they are not exactly such a value). Thread-safe.
  std::string value(uint32_t table, uint32_t key, uint32_t version) const;
  uint32_t version_in(uint32_t table, uint32_t key, const WT_ITEM& bytes) const;

 private:
  struct Key {
    std::atomic<uint32_t> committed{0};  // 0: the key is not there
    std::atomic<uint32_t> newest{0};     // highest version ever begun, removals included
    std::atomic<bool> removable{false};  // a removal was begun once
  };
  class Worker;
  class Progress;

  Key& at(uint32_t table, uint32_t key) const { return keys_[table * shape_.keys + key]; }
  void fill(WT_CONNECTION* connection, const char* cursor_config);
  void verify_table(WT_SESSION* session, uint32_t table, const char* cursor_config);
  void complain(const std::string& text) const;
  bool check(int result, const char* what) const;

  TableShape shape_;
  uint64_t seed_;
  std::string prefix_;
  std::unique_ptr<Key[]> keys_;
  struct Complaint {
    Mutex mutex;
    std::string text NVCACHE_GUARDED_BY(mutex);
  };
  std::shared_ptr<Complaint> complaint_ = std::make_shared<Complaint>();
};

#define ASSERT_GOOD(tables) ASSERT_EQ((tables).problem(), "")

}  // namespace nvcache::wt_test
