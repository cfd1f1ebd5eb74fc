#include "apps/command/progress_line.h"

#include <unistd.h>

#include <algorithm>
#include <string>

#include "base/print.h"

namespace nvcache {
namespace {

constexpr uint64_t kBetweenNs = 100'000'000;
constexpr uint64_t kBetweenElsewhereNs = 10'000'000'000;
constexpr int kBarColumns = 20;

}  // namespace

ProgressLine::ProgressLine(const Clock& clock)
    : clock_(clock),
      terminal_(::isatty(STDERR_FILENO) != 0),
      next_ns_(clock.now_ns() + (terminal_ ? kBetweenNs : kBetweenElsewhereNs)) {}

void ProgressLine::show(double share, std::string_view what) {
  const uint64_t now_ns = clock_.now_ns();
  if (now_ns < next_ns_) return;
  next_ns_ = now_ns + (terminal_ ? kBetweenNs : kBetweenElsewhereNs);
  share = std::clamp(share, 0.0, 1.0);
  if (!terminal_) {
    print_to(stderr, "{:3.0f}% {}\n", share * 100, what);
    return;
  }
  const int full = static_cast<int>(share * kBarColumns);
  const std::string bar = std::string(full, '#') + std::string(kBarColumns - full, '.');
  print_to(stderr, "\r\033[K[{}] {:3.0f}% {}", bar, share * 100, what.substr(0, 60));
  shown_ = true;
}

void ProgressLine::clear() {
  if (shown_) print_to(stderr, "\r\033[K");
  shown_ = false;
}

}  // namespace nvcache
