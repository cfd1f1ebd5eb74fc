#include "apps/nvcached/net/transport.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <utility>

#include "base/assert.h"
#include "base/mutex.h"
#include "base/text.h"

namespace nvcache::server {
namespace {

constexpr int kVectors = 64;
constexpr unsigned char kSessionContext[] = {'n', 'v', 'c', 'a', 'c', 'h', 'e', 'd'};

ssize_t result_of(ssize_t done) {
  if (done > 0) return done;
  if (done < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) {
    return Transport::kWouldBlock;
  }
  return Transport::kClosed;
}

class PlainTransport final : public Transport {
 public:
  explicit PlainTransport(int fd) : fd_(fd) {}
  ~PlainTransport() override { close(fd_); }

  ssize_t read(char* to, size_t bytes) override { return result_of(recv(fd_, to, bytes, 0)); }

  ssize_t write(Output& output) override {
    iovec vectors[kVectors];
    msghdr message = {};
    message.msg_iov = vectors;
    message.msg_iovlen = static_cast<size_t>(output.gather(vectors, kVectors));
    NVCACHE_ASSERT_SLOW(message.msg_iovlen > 0);  // else it would pass for a closed socket
    const ssize_t sent = result_of(sendmsg(fd_, &message, MSG_NOSIGNAL));
    if (sent > 0) output.consume(static_cast<size_t>(sent));
    return sent;
  }

 private:
  const int fd_;
};

class TlsTransport final : public Transport {
 public:
  TlsTransport(int fd, SSL* ssl) : fd_(fd), ssl_(ssl) {}
  ~TlsTransport() override {
    SSL_shutdown(ssl_);
    ERR_clear_error();
    SSL_free(ssl_);
    close(fd_);
  }

  ssize_t read(char* to, size_t bytes) override {
    ERR_clear_error();
    return result_of_ssl(SSL_read(ssl_, to, static_cast<int>(std::min<size_t>(bytes, INT_MAX))));
  }

  ssize_t write(Output& output) override {
    iovec vector;
    if (output.gather(&vector, 1) == 0) return kWouldBlock;
    ERR_clear_error();
    const ssize_t sent = result_of_ssl(SSL_write(
        ssl_, vector.iov_base, static_cast<int>(std::min<size_t>(vector.iov_len, INT_MAX))));
    if (sent > 0) output.consume(static_cast<size_t>(sent));
    return sent;
  }

  bool buffered() const override { return SSL_has_pending(ssl_) != 0; }

 private:
  ssize_t result_of_ssl(int done) const {
    if (done > 0) return done;
    const int error = SSL_get_error(ssl_, done);
    const bool again = error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE;
    return again ? kWouldBlock : kClosed;
  }

  const int fd_;
  SSL* const ssl_;
};

struct FreeContext {
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
};
using Context = std::unique_ptr<SSL_CTX, FreeContext>;

StatusOr<Context> read_context(const Settings& settings);

class OpensslContext final : public TlsContext {
 public:
  OpensslContext(const Settings& settings, Context context)
      : settings_(settings), context_(std::move(context)) {}

  Status refresh() override {
    auto context = read_context(settings_);
    if (!context.ok()) return context.status();
    const MutexLock lock(mutex_);
    context_.swap(*context);
    return ok_status();
  }

  std::unique_ptr<Transport> accept(int fd) override {
    std::unique_ptr<SSL, decltype(&SSL_free)> ssl(new_session(), &SSL_free);
    if (ssl == nullptr || SSL_set_fd(ssl.get(), fd) != 1) return nullptr;
    SSL_set_accept_state(ssl.get());
    auto transport = std::make_unique<TlsTransport>(fd, ssl.get());
    (void)ssl.release();
    return transport;
  }

 private:
  // Counts a reference to the context, which lives on while it has sessions.
  SSL* new_session() {
    const MutexLock lock(mutex_);
    return SSL_new(context_.get());
  }

  const Settings settings_;
  Mutex mutex_;
  Context context_ NVCACHE_GUARDED_BY(mutex_);
};

std::string openssl_error() {
  char text[256];
  ERR_error_string_n(ERR_get_error(), text, sizeof text);
  return text;
}

StatusOr<Context> read_context(const Settings& settings) {
  if (settings.tls_certificate.empty()) {
    return invalid_argument("TLS needs a certificate: -o ssl_chain_cert=FILE");
  }
  Context context(SSL_CTX_new(TLS_server_method()));
  SSL_CTX* ctx = context.get();
  if (ctx == nullptr) return resource_exhausted_error(openssl_error());
  constexpr int kVersions[] = {TLS1_VERSION, TLS1_1_VERSION, TLS1_2_VERSION, TLS1_3_VERSION};
  SSL_CTX_set_min_proto_version(ctx, kVersions[settings.tls_min_version]);
  // A write that failed is repeated, and the buffer may have moved meanwhile.
  SSL_CTX_set_mode(ctx, SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_ENABLE_PARTIAL_WRITE |
                            SSL_MODE_RELEASE_BUFFERS);
  // With clients' certificates OpenSSL refuses to resume a session that is of no context.
  SSL_CTX_set_session_id_context(ctx, kSessionContext, sizeof(kSessionContext));
  const std::string& key = settings.tls_key.empty() ? settings.tls_certificate : settings.tls_key;
  if (SSL_CTX_use_certificate_chain_file(ctx, settings.tls_certificate.c_str()) != 1) {
    return invalid_argument("certificate {}: {}", settings.tls_certificate, openssl_error());
  }
  if (SSL_CTX_use_PrivateKey_file(ctx, key.c_str(), SSL_FILETYPE_PEM) != 1 ||
      SSL_CTX_check_private_key(ctx) != 1) {
    return invalid_argument("private key {}: {}", key, openssl_error());
  }
  if (!settings.tls_ciphers.empty() &&
      SSL_CTX_set_cipher_list(ctx, settings.tls_ciphers.c_str()) != 1) {
    return invalid_argument("ssl_ciphers {}: {}", settings.tls_ciphers, openssl_error());
  }
  if (!settings.tls_ca.empty()) {
    if (SSL_CTX_load_verify_locations(ctx, settings.tls_ca.c_str(), nullptr) != 1) {
      return invalid_argument("ssl_ca_cert {}: {}", settings.tls_ca, openssl_error());
    }
    SSL_CTX_set_client_CA_list(ctx, SSL_load_client_CA_file(settings.tls_ca.c_str()));
  }
  const int verify = settings.tls_verify == 0   ? SSL_VERIFY_NONE
                     : settings.tls_verify == 1 ? SSL_VERIFY_PEER
                                                : SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT;
  SSL_CTX_set_verify(ctx, verify, nullptr);
  return context;
}

}  // namespace

std::unique_ptr<Transport> make_plain_transport(int fd) {
  return std::make_unique<PlainTransport>(fd);
}

StatusOr<std::unique_ptr<TlsContext>> make_tls_context(const Settings& settings) {
  auto context = read_context(settings);
  if (!context.ok()) return context.status();
  return std::make_unique<OpensslContext>(settings, *std::move(context));
}

}  // namespace nvcache::server
