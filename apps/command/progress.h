// Live progress on stderr: one line updated in place on a terminal, a line every
// few seconds elsewhere. Caller-locked.
#pragma once

#include <string>
#include <string_view>

#include "base/clock.h"

namespace nvcache {

class Progress {
 public:
  // `clock` must outlive this.
  explicit Progress(const Clock& clock);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Shows the progress. Cheap enough to call at any rate.
  void update(std::string_view line);
  // The same with a bar before it; `share` is from 0 to 1.
  void update(double share, std::string_view what);
  // Prints a line that stays.
  void say(std::string_view line);

 private:
  void erase_line();

  const Clock& clock_;
  const bool terminal_;
  bool line_open_ = false;
  uint64_t last_ns_ = 0;
};

// Seconds between two instants of a clock.
inline double seconds_between(uint64_t from_ns, uint64_t to_ns) {
  return static_cast<double>(to_ns - from_ns) * 1e-9;
}

}  // namespace nvcache
