// The one factor by which the sizes and times of *Writes Hurt* are scaled down. Constants.
#pragma once

#include <cstdint>

namespace nvcache::writes_hurt {

inline constexpr uint64_t kSizeFactor = 256;  // bytes and rows
inline constexpr uint64_t kTimeFactor = 60;   // 60 minutes become 60 seconds
inline constexpr uint32_t kThreadFactor = 4;  // threads, rounded up ...
inline constexpr uint32_t kMaxThreads = 8;    // ... and the most of a kind

// A "GB" of *Writes Hurt* is 2^30 bytes here: 252 GB are 1008 MiB.
constexpr uint64_t scaled_bytes(double paper_gb) {
  return static_cast<uint64_t>(paper_gb * static_cast<double>(uint64_t{1} << 30)) / kSizeFactor;
}

// Records of YCSB's database: 1000 bytes, and 60 with its key, on disk.
constexpr uint64_t scaled_records(double dataset_gb) { return scaled_bytes(dataset_gb) / 1060; }

constexpr uint32_t scaled_threads(uint32_t paper_threads) {
  const uint32_t threads = (paper_threads + kThreadFactor - 1) / kThreadFactor;
  return threads > kMaxThreads ? kMaxThreads : threads;
}

// A period of *Writes Hurt* in whole seconds, at least one.
constexpr uint32_t scaled_seconds(uint32_t paper_seconds) {
  const uint32_t seconds = paper_seconds / static_cast<uint32_t>(kTimeFactor);
  return seconds == 0 ? 1 : seconds;
}

inline constexpr double kNvcacheGb = 252;  // of Figures 4 to 6
inline constexpr double kTable1NvcacheGb = 64;
inline constexpr double kSmallDramGb = 16;       // of Figure 4
inline constexpr double kLargeDramGb = 32;       // of Figures 6 and 7
inline constexpr double kNvramCostRatio = 0.38;  // per byte, to DRAM (section 4.2)

}  // namespace nvcache::writes_hurt
