// The settings of a server that requests and statistics depend on. A plain struct, a part of what
// nvcached_options.h fills.
#pragma once

#include <cstdint>
#include <string>

namespace nvcache::server {

struct Settings {
  std::string version = "nvcache";
  int port = 11211;
  int udp_port = 0;
  int metrics_port = 0;  // 0: none
  std::string listen;    // addresses, separated by commas; empty: all
  std::string unix_socket;
  uint32_t unix_mask = 0700;
  int threads = 4;
  int max_connections = 1024;
  int backlog = 1024;
  int requests_per_turn = 20;
  uint64_t memory_bytes = 64ull << 20;
  uint64_t max_item_bytes = 1ull << 20;
  uint64_t buffer_bytes = 256ull << 20;  // of all connections together
  uint32_t idle_timeout_s = 0;           // 0: none
  bool cas_enabled = true;
  bool flush_enabled = true;
  bool shutdown_command = false;
  bool dump_enabled = true;
  bool watch_enabled = true;
  int watcher_buffer_kib = 256;  // lines that wait for one watcher
  bool detail = false;
  char prefix_delimiter = ':';
  int verbosity = 0;
  enum class Binding : uint8_t { kAuto, kText, kBinary } binding = Binding::kAuto;
  std::string auth_file;
  bool sasl = false;  // binary clients authenticate, too, by a user of auth_file
  bool tls = false;
  std::string tls_certificate;
  std::string tls_key;
  std::string tls_ca;
  std::string tls_ciphers;
  int tls_verify = 0;       // 0 none, 1 request, 2 require
  int tls_min_version = 2;  // 0 to 3: 1.0 to 1.3
  unsigned hint_bits = 17;  // slots of the table behind h, l and W, as a power of two
  std::string store;        // specification of the store, for `stats settings`

  friend bool operator==(const Settings&, const Settings&) = default;
};

}  // namespace nvcache::server
