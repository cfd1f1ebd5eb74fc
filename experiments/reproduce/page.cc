#include "experiments/reproduce/page.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

#include "apps/report/figure_parts.h"
#include "base/text.h"
#include "experiments/harness/paper_table.h"
#include "fmt/format.h"

namespace nvcache::reproduce {
namespace {

using nlohmann::json;

constexpr size_t kColumns = 100;
constexpr double kHighSpread = 0.1;  // our choice: the text says "extremely high", without a number

struct Title {
  std::string_view paper;
  const char* name;
  const char* text;
};
constexpr Title kTitles[] = {
    {papers::kWritesHurt, "Writes Hurt",
     "*Writes Hurt* (SoCC '22), and its comparison with Memory Mode"},
    {papers::kHybridCache, "Hybrid Cache", "*Hybrid Cache* (ATC '21)"},
    {papers::kNvmcached, "NVMcached", "*NVMcached* (APSys '16)"},
};

constexpr std::string_view kRules = R"(## How a number is judged

- **within 25%**: within a quarter of the published number, or of the ends of its range. "Up to" is
  compared with our most. "Over" holds from three quarters on. The direction must hold, too.
- **direction**: the sign of the effect (a gain, a loss, more or less than 1) is the published one,
  or the order of the configurations that are compared. An effect below one point of percent, or a
  tenth of a published one that is smaller, is none.
- **not**: neither. Where the paper says "no change", up to 5 points of percent count as within 25%,
  up to 10 as direction.
- **input**: no result. *Taken*: our code was given this very number, as a point of an emulated
  medium's curve, a price or a setting. *Fitted*: a parameter was chosen so that it comes out.
- **not measured**: nothing that was given to the command has it. It counts as nothing else.

Absolute operations a second of a scaled machine are direction at best. The first source that a
number has decides, not the best one.

Sources: *parameter*, a constant of our code. *model*: calculated from the emulated media's model
([model](../design/model.md)) or from prices. *simulated*: the real block cache, or for *Hybrid
Cache* the real tiered cache, in a model of the rest of the machine, at the paper's sizes
([simulate](simulate.md)). *real*: the real caches and engines, scaled down, on emulated media where
it says so.
)";

std::string number_text(double value) {
  if (std::abs(value) >= 1000) return fmt::format("{:.0f}", value);
  std::string text = fmt::format("{:.3g}", value);
  return text == "-0" ? "0" : text;
}

std::string parts_text(const json& parts) {
  std::string text;
  for (const json& part : parts) {
    const double low = part.at(0).get<double>(), high = part.at(1).get<double>();
    if (!text.empty()) text += " / ";
    text += number_text(low);
    if (low != high) text += " to " + number_text(high);
  }
  return text;
}

std::string published_text(const json& result) {
  const json& published = result.at("published");
  return fmt::format("{} {}", published.at("value").get<std::string>(),
                     published.at("unit").get<std::string>());
}

std::string ours_text(const json& result) {
  std::string text;
  for (const json& finding : result.at("findings")) {
    if (!text.empty()) text += "; ";
    text += fmt::format("{} ({})", parts_text(finding.at("parts")),
                        finding.at("source").get<std::string>());
  }
  return text.empty() ? "-" : text;
}

std::string quantity_text(const json& result) {
  const auto condition = result.at("condition").get<std::string>();
  return fmt::format("{}{}{}; {}", result.at("quantity").get<std::string>(),
                     condition.empty() ? "" : ": ", condition,
                     result.at("where").get<std::string>());
}

std::string how_text(const json& result) {
  const json& findings = result.at("findings");
  return findings.empty() ? "" : findings[0].at("how").get<std::string>();
}

std::string cell(std::string text) {
  for (size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2) {
    text.insert(at, "\\");
  }
  return text;
}

std::vector<const json*> results_of(const json& document, std::string_view paper) {
  std::vector<const json*> found;
  for (const json& result : document.at("results")) {
    if (result.at("paper") == paper) found.push_back(&result);
  }
  return found;
}

std::string paper_section(const json& document, const Title& title) {
  const auto results = results_of(document, title.paper);
  if (results.empty()) return "";
  std::string text = fmt::format(
      "\n## {}\n\n| id | number | published | ours | verdict | why | how ours was made |\n"
      "|---|---|---|---|---|---|---|\n",
      title.text);
  for (const json* result : results) {
    text +=
        fmt::format("| {} | {} | {} | {} | {} | {} | {} |\n", result->at("id").get<std::string>(),
                    cell(quantity_text(*result)), cell(published_text(*result)),
                    cell(ours_text(*result)), result->at("verdict").get<std::string>(),
                    cell(result->at("reason").get<std::string>()), cell(how_text(*result)));
  }
  return text;
}

// How many of a paper's numbers have each verdict.
std::string counts_table(const json& document) {
  constexpr const char* kVerdicts[] = {"within 25%", "direction", "not", "input", "not measured"};
  std::string text =
      "| | numbers | within 25% | direction only | not | inputs | not measured |\n"
      "|---|---|---|---|---|---|---|\n";
  for (const Title& title : kTitles) {
    const auto results = results_of(document, title.paper);
    if (results.empty()) continue;
    text += fmt::format("| {} | {} |", title.name, results.size());
    for (const char* verdict : kVerdicts) {
      text += fmt::format(" {} |", std::count_if(results.begin(), results.end(), [&](auto* each) {
                            return each->at("verdict") == verdict;
                          }));
    }
    text += "\n";
  }
  return text;
}

// Lines that fit into a page.
std::string wrapped(std::string_view text) {
  std::string lines;
  size_t column = 0;
  while (!text.empty()) {
    const auto [word, rest] = split_once(text, ' ');
    if (column > 0 && column + 1 + word.size() > kColumns) {
      lines += '\n';
      column = 0;
    }
    if (column > 0) lines += ' ';
    lines += word;
    column += word.size() + (column > 0 ? 1 : 0);
    text = rest;
  }
  return lines + "\n";
}

// The Memory Mode text suspects bursts of writes where its throughput varies.
std::string spread_section(const json& document) {
  const json& spread = document.at("memory_mode_spread");
  if (spread.empty()) return "";
  std::string text =
      "\n## How much Memory Mode varies\n\n"
      "The Memory Mode text saw a high standard deviation with Memory Mode, the higher the more\n"
      "NVRAM; with NVCache it was low. SIMULATED: the standard deviation of the throughput over\n"
      "sixtieths of a run, in its second half, in % of the mean.\n\n"
      "| workload | NVRAM, GB | Memory Mode | nvcache |\n|---|---|---|---|\n";
  double most = 0;
  for (const json& each : spread) {
    most = std::max(most, each.at("memory_mode").get<double>());
    text +=
        fmt::format("| YCSB {} | {} | {:.1f} | {:.1f} |\n", each.at("workload").get<std::string>(),
                    each.at("nvram_gb").get<int>(), 100 * each.at("memory_mode").get<double>(),
                    100 * each.at("nvcache").get<double>());
  }
  const char* const shown = most < kHighSpread
                                ? "does not show what the text saw, and so does not answer why"
                                : "shows a spread as the text saw it";
  return text + "\n" +
         wrapped(
             fmt::format("The most with Memory Mode is {:.1f}%: the model {}.", 100 * most, shown));
}

std::string documents_text(const json& document) {
  const json& setup = document.at("setup");
  std::string text = "Made by:\n\n";
  text += fmt::format("    {}\n", document.at("command").get<std::string>());
  std::string own, others;
  for (const json& each : setup.at("documents")) {
    const auto name = each.at("name").get<std::string>();
    if (each.at("own").get<bool>()) {
      own += (own.empty() ? "" : ", ") + name;
    } else {
      const auto line =
          fmt::format("    # {}\n    {}\n", name, each.at("command").get<std::string>());
      if (others.find(line) == std::string::npos) others += line;
    }
  }
  if (!own.empty()) text += "\n" + wrapped(fmt::format("It used {}.", own));
  if (!others.empty()) text += "\nIt read the results of these runs:\n\n" + others;
  return text;
}

}  // namespace

