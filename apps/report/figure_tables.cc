#include "apps/report/figure_tables.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/text.h"
#include "nlohmann/json.hpp"

namespace nvcache::figures {
namespace {

using nlohmann::json;

constexpr size_t kColumns = 100;
constexpr size_t kNoteColumns = 96;

// Large numbers need no decimals.
std::string number_text(double value, int digits) {
  if (std::abs(value) >= 1000) digits = 0;
  std::string text = fmt::format("{:.{}f}", value, digits);
  if (text.find_first_not_of("-0.") == std::string::npos && text.front() == '-') text.erase(0, 1);
  return text;
}

std::string measured_text(const json& cell, int digits) {
  if (cell.contains("text")) return cell["text"].get<std::string>();
  if (!cell.contains("median")) return "-";
  const std::string median = number_text(cell["median"].get<double>(), digits);
  const std::string low = number_text(cell["min"].get<double>(), digits);
  const std::string high = number_text(cell["max"].get<double>(), digits);
  return low == high ? median : fmt::format("{} [{}..{}]", median, low, high);
}

std::vector<std::string> wrapped(std::string_view text, size_t width) {
  std::vector<std::string> lines(1);
  while (!text.empty()) {
    const auto [word, rest] = split_once(text, ' ');
    if (!lines.back().empty() && lines.back().size() + 1 + word.size() > width) {
      lines.emplace_back();
    }
    if (!lines.back().empty()) lines.back() += ' ';
    lines.back() += word;
    text = rest;
  }
  return lines;
}

// A figure's texts: the first column holds the labels.
using Grid = std::vector<std::vector<std::string>>;

Grid grid_of(const json& figure) {
  const int digits = figure.at("digits").get<int>();
  Grid columns(1, {""});
  for (const json& name : figure.at("columns")) columns.push_back({name.get<std::string>()});
  for (const json& row : figure.at("rows")) {
    columns[0].push_back(row.at("label").get<std::string>());
    for (size_t i = 1; i < columns.size(); ++i) {
      columns[i].push_back(cell_text(row.at("cells").at(i - 1), digits));
    }
  }
  return columns;
}

size_t width_of(const std::vector<std::string>& column) {
  size_t width = 0;
  for (const std::string& text : column) width = std::max(width, text.size());
  return width;
}

// As many columns side by side as fit, then the others below.
void append_grid(const Grid& columns, std::string& text) {
  for (size_t first = 1; first < columns.size();) {
    size_t width = width_of(columns[0]);
    size_t last = first;
    while (last < columns.size() &&
           (last == first || width + 2 + width_of(columns[last]) <= kColumns)) {
      width += 2 + width_of(columns[last++]);
    }
    if (first > 1) text += "\n";
    for (size_t row = 0; row < columns[0].size(); ++row) {
      std::string line = fmt::format("{:<{}}", columns[0][row], width_of(columns[0]));
      for (size_t i = first; i < last; ++i) {
        line += fmt::format("  {:>{}}", columns[i][row], width_of(columns[i]));
      }
      text += line + "\n";
    }
    first = last;
  }
}

void append_figure(const json& figure, std::string& text) {
  const auto unit = figure.at("unit").get<std::string>();
  const std::string title =
      fmt::format("{}: {}{}", figure.at("id").get<std::string>(),
                  figure.at("title").get<std::string>(), unit.empty() ? "" : " [" + unit + "]");
  text += "\n";
  for (const std::string& line : wrapped(title, kColumns)) text += line + "\n";
  append_grid(grid_of(figure), text);
  for (const json& note : figure.at("notes")) {
    const char* sign = "* ";
    for (const std::string& line : wrapped(note.get<std::string>(), kNoteColumns)) {
      text += sign + line + "\n";
      sign = "  ";
    }
  }
}

void append_setup(const json& document, std::string& text) {
  const json& setup = document.at("setup");
  const int rounds = setup.at("rounds").get<int>();
  text += fmt::format(
      "\nMedian [least..most] of {} round{} | as published. Sizes are the published ones / {}.\n",
      rounds, rounds == 1 ? "" : "s", setup.at("size_factor").get<int>());
  if (!document.at("runs").empty() && setup.at("seconds").get<double>() == 0) {
    text += fmt::format("{}: {}.\n", setup.value("runs_name", ""), setup.value("runs_text", ""));
  } else if (!document.at("runs").empty()) {
    text +=
        fmt::format("{}: {:g} s measured after {:g} s of warm-up.\n",
                    setup.value("runs_name", "In-house workloads"),
                    setup.at("seconds").get<double>(), setup.at("warmup_seconds").get<double>());
  }
  if (setup.value("ycsb_seconds", 0.0) > 0) {
    text += fmt::format("YCSB: {:g} s measured after {:g} s of warm-up.\n",
                        setup.at("ycsb_seconds").get<double>(),
                        setup.at("ycsb_warmup_seconds").get<double>());
  }
  if (setup.at("emulated").get<bool>()) {
    const std::string notice = fmt::format(
        "nvcache's medium {} is EMULATED: its latency and bandwidth come from a model "
        "(docs/design/model.md), not from such hardware in this machine.",
        setup.at("medium").get<std::string>());
    for (const std::string& line : wrapped(notice, kColumns)) text += line + "\n";
  }
  for (const json& note : setup.at("notes")) {
    for (const std::string& line : wrapped(note.get<std::string>(), kColumns)) text += line + "\n";
  }
}

void append_failures(const json& document, std::string& text) {
  for (const json& run : document.at("runs")) {
    if (!run.contains("error")) continue;
    text += fmt::format("FAILED: {} {} {} round {}: {}\n", run.at("workload").get<std::string>(),
                        run.at("variant").get<std::string>(),
                        run.at("configuration").get<std::string>(), run.at("round").get<int>(),
                        run.at("error").get<std::string>());
  }
}

}  // namespace

std::string cell_text(const json& cell, int digits) {
  if (cell.is_null()) return "-";
  if (cell.is_string()) return cell.get<std::string>();
  std::string text = measured_text(cell, digits);
  if (cell.contains("paper")) text += " | " + cell["paper"].get<std::string>();
  return text;
}

StatusOr<std::string> figure_tables(const json& document) {
  try {
    std::string text;
    for (const json& figure : document.at("figures")) append_figure(figure, text);
    append_setup(document, text);
    append_failures(document, text);
    return text;
  } catch (const json::exception& error) {
    return invalid_argument("not a result of nvcache: {}", error.what());
  }
}

}  // namespace nvcache::figures
