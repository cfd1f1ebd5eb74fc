#include "device/fio.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "fmt/format.h"
#include "nlohmann/json.hpp"

namespace nvcache::bench {
namespace {

// The shell takes the text between these quotes as it is.
std::string for_the_shell(const std::string& text) {
  std::string result = "'";
  for (const char letter : text) {
    if (letter == '\'') {
      result += R"('\'')";
    } else {
      result += letter;
    }
  }
  return result + "'";
}

// The output of a command, if it ends well.
StatusOr<std::string> output_of(const std::string& command) {
  std::FILE* const pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return unavailable_error("no process for: " + command);
  std::string output;
  char buffer[4096];
  for (size_t bytes; (bytes = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) {
    output.append(buffer, bytes);
  }
  if (::pclose(pipe) != 0) return unavailable_error("failed: " + command);
  return output;
}

}  // namespace

bool has_fio() { return std::system("command -v fio > /dev/null 2>&1") == 0; }

StatusOr<double> fio_bytes_per_second(const std::string& path, uint64_t size_bytes,
                                      uint32_t in_flight) {
  // A colon separates fio's file names, unless it is escaped.
  std::string name;
  for (const char letter : path) {
    if (letter == ':' || letter == '\\') name += '\\';
    name += letter;
  }
  const StatusOr<std::string> output = output_of(fmt::format(
      "fio --name=writes --rw=write --bs=1M --direct=1 --ioengine=libaio --iodepth={} --size={} "
      "--filename={} --overwrite=1 --end_fsync=1 --output-format=json",
      in_flight, size_bytes >> 20 << 20, for_the_shell(name)));
  if (!output.ok()) return output.status();
  // Notes of fio's may come before the JSON.
  const auto result = nlohmann::json::parse(
      output->substr(std::min(output->find('{'), output->size())), nullptr, false);
  const nlohmann::json::json_pointer bytes("/jobs/0/write/io_bytes");
  const nlohmann::json::json_pointer ms("/jobs/0/job_runtime");
  if (result.is_discarded() || !result.contains(bytes) || !result.contains(ms) ||
      result[ms].get<double>() <= 0) {
    return unavailable_error("fio's output has no figure of its writes: " + *output);
  }
  return result[bytes].get<double>() / result[ms].get<double>() * 1e3;
}

}  // namespace nvcache::bench
