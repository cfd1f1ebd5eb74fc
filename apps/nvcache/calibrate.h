// Measures how much concurrent writes hurt the reads of a medium, and derives the target of the
// overhead-bypass ratio (OBP) that suits it: *Writes Hurt* (SoCC '22), section 3.2.3.
//
// A point is one measurement: `readers` threads read blocks at random while `writers` threads
// write blocks at random, for point_ns after a warm-up. Each thread has its own extent and one
// block in flight. Throughput counts the accesses that end within the measurement; a GB/s is 1e9
// bytes per second.
//
// The same code runs in real time and, for emulated media, under a VirtualClock. There the threads
// take turns and the result is deterministic. Thread-safe for different media.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "medium/medium.h"
#include "nlohmann/json.hpp"
#include "nvcache/status_or.h"

namespace nvcache {

struct CalibrationOptions {
  uint32_t readers = 8;      // as in Fig. 2 of *Writes Hurt*
  uint32_t max_writers = 8;  // points: 0, 1, 2, 4, ... and max_writers itself
  uint32_t block_bytes = 16 << 10;
  // Length of a point. 0: on a virtual clock 2000 times the time of one read by one thread, within
  // 10 ms and 1 s; on a real clock 1 s.
  uint64_t point_ns = 0;
  uint64_t seed = 1;
  // Called before each step with what comes next; an error stops the run.
  std::function<Status(const std::string& step)> progress = nullptr;
};

struct CalibrationPoint {
  uint32_t writers = 0;
  double read_gb_s = 0;        // all readers together
  double write_gb_s = 0;       // all writers together
  double read_latency_ns = 0;  // mean of one block read, queueing included
  uint64_t reads = 0;          // accesses counted
  uint64_t writes = 0;
};

struct CalibrationResult {
  std::string medium;
  bool emulated = false;
  bool virtual_time = false;
  uint32_t readers = 0;
  uint32_t block_bytes = 0;
  std::vector<CalibrationPoint> points;  // ascending by writers
  double suggested_obp_target = 0;
  std::vector<std::string> notes;  // what a reader of the figures must know
};

// Overwrites the medium. INVALID_ARGUMENT when the medium has no room for a block
// per thread, a block does not suit its granularity, or virtual time is asked of a
// medium that does not charge it; otherwise what the medium or progress returned.
[[nodiscard]] StatusOr<CalibrationResult> calibrate(Medium& medium, Clock& clock,
                                                    const CalibrationOptions& options);

// The share of its read throughput that a medium must keep under writes: with 5/8
// the DIMMs of *Writes Hurt* come out at the 10% that its section 3.2.3 found best. It is
// the one constant that measurement does not give; docs/design/model.md derives it.
inline constexpr double kKeptReadShare = 0.625;
inline constexpr double kLowestObpTarget = 0.01;
inline constexpr double kHighestObpTarget = 1.0;

// The OBP target: bytes written per byte read, T/R, where writes have brought reads
// down to kKeptReadShare of R(0). Between two measured points T is interpolated
// linearly and R log-linearly, both against the share of time that the additional writer writes.
// If reads never fall that low, kHighestObpTarget: writes need no throttling.
double suggest_obp_target(const std::vector<CalibrationPoint>& points);

// At most 80 columns wide.
std::string calibration_table(const CalibrationResult& result);
std::string calibration_chart(const CalibrationResult& result);
nlohmann::json calibration_json(const CalibrationResult& result);

}  // namespace nvcache
