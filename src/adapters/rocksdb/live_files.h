// The table files of databases that are known to be there, by path, and what the keys of their
// blocks begin with. Several paths may have one such beginning: a file that was ingested twice, an
// import, a checkpoint. Its blocks are of no use once the last of these paths is gone.
//
// Caller-locked. A path is kept as a hash: some 100 bytes a file. RocksDB does not say that a
// database is closed, so its files stay; beyond kMostFiles another one is forgotten, and its blocks
// leave by eviction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "base/hash.h"

namespace nvcache::rocksdb {

class LiveFiles {
 public:
  static constexpr size_t kMostFiles = size_t{1} << 20;

  // Throws std::bad_alloc.
  void add(std::string_view path, uint64_t file) {
    const uint64_t hash = hash_bytes(path);
    if (const auto known = files_.find(hash); known != files_.end()) {
      if (known->second == file) return;
      drop(known->second);
      files_.erase(known);
    }
    if (files_.size() >= kMostFiles) {
      drop(files_.begin()->second);
      files_.erase(files_.begin());
    }
    files_.emplace(hash, file);
    ++paths_of_[file];
  }

  // The file of a path that is gone, if no other path has it; none if it is not known, either.
  std::optional<uint64_t> remove(std::string_view path) {
    const auto known = files_.find(hash_bytes(path));
    if (known == files_.end()) return std::nullopt;
    const uint64_t file = known->second;
    files_.erase(known);
    return drop(file) ? std::optional(file) : std::nullopt;
  }
  size_t size() const { return files_.size(); }

 private:
  // Whether that was the last path of the file.
  bool drop(uint64_t file) {
    const auto count = paths_of_.find(file);
    if (count == paths_of_.end()) return true;
    if (--count->second > 0) return false;
    paths_of_.erase(count);
    return true;
  }

  std::unordered_map<uint64_t, uint64_t> files_;  // by the hash of the path
  std::unordered_map<uint64_t, uint32_t> paths_of_;
};

}  // namespace nvcache::rocksdb
