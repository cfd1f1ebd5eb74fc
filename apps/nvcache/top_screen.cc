#include "apps/nvcache/top_screen.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>

#include "apps/nvcache/top_report.h"
#include "base/print.h"

namespace nvcache {
namespace {

constexpr const char* kEnter = "\033[?1049h\033[?25l";  // the second screen, no cursor
constexpr const char* kLeave = "\033[?25h\033[?1049l";
constexpr const char* kHome = "\033[H";
constexpr const char* kEndOfLine = "\033[K";
constexpr const char* kBelow = "\033[J";

}  // namespace

TopScreen::TopScreen() {
  print_to(stdout, "{}", kEnter);
  std::fflush(stdout);
}

TopScreen::~TopScreen() {
  print_to(stdout, "{}", kLeave);
  std::fflush(stdout);
}

ScreenSize TopScreen::size() {
  winsize window = {};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) != 0 || window.ws_col == 0 ||
      window.ws_row == 0) {
    return {};
  }
  return {.columns = window.ws_col, .rows = window.ws_row};
}

void TopScreen::draw(const std::vector<std::string>& lines, const ScreenSize& size) {
  std::string text = kHome;
  const bool fits = lines.size() <= size.rows;
  const size_t shown = fits ? lines.size() : size.rows - 1;
  for (size_t i = 0; i < shown; ++i) {
    text += fitted(lines[i], size.columns) + kEndOfLine;
    if (i + 1 < size.rows) text += "\r\n";
  }
  if (!fits) {
    const std::string more = fmt::format("... {} more lines", lines.size() - shown);
    text += fitted(more, size.columns) + kEndOfLine;
  }
  if (shown < size.rows && fits) text += kBelow;
  print_to(stdout, "{}", text);
  std::fflush(stdout);
}

}  // namespace nvcache
