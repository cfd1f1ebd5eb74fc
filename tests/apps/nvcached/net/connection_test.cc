// Connections in a worker's event loop: what a slow or a greedy client does to itself and to
// others. The test chooses when the transport is full or empty.
#include "apps/nvcached/net/connection.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <future>

#include "apps/nvcached/memory_store.h"
#include "apps/nvcached/net/worker.h"
#include "gtest/gtest.h"

namespace nvcache::server {
namespace {

constexpr auto kLong = std::chrono::seconds(120);
constexpr size_t kValueBytes = 300'000;  // one answer exceeds what may be pending

std::string take(Output& output) {
  const std::string text = output.text();
  output.consume(text.size());
  return text;
}

// Receives from a socket. Sends through a function that returns what write() would.
class ScriptedTransport final : public Transport {
 public:
  using Write = std::function<ssize_t(Output&)>;
  ScriptedTransport(int fd, Write write) : fd_(fd), write_(std::move(write)) {}
  ~ScriptedTransport() override { close(fd_); }
  ssize_t read(char* to, size_t bytes) override {
    const ssize_t got = recv(fd_, to, bytes, 0);
    if (got > 0) return got;
    return got < 0 && errno == EAGAIN ? kWouldBlock : kClosed;
  }
  ssize_t write(Output& output) override { return write_(output); }

 private:
  const int fd_;
  const Write write_;
};

class ConnectionTest : public testing::Test {
 protected:
  ConnectionTest() {
    (void)service_.items().store("big", std::string(kValueBytes, 'x'), {});
    EXPECT_TRUE(worker_.start().ok());
  }

