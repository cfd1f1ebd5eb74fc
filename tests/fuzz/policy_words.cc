// Prints the words of the tables of policies and media (names, usage, examples) as entries of a
// fuzzer's dictionary.
#include <cctype>
#include <cstdio>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "medium/table.h"
#include "policy/admission/table.h"
#include "policy/eviction/table.h"
#include "policy/placement/table.h"

namespace nvcache {
namespace {

bool in_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

void add_words(std::string_view text, std::set<std::string>* words) {
  std::string word;
  for (const char c : text) {
    if (in_word(c)) {
      word += c;
    } else if (!word.empty()) {
      words->insert(std::exchange(word, {}));
    }
  }
  if (!word.empty()) words->insert(word);
}

template <typename Table>
void add_table(const Table& table, std::set<std::string>* words) {
  for (const auto& row : table) {
    words->emplace(row.example);
    add_words(row.usage, words);
  }
}

}  // namespace
}  // namespace nvcache

int main() {
  std::set<std::string> words;
  nvcache::add_table(nvcache::kAdmissionPolicies, &words);
  nvcache::add_table(nvcache::kEvictionPolicies, &words);
  nvcache::add_table(nvcache::kPlacementPolicies, &words);
  for (const nvcache::MediumRow& row : nvcache::kMedia) {
    for (const std::string_view example : row.examples) words.emplace(example);
    nvcache::add_words(nvcache::usage_of(row), &words);
  }
  for (const std::string& word : words) std::printf("\"%s\"\n", word.c_str());
  return 0;
}
