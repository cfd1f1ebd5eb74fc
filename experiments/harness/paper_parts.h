// The commands of a paper's evaluation share this: its figures and tables, and their documents.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "nlohmann/json.hpp"
#include "nvcache/status.h"

namespace nvcache {

// The figures or tables that are asked for. Caller-locked.
class PaperParts {
 public:
  PaperParts(int first, int last) : first_(first), last_(last) {}

  // `option` is "--figures" or "--tables"; `text` its help.
  void define(CLI::App& app, const char* option, const std::string& text);
  bool given() const { return !given_.empty(); }
  // Those that were given, or all. INVALID_ARGUMENT names one that the paper does not have.
  [[nodiscard]] Status take(bool all, std::set<int>* chosen) const;

 private:
  const int first_;
  const int last_;
  std::string option_;
  std::vector<int> given_;
};

// Sets what a shorter run has instead of the default, unless the option was given.
template <typename T>
void set_unless_given(const CLI::App& app, const char* option, T& value, T shorter) {
  if (app.count(option) == 0) value = shorter;
}

// Finds a mistake in --medium before anything is loaded: tiers may be opened lazily.
[[nodiscard]] Status check_medium(const std::string& medium);

// The head of a document of kind "paper" that reports show: its format, and what runs did.
//
//   setup{}           what was asked for, the scale, media, notes
//   configurations[]  name, what, spec, medium, emulated
//   runs[]            workload, variant, configuration, round, and what was measured, or "error"
//   figures[]         see apps/report/figure_parts.h
nlohmann::json paper_document(const char* format, const std::string& command);

// "; EMULATED emulated:optane", or "; on dram": the medium of a document's setup{}, behind a title.
std::string on_medium(const nlohmann::json& setup);

// The figures and tables of a paper that a document shows: those that its setup{} asks for, and
// that have rows. Caller-locked.
class PaperFigures {
 public:
  // REQUIRES: `setup` outlives it.
  explicit PaperFigures(const nlohmann::json& setup) : setup_(setup) {}

  // `id` begins with the paper's name for it: "Figure 9b, P50".
  void add(const std::string& id, const std::string& title, const char* unit, int digits,
           bool chart, nlohmann::json columns, nlohmann::json rows,
           const std::vector<std::string>& notes);
  nlohmann::json take() { return std::move(figures_); }

 private:
  const nlohmann::json& setup_;
  nlohmann::json figures_ = nlohmann::json::array();
};

}  // namespace nvcache