  // Returns the client's end of a connection on which `request` was sent.
  int connect(std::string_view requests, ScriptedTransport::Write write) {
    int ends[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    EXPECT_EQ(send(ends[0], requests.data(), requests.size(), 0),
              static_cast<ssize_t>(requests.size()));
    fcntl(ends[1], F_SETFL, O_NONBLOCK);
    worker_.adopt(ends[1], std::make_unique<ScriptedTransport>(ends[1], std::move(write)), "test",
                  "here");
    return ends[0];
  }

  static uint32_t now_s() { return 1'700'000'000; }

  MemoryStore store_{now_s};
  Service service_{store_, Settings(), now_s, now_s};
  Worker worker_{service_};
};

std::string repeated(std::string_view text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

// The reader makes room between two attempts to send. By then the connection has decided to wait,
// and no pending output will wake it.
TEST_F(ConnectionTest, ReaderThatMakesRoomWhileTheConnectionDecidesToWait) {
  constexpr int kRequests = 50;
  const std::string record =
      "VALUE big 0 300000\r\n" + std::string(kValueBytes, 'x') + "\r\nEND\r\n";
  std::string got;
  bool full = false;
  std::promise<void> all;
  const int client = connect(repeated("get big\r\n", kRequests), [&](Output& output) -> ssize_t {
    full = !full;
    if (full) return Transport::kWouldBlock;
    const std::string text = take(output);
    got += text;
    if (got.size() == kRequests * record.size()) all.set_value();
    return static_cast<ssize_t>(text.size());
  });
  const auto done = all.get_future().wait_for(kLong);
  worker_.stop();
  close(client);
  ASSERT_EQ(done, std::future_status::ready) << "stuck after " << got.size() / record.size();
  EXPECT_EQ(got, repeated(record, kRequests));
}

// A client with thousands of requests is answered in turns. Another client, whose request was there
// when the first answer went out, does not wait for all of them.
TEST_F(ConnectionTest, OthersAreServedBesideAClientThatAsksForMuch) {
  const auto gets = [&] { return service_.totals()[static_cast<size_t>(Count::kCmdGet)]; };
  for (const std::string_view request : {"get big\r\n", "get none\r\n"}) {
    std::promise<void> begun;
    std::promise<void> other_is_there;
    std::promise<void> end;
    bool first = true;
    uint64_t gets_before = 0;
    const auto greedy_write = [&](Output& output) -> ssize_t {
      if (first) {
        gets_before = gets();
        begun.set_value();
        other_is_there.get_future().wait();
      }
      first = false;
      const size_t bytes = output.size();
      output.consume(bytes);
      return static_cast<ssize_t>(bytes);
    };
    const int greedy = connect("get big\r\n" + repeated(request, 4000), greedy_write);
    begun.get_future().wait();
    uint64_t gets_meanwhile = 0;
    const int other = connect("mn\r\n", [&](Output& output) -> ssize_t {
      gets_meanwhile = gets() - gets_before;
      end.set_value();
      return static_cast<ssize_t>(take(output).size());
    });
    other_is_there.set_value();
    ASSERT_EQ(end.get_future().wait_for(kLong), std::future_status::ready);
    EXPECT_LE(gets_meanwhile, 100) << "of the greedy client, " << request;
    close(greedy);
    close(other);
    while (service_.connections().current != 0) usleep(1000);
  }
}

TEST_F(ConnectionTest, HalfClosedClientGetsItsAnswers) {
  std::string got;
  std::promise<void> all;
  int refusals = 3;
  const int client = connect("mn\r\n", [&](Output& output) -> ssize_t {
    if (refusals-- > 0) return Transport::kWouldBlock;
    const std::string text = take(output);
    got += text;
    if (got.ends_with("MN\r\n")) all.set_value();
    return static_cast<ssize_t>(text.size());
  });
  shutdown(client, SHUT_WR);
  EXPECT_EQ(all.get_future().wait_for(kLong), std::future_status::ready) << got.size();
  worker_.stop();
  close(client);
}

// Without memory for one client's request, that client goes. The others are served, and nothing of
// it stays: not the values it was about to be sent, not its share of the buffers.
TEST_F(ConnectionTest, AClientWithoutMemoryGoesAndTheOthersStay) {
  store_.have_no_memory_for("poison");
  const auto takes_all = [](Output& output) { return static_cast<ssize_t>(take(output).size()); };
  std::promise<void> answered;
  std::promise<void> answered_again;
  int answers = 0;
  const int other = connect("mn\r\n", [&](Output& output) -> ssize_t {
    (answers++ == 0 ? answered : answered_again).set_value();
    return static_cast<ssize_t>(take(output).size());
  });
  ASSERT_EQ(answered.get_future().wait_for(kLong), std::future_status::ready);
  for (int i = 0; i < 3; ++i) {
    const int client = connect("get big poison\r\n", takes_all);
    char byte;
    EXPECT_EQ(recv(client, &byte, 1, 0), 0) << "it was not closed";
    close(client);
  }
  EXPECT_EQ(send(other, "mn\r\n", 4, 0), 4);
  EXPECT_EQ(answered_again.get_future().wait_for(kLong), std::future_status::ready);
  while (service_.connections().current != 1) usleep(1000);
  worker_.stop();
  EXPECT_EQ(store_.held(), 0u);
  EXPECT_EQ(service_.pins().used(), 0u);
  close(other);
}

// As TLS does, takes more from the socket than it was asked to read: the bytes of `rest`.
class BufferingTransport final : public Transport {
 public:
  BufferingTransport(int fd, std::string rest, std::string* got, std::promise<void>* rest_is_read)
      : fd_(fd), rest_(std::move(rest)), got_(*got), rest_is_read_(*rest_is_read) {}
  ~BufferingTransport() override { close(fd_); }
  ssize_t read(char* to, size_t bytes) override {
    if (!buffered()) {
      const ssize_t got = recv(fd_, to, bytes, 0);
      received_ |= got > 0;
      return got > 0 ? got : got < 0 && errno == EAGAIN ? kWouldBlock : kClosed;
    }
    const size_t part = rest_.copy(to, bytes);
    rest_.erase(0, part);
    if (rest_.empty()) rest_is_read_.set_value();
    return static_cast<ssize_t>(part);
  }
  ssize_t write(Output& output) override {
    const std::string text = take(output);
    got_ += text;
    return static_cast<ssize_t>(text.size());
  }
  bool buffered() const override { return received_ && !rest_.empty(); }

 private:
  const int fd_;
  std::string rest_;
  std::string& got_;
  std::promise<void>& rest_is_read_;
  bool received_ = false;
};

// It gives way to others before the watch command, so that it comes there when it may send again.
TEST_F(ConnectionTest, WhatAWatcherSendsIsDroppedAlsoIfItWasReceivedBefore) {
  const int before = Settings().requests_per_turn + 1;
  const std::string requests = repeated("mn\r\n", before) + "watch evictions\r\n";
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  ASSERT_EQ(send(ends[0], requests.data(), requests.size(), 0),
            static_cast<ssize_t>(requests.size()));
  fcntl(ends[1], F_SETFL, O_NONBLOCK);
  std::string got;
  std::promise<void> rest_is_read;
  auto transport = std::make_unique<BufferingTransport>(ends[1], "mn\r\n", &got, &rest_is_read);
  worker_.adopt(ends[1], std::move(transport), "test", "here");
  EXPECT_EQ(rest_is_read.get_future().wait_for(kLong), std::future_status::ready);
  worker_.stop();
  EXPECT_EQ(got, repeated("MN\r\n", before) + "OK\r\n");
  close(ends[0]);
}

// A client that reads a part of an answer at a time, as fast as the test lets it.
class PartialSends : public ConnectionTest {
 protected:
  // Sends at most so much, then asks to be called again.
  ScriptedTransport::Write in_parts(size_t bytes) {
    return [this, bytes, again = false](Output& output) mutable -> ssize_t {
      again = !again;
      if (!again || stopped_) return Transport::kWouldBlock;
      const std::string text = output.text().substr(0, bytes);
      output.consume(text.size());
      got_ += text;
      if (got_.ends_with("MN\r\n")) all_.set_value();
      return static_cast<ssize_t>(text.size());
    };
  }
  uint64_t copied() const { return service_.totals()[static_cast<size_t>(Count::kCopiedBytes)]; }
  void expect_all() {
    EXPECT_EQ(all_.get_future().wait_for(kLong), std::future_status::ready) << got_.size();
    worker_.stop();
    EXPECT_EQ(
        got_,
        repeated("VALUE big 0 300000\r\n" + std::string(kValueBytes, 'x') + "\r\nEND\r\n", 3) +
            "MN\r\n");
    EXPECT_EQ(service_.pins().used(), 0u);
    EXPECT_EQ(service_.buffers().used(), 0u);
    EXPECT_EQ(store_.held(), 0u);
  }

  std::atomic<bool> stopped_{false};
  std::string got_;
  std::promise<void> all_;
};

TEST_F(PartialSends, CopyNoLargeValues) {
  const int client = connect(repeated("get big\r\n", 3) + "mn\r\n", in_parts(70'000));
  expect_all();
  EXPECT_EQ(copied(), 0u);
  close(client);
}

TEST_F(PartialSends, CopyThemWhereTheServerHasManyAlready) {
  ASSERT_TRUE(service_.pins().take(service_.pins().most() - 1));
  const int client = connect(repeated("get big\r\n", 3) + "mn\r\n", in_parts(70'000));
  all_.get_future().wait();
  worker_.stop();
  EXPECT_GT(copied(), 0u);
  EXPECT_LT(copied(), 3 * kValueBytes);
  EXPECT_EQ(service_.pins().used(), service_.pins().most() - 1);
  close(client);
}

TEST_F(PartialSends, CopyThemOnceTheClientStopsReading) {
  stopped_ = true;
  const int client = connect(repeated("get big\r\n", 3) + "mn\r\n", in_parts(70'000));
  while (service_.pins().used() == 0 && copied() == 0) usleep(1000);
  while (service_.pins().used() != 0 || copied() == 0) usleep(1000);
  EXPECT_EQ(store_.held(), 0u);
  EXPECT_GE(service_.buffers().used(), kValueBytes);
  stopped_ = false;
  expect_all();
  close(client);
}

TEST_F(PartialSends, CloseAStalledClientWhereThereIsNoMemoryForACopy) {
  stopped_ = true;
  const int client = connect(repeated("get big\r\n", 3) + "mn\r\n", in_parts(70'000));
  while (service_.pins().used() == 0) usleep(1000);
  // The connection may take its share between a look at the rest and the attempt to take it.
  Budget& buffers = service_.buffers();
  while (buffers.used() < buffers.most()) {
    (void)buffers.take_last(buffers.most() - buffers.used());
  }
  char byte;
  EXPECT_EQ(recv(client, &byte, 1, 0), 0);
  EXPECT_EQ(service_.totals()[static_cast<size_t>(Count::kBufferKicks)], 1u);
  while (service_.connections().current != 0) usleep(1000);
  EXPECT_EQ(service_.pins().used(), 0u);
  EXPECT_EQ(store_.held(), 0u);
  close(client);
}

// A connection may take more, ahead of another's end, than that one gives back.
TEST_F(ConnectionTest, WhoDoesNotReadIsClosedUntilTheBuffersAreWithinTheirLimit) {
  const int client = connect("get big\r\n", [](Output&) { return Transport::kWouldBlock; });
  Budget& buffers = service_.buffers();
  while (buffers.used() == 0) usleep(1000);
  ASSERT_TRUE(buffers.take_last(buffers.most() - buffers.used()));
  const timeval limit = {.tv_sec = kLong.count(), .tv_usec = 0};
  setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  char byte;
  EXPECT_EQ(recv(client, &byte, 1, 0), 0) << "it was not closed";
  EXPECT_EQ(service_.totals()[static_cast<size_t>(Count::kBufferKicks)], 1u);
  close(client);
}

}  // namespace
}  // namespace nvcache::server
