// What *Hybrid Cache* (ATC '21) says in numbers: its text and tables, for its bars
// have none. Constants.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace nvcache::hybrid_cache {

struct PaperFact {
  std::string_view id;
  std::string_view where;  // in *Hybrid Cache*
  std::string_view value;  // as printed
  std::string_view what;
};

std::span<const PaperFact> paper_facts();

// The value of a fact; the program ends if there is no such id.
std::string_view paper_value(std::string_view id);
double paper_number(std::string_view id);

}  // namespace nvcache::hybrid_cache
