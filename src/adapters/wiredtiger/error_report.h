// WiredTiger's error and message streams, to which its file system reports.
#pragma once

#include <string>

#include "wiredtiger.h"
#include "wiredtiger_ext.h"

namespace nvcache {

// Thread-safe, as WiredTiger's streams are.
class ErrorReport {
 public:
  explicit ErrorReport(WT_CONNECTION* connection)
      : api_(connection->get_extension_api(connection)) {}

  // Reports `what` with the meaning of `error`; returns `error`. WiredTiger's own file system uses
  // the same words, which tools look for: "PATH: handle-read: pread: ...".
  int error(WT_SESSION* session, int error, const std::string& what) const {
    (void)api_->err_printf(api_, session, "%s: %s", what.c_str(),
                           api_->strerror(api_, session, error));
    return error;
  }
  void say(WT_SESSION* session, const std::string& what) const {
    (void)api_->err_printf(api_, session, "nvcache: %s", what.c_str());
  }
  WT_EXTENSION_API* api() const { return api_; }

 private:
  WT_EXTENSION_API* api_;
};

}  // namespace nvcache
