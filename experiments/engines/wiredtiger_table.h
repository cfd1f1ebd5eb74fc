// The table of a benchmark database on WiredTiger: how to fill it, and one thread's access
// to it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "experiments/engines/engine.h"
#include "experiments/engines/wiredtiger_connection.h"

namespace nvcache {

// For one thread at a time. Each call is one transaction. If WiredTiger rolls it
// back, it is tried again up to a limit (then ABORTED).
class WiredtigerTable {
 public:
  // `connection` must outlive it.
  [[nodiscard]] static StatusOr<std::unique_ptr<WiredtigerTable>> open(
      const WiredtigerConnection& connection);

  // As in KvEngine.
  [[nodiscard]] Status put(std::string_view key, std::string_view value);
  [[nodiscard]] Status read(std::string_view key, std::string* value);
  [[nodiscard]] Status scan(std::string_view first_key, uint32_t rows,
                            const KvEngine::RowVisitor& visit);

 private:
  WiredtigerTable(const WiredtigerConnection& connection,
                  std::unique_ptr<WiredtigerSession> session);
  int seek(const std::string& key, bool past);
  template <typename Call>
  Status retried(const char* what, Call&& call);

  const WiredtigerConnection& connection_;
  const std::unique_ptr<WiredtigerSession> session_;
  WT_CURSOR* const cursor_;
};

// Makes the table with pairs 0 to count - 1 of database 0, and a checkpoint.
// CANCELLED when interrupted.
[[nodiscard]] Status fill_wiredtiger_table(const WiredtigerConnection& connection,
                                           WiredtigerSession& session, uint64_t count,
                                           const SortedPair& pair,
                                           const std::function<void(uint64_t loaded)>& progress);

}  // namespace nvcache
