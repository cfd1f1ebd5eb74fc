#include "experiments/writes_hurt/wtperf.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <optional>

#include "base/text.h"
#include "experiments/harness/find_file.h"

namespace nvcache::writes_hurt {
namespace {

std::optional<uint64_t> leading_number(std::string_view text) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return std::nullopt;
  return value;
}

// "NUMBER WORD rest" behind `prefix`; false where the line is another.
bool read_count(std::string_view line, std::string_view prefix, uint64_t* count,
                std::string_view* word) {
  if (!line.starts_with(prefix)) return false;
  line.remove_prefix(prefix.size());
  const auto [number, rest] = split_once(line, ' ');
  const auto value = leading_number(number);
  if (!value) return false;
  *count = *value;
  *word = split_once(rest, ' ').first;
  return true;
}

// The operations of "N inserts, N modifies, N reads, ... in 1 secs (7 total secs)".
std::optional<double> ops_of_interval(std::string_view line) {
  const size_t end = line.find(" in ");
  if (end == std::string_view::npos || line.find(" total secs)") == std::string_view::npos ||
      line.find(" reads, ") == std::string_view::npos) {
    return std::nullopt;
  }
  const auto seconds = leading_number(line.substr(end + 4));
  if (!seconds || *seconds == 0) return std::nullopt;
  uint64_t sum = 0;
  std::string_view counts = line.substr(0, end);
  while (!counts.empty()) {
    const auto [count, rest] = split_once(counts, ',');
    const auto [number, type] = split_once(strip(count), ' ');
    if (type == "inserts" || type == "modifies" || type == "reads" || type == "updates") {
      sum += leading_number(number).value_or(0);
    }
    counts = rest;
  }
  return static_cast<double>(sum) / static_cast<double>(*seconds);
}

void read_line(std::string_view line, WtperfResult& result) {
  uint64_t count = 0;
  std::string_view word;
  if (read_count(line, "Executed ", &count, &word)) {
    if (word == "checkpoint") {
      result.checkpoints = count;
    } else if (word == "scan") {
      result.scans = count;
    } else if (word == "insert" || word == "modify" || word == "read" || word == "update") {
      result.ops[std::string(word)] = count;
    }
  } else if (read_count(line, "Run completed: ", &count, &word) && word == "seconds") {
    result.seconds = static_cast<double>(count);
  } else if (const auto ops = ops_of_interval(line)) {
    result.series.push_back(*ops);
  }
}

}  // namespace

double WtperfResult::ops_per_second(const std::string& type) const {
  const auto found = ops.find(type);
  return found == ops.end() || seconds == 0 ? 0 : static_cast<double>(found->second) / seconds;
}

StatusOr<WtperfResult> parse_wtperf_stat(std::string_view text) {
  WtperfResult result;
  while (!text.empty()) {
    const auto [line, rest] = split_once(text, '\n');
    read_line(line, result);
    text = rest;
  }
  if (result.seconds == 0 || result.ops.size() != 4) {
    return internal_error("wtperf's test.stat does not say that a run was completed");
  }
  return result;
}

StatusOr<Tools> find_tools(const std::string& wtperf, const std::string& extension) {
  const std::string here = program_folder();
  const std::string root = NVCACHE_WIREDTIGER_ROOT;
  Tools tools;
  std::vector<std::string> places{here + "/wtperf"};
  if (!wtperf.empty()) places = {wtperf};
  if (wtperf.empty() && !root.empty()) {
    places.push_back(root + "/bench/wtperf/wtperf");
    places.push_back(root + "/bin/wtperf");
  }
  auto found = first_file("wtperf (of WiredTiger's build)", "--wtperf", places);
  if (!found.ok()) return found.status();
  tools.wtperf = *found;
  if (extension != "none") {
    const std::string name = "libnvcache_wiredtiger.so";
    places = {here + "/" + name, here + "/../engines/wiredtiger/" + name, here + "/../lib/" + name,
              here + "/../lib/nvcache/" + name};
    if (!extension.empty()) places = {extension};
    found = first_file(name, "--extension", places);
    if (!found.ok()) return found.status();
    tools.extension = *found;
  }
  const std::string snappy = "/ext/compressors/snappy/libwiredtiger_snappy.so";
  const std::string build = std::filesystem::path(tools.wtperf).parent_path().string() + "/../..";
  std::vector<std::string> snappy_places{build + snappy, here + "/../lib/libwiredtiger_snappy.so"};
  if (!root.empty()) snappy_places.push_back(root + snappy);
  found = first_file("snappy", "", snappy_places);
  if (found.ok()) tools.snappy = *found;
  return tools;
}

}  // namespace nvcache::writes_hurt
