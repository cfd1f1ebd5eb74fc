#include "adapters/rocksdb/caller.h"

#include <pthread.h>

#include <string_view>

namespace nvcache::rocksdb {
namespace {

constexpr std::string_view kPoolThreadPrefix = "rocksdb:";

// RocksDB names a pool thread before the thread takes its first job, so the name is set
// before the first lookup.
Caller caller_by_thread_name() {
  char name[16] = {};  // the kernel's limit, its final zero included
  if (pthread_getname_np(pthread_self(), name, sizeof name) != 0) return Caller::kForeground;
  return std::string_view(name).starts_with(kPoolThreadPrefix) ? Caller::kBackground
                                                               : Caller::kForeground;
}

}  // namespace

Caller current_caller() {
  thread_local const Caller caller = caller_by_thread_name();
  return caller;
}

}  // namespace nvcache::rocksdb
