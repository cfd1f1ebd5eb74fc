// A line on a terminal that says how far a long run is, with a bar. The next one overwrites it.
// Elsewhere a line every ten seconds. Caller-locked.
#pragma once

#include <string_view>

#include "base/clock.h"

namespace nvcache {

class ProgressLine {
 public:
  // `clock` must outlive this.
  explicit ProgressLine(const Clock& clock);
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  // `share`: from 0 to 1. Cheap enough to call at any rate.
  void show(double share, std::string_view what);
  // Removes the line, so that something else can be printed.
  void clear();

 private:
  const Clock& clock_;
  const bool terminal_;
  bool shown_ = false;
  uint64_t next_ns_;
};

}  // namespace nvcache
