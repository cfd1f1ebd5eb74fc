// Opens a database by a unique_ptr, as RocksDB 11 does. Earlier versions have a plain pointer.
#pragma once

#include <memory>
#include <string>

#include "rocksdb/db.h"

namespace nvcache::rocksdb::testing {

template <typename Db>
::rocksdb::Status open_db(const ::rocksdb::Options& options, const std::string& path,
                          std::unique_ptr<Db>* db) {
  if constexpr (requires { Db::Open(options, path, db); }) {
    return Db::Open(options, path, db);
  } else {
    Db* plain = nullptr;
    const ::rocksdb::Status status = Db::Open(options, path, &plain);
    db->reset(plain);
    return status;
  }
}

}  // namespace nvcache::rocksdb::testing
