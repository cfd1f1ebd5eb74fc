// What `nvcache top` shows of one source, in numbers: of all time, and of the time between two
// readings. Derived from two snapshots; a reading that the statistics lack is left out rather than
// shown as 0. Stateless but for Watched, which keeps three readings. Caller-locked.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apps/nvcache/stats_source.h"

namespace nvcache {

// A total, and how fast it grew between the last two readings.
struct Flow {
  std::optional<double> total;
  std::optional<double> per_second;
};

// One cache, tier, store or server.
struct PartFigures {
  std::string name;
  StatsGroup group;                     // all that was read
  std::optional<double> hit_ratio;      // of all time
  std::optional<double> hit_ratio_now;  // between the last two readings
  Flow lookups;
  Flow hits;
  Flow inserts;
  Flow evictions;
  Flow read_bytes;
  Flow written_bytes;
  std::map<std::string, Flow> refused;  // by reason; only reasons that were given
  std::optional<double> used_bytes;
  std::optional<double> size_bytes;

  std::optional<double> mean_written_per_second;  // since the first reading, or the start
  std::optional<double> budget_bytes_per_second;  // write_budget(RATE)
  std::optional<double> days_left;                // until --drive-writes are written
  std::vector<std::string> notes;                 // what is not well, or under way
};

// How long requests of one command took.
struct LatencyFigures {
  std::string command;     // "get"
  bool is_recent = false;  // between the last two readings; else of all time
  double samples = 0;
  std::optional<double> half_seconds;  // half of them took at most this; infinity beyond 1 s
  std::optional<double> most_seconds;  // 99 of 100; nothing where there are too few
};

// The keys of one prefix.
struct PrefixFigures {
  std::string prefix;
  double share = 0;  // of all requests
  std::optional<double> hit_ratio;
};

struct TopFigures {
  std::string source;
  StatsKind kind = StatsKind::kBlockCache;
  double age_seconds = 0;
  std::optional<double> interval_seconds;  // between the last two readings
  PartFigures whole;
  std::vector<PartFigures> tiers;
  StatsGroup files;
  std::vector<LatencyFigures> latencies;  // of nvcached, as are the prefixes
  std::vector<PrefixFigures> prefixes;    // of all time, the most frequent first
  std::vector<std::string> notes;         // of the source
};

// One source, as it is watched. The program behind it may start again: then totals fall, and what
// was read before is kept for comparison alone.
class Watched {
 public:
  // `drive_writes_bytes`: what may still be written to the drive; 0: not known.
  Watched(std::string source, double drive_writes_bytes)
      : source_(std::move(source)), drive_writes_bytes_(drive_writes_bytes) {}

  // Takes a reading. One of the same time as the last adds nothing.
  void take(StatsReading reading);
  void fail(const Status& error) { error_ = std::string(error.message()); }

  bool has_reading() const { return last_.has_value(); }
  const std::string& error() const { return error_; }  // of the last reading; empty: none
  const std::string& source() const { return source_; }

  // Only with a reading.
  TopFigures figures(double now_seconds) const;

 private:
  void add_notes(TopFigures* figures) const;
  void add_requests(TopFigures* figures) const;

  const std::string source_;
  const double drive_writes_bytes_;
  std::string error_;
  std::optional<StatsReading> first_;   // since the program's start, as far as it was watched
  std::optional<StatsReading> before_;  // the last one but one
  std::optional<StatsReading> last_;
  std::optional<double> restarted_seconds_;     // when totals fell
  std::optional<double> ratio_before_restart_;  // of all time until then
};

// "write_budget(50MiB/s,...)" within an admission policy's description, in bytes a second.
std::optional<double> budget_in(std::string_view admission, double size_bytes);

// Returns a size that can be shown, however large or small a file says that it is.
uint64_t whole_bytes(double bytes);

}  // namespace nvcache
