// A pipelined client of memcached's text protocol. One thread keeps many requests in flight on
// several connections, so that the server is the bottleneck.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/prng.h"
#include "nvcache/status_or.h"

namespace nvcache::bench {

struct LoadOptions {
  uint64_t keys = 0;  // key number i is "k" and nine digits
  uint32_t value_bytes = 0;
  double set_share = 0;  // of requests; the others are gets
  uint32_t connections = 4;
  uint32_t depth = 32;  // requests in flight on each connection
};

struct LoadResult {
  uint64_t gets = 0;
  uint64_t hits = 0;
  uint64_t sets = 0;
  uint64_t wrong = 0;  // values that belong to another key

  uint64_t requests() const { return gets + sets; }
};

// The value of a key begins with the key and a blank; its version follows.
// Caller-locked.
class Load {
 public:
  [[nodiscard]] static StatusOr<Load> connect(uint16_t port, const LoadOptions& options,
                                              uint64_t seed);
  Load(Load&&) = default;
  Load& operator=(Load&&) = delete;
  ~Load();

  // Sends the requests of `options` for that long, at least one. Keys are drawn uniformly.
  [[nodiscard]] StatusOr<LoadResult> run(double seconds);
  // Sets every key once, in order.
  [[nodiscard]] StatusOr<LoadResult> fill();

 private:
  struct Connection {
    int socket = -1;
    std::string to_send;
    size_t sent = 0;
    std::vector<uint64_t> expected;  // requests in flight, oldest at `first`: key << 1 | is a set
    size_t first = 0;
    std::vector<char> received;
    size_t begin = 0;
    size_t end = 0;
  };

  Load(const LoadOptions& options, uint64_t seed) : options_(options), random_(seed) {}

  template <typename More>
  [[nodiscard]] StatusOr<LoadResult> exchange(More&& more);
  void add_request(Connection& connection, uint64_t key, bool set);
  [[nodiscard]] Status send_some(Connection& connection);
  [[nodiscard]] Status receive_some(Connection& connection, LoadResult* result);
  // Takes one answer off the front. False if it has not arrived whole.
  [[nodiscard]] StatusOr<bool> take_answer(Connection& connection, LoadResult* result);

  LoadOptions options_;
  Prng random_;
  std::string value_;
  std::vector<Connection> connections_;
};

}  // namespace nvcache::bench