std::string summary_line(const json& document) {
  const json& summary = document.at("summary");
  const auto count = [&](const char* name) { return summary.at(name).get<int>(); };
  return fmt::format(
      "{} of {} direction right, {} of them within 25%; {} not; {} inputs ({} taken, {} fitted); "
      "{} not measured",
      count("direction_right"), count("numbers"), count("within"), count("not"), count("inputs"),
      count("taken"), count("fitted"), count("not_measured"));
}

json tables_of(const json& document) {
  json tables = json::array();
  for (const Title& title : kTitles) {
    json table = figures::make_figure(title.name, "published numbers beside ours", "", 2, false);
    table["columns"] = {"published", "ours", "verdict"};
    for (const json* result : results_of(document, title.paper)) {
      figures::add_row(
          table, result->at("id").get<std::string>(),
          {published_text(*result), ours_text(*result), result->at("verdict").get<std::string>()});
    }
    if (!table["rows"].empty()) tables.push_back(std::move(table));
  }
  return tables;
}

std::string markdown_page(const json& document) {
  const auto only = document.at("setup").at("only").get<std::string>();
  std::string text =
      fmt::format("# The papers' numbers beside ours{}\n\n", only.empty() ? "" : " (" + only + ")");
  text += "`nvcache bench reproduce` writes this page. Do not edit it.\n\n";
  text += wrapped(fmt::format("**{}.**", summary_line(document))) + "\n";
  text += counts_table(document) + "\n" + documents_text(document) + "\n";
  text += kRules;
  for (const Title& title : kTitles) text += paper_section(document, title);
  return text + spread_section(document);
}

}  // namespace nvcache::reproduce
