// Moves a connection's bytes: directly over a non-blocking socket, or through TLS.
// Each connection owns one transport, which is not thread-safe. All share the TLS context.
#pragma once

#include <sys/types.h>

#include <memory>

#include "apps/nvcached/options/settings.h"
#include "apps/nvcached/session/output.h"
#include "nvcache/status_or.h"

namespace nvcache::server {

class Transport {
 public:
  // read() and write() return these instead of a number of bytes.
  static constexpr ssize_t kClosed = -1;
  static constexpr ssize_t kWouldBlock = -2;

  virtual ~Transport() = default;  // closes the socket
  virtual ssize_t read(char* to, size_t bytes) = 0;
  // Sends from the front of `output` and consumes what was sent.
  virtual ssize_t write(Output& output) = 0;
  // True if bytes were taken from the socket and not read: no event will come for them.
  virtual bool buffered() const { return false; }
};

std::unique_ptr<Transport> make_plain_transport(int fd);

// Thread-safe.
class TlsContext {
 public:
  virtual ~TlsContext() = default;
  // Takes the socket over. Null if there is no memory; the caller then keeps the socket.
  virtual std::unique_ptr<Transport> accept(int fd) = 0;
  // Reads the files again, for new connections. After an error the old ones stay in use.
  [[nodiscard]] virtual Status refresh() = 0;
};
// Reads the certificate and the key that the settings name.
[[nodiscard]] StatusOr<std::unique_ptr<TlsContext>> make_tls_context(const Settings& settings);

}  // namespace nvcache::server
