#include "experiments/writes_hurt/wtperf.h"

#include <filesystem>
#include <regex>

#include "base/text.h"
#include "experiments/harness/child_process.h"

namespace nvcache::writes_hurt {
namespace {

// The lines of test.stat that say what a run did. A number has 15 digits at most.
struct Patterns {
  std::regex executed{R"(^Executed (\d{1,15}) (\w+) operation)"};
  std::regex completed{R"(^Run completed: (\d{1,15}) seconds)"};
  std::regex interval{R"( reads, .* in (\d{1,15}) secs \(\d+ total secs\))"};
  std::regex count{R"((\d{1,15}) (?:inserts|modifies|reads|updates)\b)"};
};

void read_line(const std::string& line, const Patterns& patterns, WtperfResult& result) {
  std::smatch found;
  if (std::regex_search(line, found, patterns.executed)) {
    result.counts[found[2]] = std::stoull(found[1]);
  } else if (std::regex_search(line, found, patterns.completed)) {
    result.seconds = std::stod(found[1]);
  } else if (std::regex_search(line, found, patterns.interval) && std::stod(found[1]) > 0) {
    double operations = 0;
    for (std::sregex_iterator each(line.begin(), line.end(), patterns.count), end; each != end;
         ++each) {
      operations += std::stod((*each)[1]);
    }
    result.series.push_back(operations / std::stod(found[1]));
  }
}

}  // namespace

uint64_t WtperfResult::count(const std::string& type) const {
  const auto found = counts.find(type);
  return found == counts.end() ? 0 : found->second;
}

double WtperfResult::ops_per_second(const std::string& type) const {
  return seconds == 0 ? 0 : static_cast<double>(count(type)) / seconds;
}

StatusOr<WtperfResult> parse_wtperf_stat(std::string_view text) {
  const Patterns patterns;
  WtperfResult result;
  while (!text.empty()) {
    const auto [line, rest] = split_once(text, '\n');
    read_line(std::string(line), patterns, result);
    text = rest;
  }
  for (const char* type : {"insert", "modify", "read", "update"}) {
    if (result.seconds > 0 && result.counts.contains(type)) continue;
    return internal_error("wtperf's test.stat does not say that a run was completed");
  }
  return result;
}

StatusOr<Tools> find_tools(const std::string& wtperf, const std::string& extension) {
  const std::string here = program_folder();
  const std::string root = NVCACHE_WIREDTIGER_ROOT;
  const auto find = [](const char* what, const char* option, const std::string& given,
                       std::vector<std::string> places) {
    if (!given.empty()) places = {given};
    return first_file(what, option, places);
  };
  Tools tools;
  std::vector<std::string> places{here + "/wtperf"};
  if (!root.empty()) {
    places.push_back(root + "/bench/wtperf/wtperf");
    places.push_back(root + "/bin/wtperf");
  }
  auto found = find("wtperf (of WiredTiger's build)", "--wtperf", wtperf, places);
  if (!found.ok()) return found.status();
  tools.wtperf = *found;
  if (extension != "none") {
    const std::string name = "/libnvcache_wiredtiger.so";
    found = find(name.c_str() + 1, "--extension", extension,
                 {here + name, here + "/../engines/wiredtiger" + name, here + "/../lib" + name,
                  here + "/../lib/nvcache" + name});
    if (!found.ok()) return found.status();
    tools.extension = *found;
  }
  const std::string snappy = "/ext/compressors/snappy/libwiredtiger_snappy.so";
  const std::string build = std::filesystem::path(tools.wtperf).parent_path().string() + "/../..";
  places = {build + snappy, here + "/../lib/libwiredtiger_snappy.so"};
  if (!root.empty()) places.push_back(root + snappy);
  found = first_file("snappy", "", places);
  if (found.ok()) tools.snappy = *found;
  return tools;
}

}  // namespace nvcache::writes_hurt
