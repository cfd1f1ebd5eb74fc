// Figures of one run: a line each in the table, an object each in the JSON.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace nvcache::bench {

struct Figure {
  std::string name;
  std::string unit;
  double value = 0;  // the median of several rounds
  double low = 0;
  double high = 0;
};

// Caller-locked.
class Figures {
 public:
  explicit Figures(void (*show)(const Figure&)) : show_(show) {}

  void add(std::string name, std::string unit, double value) {
    put({std::move(name), std::move(unit), value, value, value});
  }
  // At least one round.
  void add_rounds(std::string name, std::string unit, std::vector<double> rounds) {
    std::ranges::sort(rounds);
    put({std::move(name), std::move(unit), rounds[rounds.size() / 2], rounds.front(),
         rounds.back()});
  }
  const std::vector<Figure>& all() const { return all_; }

 private:
  void put(Figure figure) {
    show_(figure);
    all_.push_back(std::move(figure));
  }
  void (*show_)(const Figure&);
  std::vector<Figure> all_;
};

}  // namespace nvcache::bench
