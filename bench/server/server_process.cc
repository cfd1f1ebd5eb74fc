#include "server_process.h"

#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>
#include <utility>

#include "base/errno_status.h"
#include "base/text.h"

namespace nvcache::bench {
namespace {

constexpr int kStartSeconds = 60;

// Runs in the child, between fork and exec.
[[noreturn]] void become(const std::vector<std::string>& command, const std::string& port_file,
                         int cpu) {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  CPU_SET(cpu, &cpus);
  sched_setaffinity(0, sizeof cpus, &cpus);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  setenv("MEMCACHED_PORT_FILENAME", port_file.c_str(), 1);
  std::vector<char*> arguments;
  for (const std::string& each : command) arguments.push_back(const_cast<char*>(each.c_str()));
  arguments.push_back(nullptr);
  execv(arguments[0], arguments.data());
  _exit(127);
}

// The port; 0 until the file is there.
uint16_t read_port(const std::string& port_file) {
  std::ifstream file(port_file);
  for (std::string line; std::getline(file, line);) {
    constexpr std::string_view kName = "TCP INET: ";
    if (line.starts_with(kName)) {
      return static_cast<uint16_t>(std::atoi(line.c_str() + kName.size()));
    }
  }
  return 0;
}

}  // namespace

StatusOr<ServerProcess> ServerProcess::start(std::vector<std::string> command,
                                             const std::string& folder, int cpu) {
  const std::string port_file = folder + "/port";
  std::filesystem::remove(port_file);
  for (const char* option : {"-l", "127.0.0.1", "-p", "-1", "-t", "1"}) command.push_back(option);
  if (geteuid() == 0) command.insert(command.end(), {"-u", "root"});
  const pid_t pid = fork();
  if (pid < 0) return errno_status(errno, "fork");
  if (pid == 0) become(command, port_file, cpu);
  ServerProcess server(pid, 0);
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(kStartSeconds);
  while ((server.port_ = read_port(port_file)) == 0) {
    if (int status = 0; waitpid(pid, &status, WNOHANG) == pid) {
      server.pid_ = 0;
      return invalid_argument("{} ended during its start (status {})", command[0], status);
    }
    if (std::chrono::steady_clock::now() > end) {
      return invalid_argument("{} did not listen within {} s", command[0], kStartSeconds);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return server;
}

ServerProcess::ServerProcess(ServerProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, 0)), port_(other.port_) {}

ServerProcess::~ServerProcess() { kill_now(); }

void ServerProcess::kill_now() {
  if (pid_ == 0) return;
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
  pid_ = 0;
}

uint64_t ServerProcess::cpu_ns() const {
  uint64_t sum_ns = 0;
  std::error_code error;
  const std::string tasks = fmt::format("/proc/{}/task", pid_);
  for (const auto& task : std::filesystem::directory_iterator(tasks, error)) {
    std::ifstream file(task.path() / "schedstat");
    uint64_t on_cpu_ns = 0;
    if (file >> on_cpu_ns) sum_ns += on_cpu_ns;
  }
  return sum_ns;
}

uint64_t ServerProcess::status_bytes(const std::string& name) const {
  std::ifstream file(fmt::format("/proc/{}/status", pid_));
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(name))
      return std::strtoull(line.c_str() + name.size(), nullptr, 10) * 1024;
  }
  return 0;
}

uint64_t ServerProcess::anonymous_bytes() const { return status_bytes("RssAnon:"); }
uint64_t ServerProcess::resident_bytes() const { return status_bytes("VmRSS:"); }

}  // namespace nvcache::bench
