#include "apps/command/machine.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <array>
#include <ctime>
#include <fstream>
#include <string>
#include <thread>

#include "nlohmann/json.hpp"

namespace nvcache {
namespace {

std::string cpu_model() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("model name")) continue;
    const size_t colon = line.find(": ");
    if (colon != std::string::npos) return line.substr(colon + 2);
  }
  return "";
}

}  // namespace

nlohmann::json machine_facts() {
  nlohmann::json facts;
  if (std::string model = cpu_model(); !model.empty()) facts["cpu"] = model;
  facts["cores"] = std::thread::hardware_concurrency();
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  const long page_bytes = ::sysconf(_SC_PAGESIZE);
  if (pages > 0 && page_bytes > 0) {
    facts["memory_bytes"] = static_cast<uint64_t>(pages) * static_cast<uint64_t>(page_bytes);
  }
  utsname names = {};
  if (::uname(&names) == 0) {
    facts["kernel"] = std::string(names.sysname) + " " + names.release + " " + names.machine;
  }
  return facts;
}

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts = {};
  ::gmtime_r(&now, &parts);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text.data();
}

}  // namespace nvcache
