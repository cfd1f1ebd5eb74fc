// A memcached-compatible server under test. It runs on a free port of the loopback interface, with
// one worker thread on one core.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "nvcache/status_or.h"

namespace nvcache::bench {

// Caller-locked.
class ServerProcess {
 public:
  // Runs `command` with `-l 127.0.0.1 -p -1` appended, on processor `cpu`. Reads the port from the
  // file that MEMCACHED_PORT_FILENAME names, which lies in `folder`.
  [[nodiscard]] static StatusOr<ServerProcess> start(std::vector<std::string> command,
                                                     const std::string& folder, int cpu);
  ServerProcess(ServerProcess&& other) noexcept;
  ServerProcess& operator=(ServerProcess&&) = delete;
  ~ServerProcess();  // kill_now()

  uint16_t port() const { return port_; }

  // User and system time of all its threads so far.
  uint64_t cpu_ns() const;
  // Resident anonymous memory. Pages of mapped files do not count: the system can drop them.
  uint64_t anonymous_bytes() const;
  uint64_t resident_bytes() const;

  // Sends SIGKILL and waits for the end.
  void kill_now();

 private:
  ServerProcess(pid_t pid, uint16_t port) : pid_(pid), port_(port) {}
  uint64_t status_bytes(const std::string& name) const;

  pid_t pid_;
  uint16_t port_;
};

}  // namespace nvcache::bench
