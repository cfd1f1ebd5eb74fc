#include "experiments/engines/wiredtiger_connection.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <map>
#include <utility>

#include "adapters/wiredtiger/file_system.h"
#include "base/mutex.h"
#include "fmt/format.h"
#include "wiredtiger_ext.h"

namespace nvcache {
namespace {

// An early-load extension gets text only. Each open() leaves its files here under a unique
// number, and passes the number as text.
class PendingFiles {
 public:
  uint64_t put(std::shared_ptr<FileBlockCache> files) {
    MutexLock lock(mutex_);
    files_.emplace(++last_, std::move(files));
    return last_;
  }

  std::shared_ptr<FileBlockCache> take(uint64_t number) {
    MutexLock lock(mutex_);
    auto node = files_.extract(number);
    return node.empty() ? nullptr : std::move(node.mapped());
  }

 private:
  Mutex mutex_;
  uint64_t last_ NVCACHE_GUARDED_BY(mutex_) = 0;
  std::map<uint64_t, std::shared_ptr<FileBlockCache>> files_ NVCACHE_GUARDED_BY(mutex_);
};

PendingFiles& pending_files() {
  static PendingFiles pending;
  return pending;
}

bool has_direct_io(const std::string& directory) {
  const int fd = ::open(directory.c_str(), O_TMPFILE | O_RDWR | O_DIRECT | O_CLOEXEC, 0600);
  if (fd >= 0) ::close(fd);
  return fd >= 0 || errno != EINVAL;
}

}  // namespace
}  // namespace nvcache

// WiredTiger looks this name up in the running program, which must export it.
extern "C" __attribute__((visibility("default"))) int nvcache_bench_wiredtiger_attach(
    WT_CONNECTION* connection, WT_CONFIG_ARG* config) {
  WT_EXTENSION_API* api = connection->get_extension_api(connection);
  WT_CONFIG_ITEM number = {};
  const int error = api->config_get(api, nullptr, config, "files", &number);
  if (error != 0) return error;
  auto files = nvcache::pending_files().take(static_cast<uint64_t>(number.val));
  return files == nullptr ? EINVAL : nvcache::attach_file_system(connection, std::move(files));
}

namespace nvcache {

Status wiredtiger_status(const char* what, int error, std::string_view detail) {
  if (error == 0) return ok_status();
  std::string message = fmt::format("wiredtiger: {}: {}", what, ::wiredtiger_strerror(error));
  if (error == WT_NOTFOUND) return not_found_error(message);
  if (!detail.empty()) message += fmt::format(" ({})", detail);
  switch (error) {
    case WT_PANIC:
    case WT_TRY_SALVAGE:
      return data_loss_error(message);
    case WT_ROLLBACK:
      return aborted_error(message);
    case ENOSPC:
      return resource_exhausted_error(message);
    case EINVAL:
      return invalid_argument_error(message);
    default:
      return internal_error(message);
  }
}

// Keeps the first message of a failure, which says more than those that follow.
struct WiredtigerConnection::Messages {
  WT_EVENT_HANDLER handler = {};  // first, so that a handler is its Messages
  mutable Mutex mutex;
  std::string first NVCACHE_GUARDED_BY(mutex);

  Messages() {
    handler.handle_error = [](WT_EVENT_HANDLER* self, WT_SESSION*, int, const char* message) {
      auto* messages = reinterpret_cast<Messages*>(self);
      MutexLock lock(messages->mutex);
      if (messages->first.empty()) messages->first = message;
      return 0;
    };
    handler.handle_message = [](WT_EVENT_HANDLER*, WT_SESSION*, const char*) { return 0; };
  }
};

WiredtigerConnection::WiredtigerConnection() : messages_(std::make_unique<Messages>()) {}

WiredtigerConnection::~WiredtigerConnection() {
  if (connection_ != nullptr) connection_->close(connection_, nullptr);
}

StatusOr<std::unique_ptr<WiredtigerConnection>> WiredtigerConnection::open(
    const std::string& directory, const std::string& config,
    std::shared_ptr<FileBlockCache> files) {
  if (!has_direct_io(directory)) {
    return failed_precondition_error(
        fmt::format("the file system of {} has no direct I/O: choose a --db on a disk", directory));
  }
  const uint64_t number = pending_files().put(std::move(files));
  // This text alone counts: no saved configuration, no environment.
  const std::string whole = fmt::format(
      "{},config_base=false,use_environment=false,extensions=[local=(early_load=true,"
      "entry=nvcache_bench_wiredtiger_attach,config=(files={}))]",
      config, number);
  std::unique_ptr<WiredtigerConnection> made(new WiredtigerConnection());
  const int error = ::wiredtiger_open(directory.c_str(), &made->messages_->handler, whole.c_str(),
                                      &made->connection_);
  pending_files().take(number);  // still there if WiredTiger failed before it loaded the extension
  if (error != 0) {
    made->connection_ = nullptr;
    return made->status("open", error);
  }
  return made;
}

Status WiredtigerConnection::close() {
  if (connection_ == nullptr) return ok_status();
  WT_CONNECTION* connection = std::exchange(connection_, nullptr);
  return status("close", connection->close(connection, nullptr));
}

Status WiredtigerConnection::status(const char* what, int error) const {
  if (error == 0 || error == WT_NOTFOUND) return wiredtiger_status(what, error);
  MutexLock lock(messages_->mutex);
  return wiredtiger_status(what, error, messages_->first);
}

StatusOr<std::unique_ptr<WiredtigerSession>> WiredtigerSession::open(
    const WiredtigerConnection& connection) {
  std::unique_ptr<WiredtigerSession> made(new WiredtigerSession());
  WT_CONNECTION* opened = connection.get();
  const int error = opened->open_session(opened, nullptr, nullptr, &made->session_);
  if (error == 0) return made;
  made->session_ = nullptr;
  return connection.status("open a session", error);
}

int WiredtigerSession::open_cursor(const char* uri, const char* config) {
  return session_->open_cursor(session_, uri, nullptr, config, &cursor_);
}

WiredtigerSession::~WiredtigerSession() {
  if (session_ != nullptr) session_->close(session_, nullptr);  // and its cursors
}

int WiredtigerSession::close_cursor() {
  WT_CURSOR* cursor = std::exchange(cursor_, nullptr);
  return cursor == nullptr ? 0 : cursor->close(cursor);
}

}  // namespace nvcache
