// A connection to WiredTiger over nvcache's file system, and its sessions.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "file_cache/file_block_cache.h"
#include "nvcache/status.h"
#include "nvcache/status_or.h"
#include "wiredtiger.h"

namespace nvcache {

// Returns the code that WiredTiger returned as a status. `detail` may be empty.
[[nodiscard]] Status wiredtiger_status(const char* what, int error, std::string_view detail = {});

// Thread-safe. Close all sessions first.
class WiredtigerConnection {
 public:
  // `config` as for wiredtiger_open, without extensions. The directory exists.
  // FAILED_PRECONDITION if its file system has no direct I/O.
  [[nodiscard]] static StatusOr<std::unique_ptr<WiredtigerConnection>> open(
      const std::string& directory, const std::string& config,
      std::shared_ptr<FileBlockCache> files);
  ~WiredtigerConnection();  // closes, unless close() did

  WT_CONNECTION* get() const { return connection_; }
  [[nodiscard]] Status close();
  // With what WiredTiger said last, if the call failed.
  [[nodiscard]] Status status(const char* what, int error) const;

 private:
  struct Messages;
  WiredtigerConnection();

  std::unique_ptr<Messages> messages_;
  WT_CONNECTION* connection_ = nullptr;
};

// For one thread at a time. The destructor closes it; the connection must still be open.
class WiredtigerSession {
 public:
  [[nodiscard]] static StatusOr<std::unique_ptr<WiredtigerSession>> open(
      const WiredtigerConnection& connection);
  ~WiredtigerSession();
  WiredtigerSession(const WiredtigerSession&) = delete;
  WiredtigerSession& operator=(const WiredtigerSession&) = delete;

  WT_SESSION* get() const { return session_; }
  // The one cursor; as for WT_SESSION::open_cursor. 0, or WiredTiger's error.
  [[nodiscard]] int open_cursor(const char* uri, const char* config);
  [[nodiscard]] int close_cursor();
  WT_CURSOR* cursor() const { return cursor_; }

 private:
  WiredtigerSession() = default;

  WT_SESSION* session_ = nullptr;
  WT_CURSOR* cursor_ = nullptr;
};

}  // namespace nvcache
