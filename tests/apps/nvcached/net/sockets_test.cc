// A port and a unix socket are one server's from the moment it binds them.
#include "apps/nvcached/net/sockets.h"

#include <netinet/in.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "support/temp_dir.h"

namespace nvcache::server {
namespace {

sockaddr_in loopback(int port) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

int socket_to(int port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_in address = loopback(port);
  if (connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return fd;
  close(fd);
  return -1;
}

// As most servers bind.
bool another_can_bind(int port, int type) {
  const int fd = socket(AF_INET, type | SOCK_CLOEXEC, 0);
  const int on = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  const sockaddr_in address = loopback(port);
  const bool good = bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  close(fd);
  return good;
}

void close_all(const std::vector<Listening>& all) {
  for (const Listening& each : all) close(each.fd);
}

// A port that nobody has; of an earlier server's if `was_used`: its connection has just ended.
int port_for_test(bool was_used) {
  const auto server = bind_to("127.0.0.1", 0, SOCK_STREAM);
  EXPECT_TRUE(server.ok()) << server.status();
  const int port = server->front().port;
  EXPECT_TRUE(start_listening(server->front(), 8).ok());
  if (was_used) {
    const int client = socket_to(port);
    int accepted = -1;
    while ((accepted = accept(server->front().fd, nullptr, nullptr)) < 0) sched_yield();
    close(accepted);  // the server is the first: its end stays for a minute
    char byte = 0;
    EXPECT_EQ(read(client, &byte, 1), 0);
    close(client);
  }
  close_all(*server);
  return port;
}

TEST(Sockets, APortIsClaimedBeforeItListens) {
  for (const bool was_used : {false, true}) {
    const int port = port_for_test(was_used);
    const auto first = bind_to("127.0.0.1", port, SOCK_STREAM);
    ASSERT_TRUE(first.ok()) << first.status();
    EXPECT_FALSE(another_can_bind(port, SOCK_STREAM)) << was_used;
    EXPECT_FALSE(bind_to("127.0.0.1", port, SOCK_STREAM).ok()) << was_used;
    EXPECT_EQ(socket_to(port), -1) << "clients are refused until it serves";
    ASSERT_TRUE(start_listening(first->front(), 8).ok()) << was_used;
    const int client = socket_to(port);
    EXPECT_NE(client, -1);
    EXPECT_FALSE(another_can_bind(port, SOCK_STREAM)) << was_used;
    close(client);
    close_all(*first);
  }
}

TEST(Sockets, APortOfDatagramsIsOneServers) {
  const auto first = bind_to("127.0.0.1", 0, SOCK_DGRAM);
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_FALSE(bind_to("127.0.0.1", first->front().port, SOCK_DGRAM).ok());
  EXPECT_FALSE(another_can_bind(first->front().port, SOCK_DGRAM));
  close_all(*first);
}

// Where /etc/hosts has a name twice, or -l two names of one address.
TEST(Sockets, AnAddressThatIsNamedTwiceIsBoundOnce) {
  const int port = port_for_test(/*was_used=*/false);
  const auto all = bind_to("127.0.0.1,127.0.0.1", port, SOCK_STREAM);
  ASSERT_TRUE(all.ok()) << all.status();
  EXPECT_EQ(all->size(), 1u);
  EXPECT_TRUE(start_listening(all->front(), 8).ok());
  close_all(*all);
}

TEST(Sockets, AFileThatAnotherServerHasTakenStays) {
  const TempDir folder("/tmp");
  const std::string path = folder.file("s");
  auto first = listen_on_unix(path, 0700, 8);
  ASSERT_TRUE(first.ok()) << first.status();
  auto file = std::make_unique<SocketFile>(path);
  std::filesystem::remove(path);
  const auto second = listen_on_unix(path, 0700, 8);
  ASSERT_TRUE(second.ok()) << second.status();
  auto second_file = std::make_unique<SocketFile>(path);
  file.reset();
  EXPECT_TRUE(std::filesystem::exists(path));
  second_file.reset();
  EXPECT_FALSE(std::filesystem::exists(path));
  close(first->fd);
  close(second->fd);
}

TEST(Sockets, AServerThatAnswersNobodyKeepsItsUnixSocket) {
  const TempDir folder("/tmp");
  const std::string path = folder.file("s");
  const auto stopped = listen_on_unix(path, 0700, 0);
  ASSERT_TRUE(stopped.ok()) << stopped.status();
  std::vector<int> waiting;
  for (int i = 0; i < 4; ++i) {  // until its queue is full
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, path.size());
    waiting.push_back(socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    (void)connect(waiting.back(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
  }
  alarm(60);
  const auto refused = listen_on_unix(path, 0700, 8);
  alarm(0);
  EXPECT_EQ(refused.status().code(), StatusCode::kUnavailable) << refused.status();
  EXPECT_TRUE(std::filesystem::exists(path));
  for (const int each : waiting) close(each);
  close(stopped->fd);
  // It has ended now, as if killed.
  const auto next = listen_on_unix(path, 0700, 8);
  EXPECT_TRUE(next.ok()) << next.status();
  close(next->fd);
}

}  // namespace
}  // namespace nvcache::server
