#include "apps/nvcache/stats_source.h"

#include <sys/stat.h>

#include <cerrno>
#include <ctime>
#include <optional>
#include <utility>

#include "apps/nvcache/http_get.h"
#include "base/errno_status.h"
#include "base/files.h"
#include "base/text.h"

namespace nvcache {
namespace {

constexpr uint64_t kMostFileBytes = 16 << 20;
constexpr const char* kMetricsPath = "/metrics";
constexpr const char* kStatusPath = "/status.json";

double seconds_of(const timespec& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

Status named(const std::string& source, const Status& status) {
  return Status(status.code(), fmt::format("{}: {}", source, status.message()));
}

Status explained(const std::string& path, int error) {
  const Status status = errno_status(error, path);
  if (error != ENOENT) return status;
  return Status(status.code(),
                fmt::format("{}; a program writes it once its cache was used, or at its end "
                            "(docs/guide/configuration.md, Watch it)",
                            status.message()));
}

StatusOr<std::string> contents(const std::string& path, double* written_seconds) {
  struct stat now = {};
  if (::stat(path.c_str(), &now) != 0) return explained(path, errno);
  for (;;) {
    const struct stat before = now;
    if (S_ISDIR(before.st_mode)) return errno_status(EISDIR, path);
    if (!S_ISREG(before.st_mode)) return failed_precondition_error(path + ": not a file");
    if (static_cast<uint64_t>(before.st_size) > kMostFileBytes) {
      return failed_precondition_error(
          fmt::format("{}: {} bytes; allowed: {}", path, before.st_size, kMostFileBytes));
    }
    std::optional<std::string> text = read_file(path, kMostFileBytes);
    if (!text || ::stat(path.c_str(), &now) != 0) return explained(path, errno);
    // Else it was renamed to here, or written, in between: which of the two was read?
    if (now.st_ino == before.st_ino && seconds_of(now.st_mtim) == seconds_of(before.st_mtim)) {
      *written_seconds = seconds_of(now.st_mtim);
      return *std::move(text);
    }
  }
}

// The address of the metrics port that `source` is of, without a path; empty if it is another page.
std::string port_of(const std::string& source) {
  const size_t slash = source.find('/', kHttpScheme.size());
  const std::string path = slash == std::string::npos ? "" : source.substr(slash);
  return path.empty() || path == "/" || path == kMetricsPath ? source.substr(0, slash) : "";
}

// A port that serves no statistics may be that of an nvcached that starts: this says so.
Status told_by_server(const std::string& port, const Status& error) {
  if (error.code() == StatusCode::kUnavailable) return error;  // it did not answer
  const StatusOr<std::string> text = http_get(port + kStatusPath);
  if (!text.ok()) return error;
  const StatusOr<PrefixTable> table = parse_server_status(*text);
  return !table.ok() && table.status().code() == StatusCode::kUnavailable ? table.status() : error;
}

void read_prefixes(const std::string& port, StatsReading* reading) {
  const StatusOr<std::string> text = http_get(port + kStatusPath);
  if (!text.ok()) return;  // an older one has none
  StatusOr<PrefixTable> table = parse_server_status(*text);
  if (table.ok()) reading->prefixes = *std::move(table);
}

}  // namespace

double unix_seconds() {
  timespec now = {};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return seconds_of(now);
}

StatusOr<StatsReading> read_stats(const std::string& source) {
  StatsReading reading;
  reading.is_live = source.starts_with(kHttpScheme);
  reading.written_seconds = unix_seconds();
  const std::string port = reading.is_live ? port_of(source) : "";
  StatusOr<std::string> text = !port.empty()     ? http_get(port + kMetricsPath)
                               : reading.is_live ? http_get(source)
                                                 : contents(source, &reading.written_seconds);
  if (!text.ok() && !port.empty()) return named(source, told_by_server(port, text.status()));
  if (!text.ok()) return reading.is_live ? named(source, text.status()) : text.status();
  StatusOr<StatsSnapshot> snapshot = parse_stats(*text);
  if (!snapshot.ok()) return named(source, snapshot.status());
  reading.snapshot = *std::move(snapshot);
  if (!port.empty() && reading.snapshot.kind == StatsKind::kServer) read_prefixes(port, &reading);
  return reading;
}

}  // namespace nvcache
