#include "apps/command/progress.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "base/print.h"
#include "fmt/format.h"

namespace nvcache {
namespace {

constexpr uint64_t kTerminalPeriodNs = 200'000'000;
constexpr uint64_t kPlainPeriodNs = 5'000'000'000;
constexpr size_t kTerminalColumns = 99;

}  // namespace

Progress::Progress(const Clock& clock)
    : clock_(clock), terminal_(::isatty(STDERR_FILENO) != 0), last_ns_(clock.now_ns()) {}

Progress::~Progress() { erase_line(); }

void Progress::erase_line() {
  if (!line_open_) return;
  print_to(stderr, "\r\033[K");
  line_open_ = false;
}

void Progress::update(std::string_view line) {
  const uint64_t now = clock_.now_ns();
  if (now - last_ns_ < (terminal_ ? kTerminalPeriodNs : kPlainPeriodNs)) return;
  last_ns_ = now;
  if (terminal_) {
    print_to(stderr, "\r\033[K{}", line.substr(0, kTerminalColumns));
    line_open_ = true;
  } else {
    print_to(stderr, "{}\n", line);
  }
  std::fflush(stderr);
}

void Progress::update(double share, std::string_view what) {
  constexpr int kBarColumns = 20;
  share = std::clamp(share, 0.0, 1.0);
  const auto full = static_cast<size_t>(share * kBarColumns);
  update(fmt::format("[{}{}] {:3.0f}% {}", std::string(full, '#'),
                     std::string(kBarColumns - full, '.'), share * 100, what));
}

void Progress::say(std::string_view line) {
  erase_line();
  print_to(stderr, "{}\n", line);
  std::fflush(stderr);
}

}  // namespace nvcache
