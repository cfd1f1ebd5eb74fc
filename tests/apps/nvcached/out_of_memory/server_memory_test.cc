// Every allocation of a server fails once, while a client connects, asks and reads the metrics: the
// client gets its answers or is closed, and the server goes on.
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <string_view>

#include "apps/nvcached/memory_store.h"
#include "apps/nvcached/net/server.h"
#include "out_of_memory/sweep.h"
#include "support/temp_dir.h"

namespace nvcache::server {
namespace {

// Allocates nothing: the allocation that fails shall be one of the server's.
class Client {
 public:
  Client(const sockaddr* address, socklen_t bytes)
      : fd_(socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const timeval limit = {.tv_sec = 120, .tv_usec = 0};
    setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    connected_ = connect(fd_, address, bytes) == 0;
  }
  ~Client() { close(fd_); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  bool connected() const { return connected_; }
  // Reads until `end`, or until the server closes. False if neither happens.
  bool ask(std::string_view request, std::string_view end) {
    used_ = 0;
    (void)!send(fd_, request.data(), request.size(), MSG_NOSIGNAL);
    while (used_ < sizeof answer_ && !answer().ends_with(end)) {
      const ssize_t got = recv(fd_, answer_ + used_, sizeof answer_ - used_, 0);
      if (got < 0) return errno == ECONNRESET;
      if (got == 0) return true;
      used_ += static_cast<size_t>(got);
    }
    return used_ < sizeof answer_;
  }
  std::string_view answer() const { return {answer_, used_}; }

 private:
  const int fd_;
  bool connected_ = false;
  size_t used_ = 0;
  char answer_[128 << 10];
};

uint32_t now_s() { return 1'700'000'000; }

class ServerMemory : public testing::Test {
 protected:
  ServerMemory() {
    unix_.sun_family = AF_UNIX;
    const std::string path = dir_.file("socket");
    std::memcpy(unix_.sun_path, path.c_str(), path.size() + 1);
  }
  void SetUp() override {
    auto sockets = bind_sockets(service_.settings());
    ASSERT_TRUE(sockets.ok()) << sockets.status();
    auto server = Server::start(service_, *std::move(sockets));
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
    metrics_.sin_family = AF_INET;
    metrics_.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    metrics_.sin_port = htons(static_cast<uint16_t>(server_->metrics_port()));
  }
  Settings settings() const {
    Settings settings;
    settings.port = 0;
    settings.metrics_port = -1;  // any
    settings.threads = 1;
    settings.hint_bits = 10;
    settings.unix_socket = dir_.file("socket");
    return settings;
  }
  Client client() const { return Client(reinterpret_cast<const sockaddr*>(&unix_), sizeof unix_); }
  Client scraper() const {
    return Client(reinterpret_cast<const sockaddr*>(&metrics_), sizeof metrics_);
  }

  TempDir dir_;
  sockaddr_un unix_ = {};
  sockaddr_in metrics_ = {};
  MemoryStore store_{now_s};
  Service service_{store_, settings(), now_s, now_s};
  std::unique_ptr<Server> server_;
};

constexpr std::string_view kRequests =
    "set a 0 0 5\r\nhello\r\nget a b\r\nincr a 1\r\nappend a 0 0 1\r\n!\r\nmg a v t f c s k\r\n"
    "stats\r\nstats settings\r\nstats conns\r\nlru_crawler metadump all\r\nmn\r\n";

TEST_F(ServerMemory, AClientsRequestsFailWithoutTheServer) {
  const uint64_t failed = test::sweep(
      test::Allocations::kOfAllThreads,
      [&] {
        Client one = client();
        EXPECT_TRUE(one.connected());
        EXPECT_TRUE(one.ask(kRequests, "MN\r\n")) << one.answer();
      },
      [&] {
        Client next = client();
        ASSERT_TRUE(next.connected());
        ASSERT_TRUE(next.ask("set b 0 0 2\r\nhi\r\nget b\r\n", "END\r\n"));
        EXPECT_EQ(next.answer(), "STORED\r\nVALUE b 0 2\r\nhi\r\nEND\r\n");
      });
  EXPECT_GT(failed, 10u);
  while (service_.connections().current != 0) usleep(1000);
  server_->stop();
  EXPECT_EQ(store_.held(), 0u);
  EXPECT_EQ(service_.pins().used(), 0u);
  EXPECT_EQ(service_.buffers().used(), 0u);
}

TEST_F(ServerMemory, WatchersMissLinesOnly) {
  Client watcher = client();
  ASSERT_TRUE(watcher.ask("watch connevents\r\n", "OK\r\n"));
  const uint64_t failed = test::sweep(
      test::Allocations::kOfAllThreads, [&] { EXPECT_TRUE(client().ask("mn\r\n", "MN\r\n")); },
      [&] { EXPECT_TRUE(client().ask("mn\r\n", "MN\r\n")); });
  EXPECT_GT(failed, 3u);
}

TEST_F(ServerMemory, ARequestForMetricsFailsAlone) {
  for (const char* path : {"/metrics", "/status.json", "/"}) {
    SCOPED_TRACE(path);
    const std::string request =
        "GET " + std::string(path) + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    const uint64_t failed = test::sweep(
        test::Allocations::kOfAllThreads,
        [&] {
          Client one = scraper();
          EXPECT_TRUE(one.connected());
          EXPECT_TRUE(one.ask(request, "the end comes when the server closes"));
        },
        [&] {
          Client next = scraper();
          EXPECT_TRUE(next.ask(request, "the end comes when the server closes"));
          EXPECT_TRUE(next.answer().starts_with("HTTP/1.1 200")) << next.answer();
        });
    EXPECT_GT(failed, 3u);
  }
}

}  // namespace
}  // namespace nvcache::server
