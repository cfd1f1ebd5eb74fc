// How a connection's bytes go: plainly over a socket that does not block, or through TLS.
// Not thread-safe; one of them belongs to one connection, the TLS context to all.
#pragma once

#include <sys/types.h>

#include <memory>

#include "absl/status/statusor.h"
#include "apps/nvcached/output.h"
#include "apps/nvcached/settings.h"

namespace nvcache::server {

class Transport {
 public:
  // What read() and write() return where it is not a number of bytes.
  static constexpr ssize_t kClosed = -1;
  static constexpr ssize_t kWouldBlock = -2;

  virtual ~Transport() = default;  // closes the socket
  virtual ssize_t read(char* to, size_t bytes) = 0;
  // Sends from the front of what is pending and consumes that.
  virtual ssize_t write(Output& output) = 0;
  // Bytes that have been taken from the socket, so that it will not tell of them.
  virtual bool buffered() const { return false; }
};

std::unique_ptr<Transport> make_plain_transport(int fd);

class TlsContext {
 public:
  virtual ~TlsContext() = default;
  // Null when there is no memory; the socket is then the caller's.
  virtual std::unique_ptr<Transport> accept(int fd) = 0;
};
// Reads the certificate and the key that the settings name.
[[nodiscard]] absl::StatusOr<std::unique_ptr<TlsContext>> make_tls_context(
    const Settings& settings);

}  // namespace nvcache::server
