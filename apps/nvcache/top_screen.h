// A screen of text that is drawn again and again, with plain ANSI sequences, on the terminal that
// standard output is. It takes the terminal's second screen, so that what was there comes back at
// the end. Owned by one thread; one at a time.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace nvcache {

struct ScreenSize {
  size_t columns = 80;
  size_t rows = 24;

  bool operator==(const ScreenSize&) const = default;
};

class TopScreen {
 public:
  TopScreen();
  ~TopScreen();  // gives the terminal back
  TopScreen(const TopScreen&) = delete;
  TopScreen& operator=(const TopScreen&) = delete;

  static ScreenSize size();

  // In one write, so that it does not flicker. Lines beyond the screen's size are cut; how many are
  // missing below stands in the last one.
  static void draw(const std::vector<std::string>& lines, const ScreenSize& size);
};

}  // namespace nvcache
