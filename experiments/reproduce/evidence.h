// Our numbers are taken from documents that `nvcache bench EXPERIMENT --json` wrote, and from what
// the command ran itself. Value type; caller-locked.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/report/figure_parts.h"
#include "nlohmann/json.hpp"
#include "nvcache/status.h"

namespace nvcache::reproduce {

inline constexpr std::string_view kWritesHurtFormat = "nvcache.paper/1";
inline constexpr std::string_view kHybridFormat = "nvcache.hybrid/1";
inline constexpr std::string_view kKvFormat = "nvcache.kv/1";
inline constexpr std::string_view kHybridSimulationFormat =
    "nvcache.hybrid.simulation/1";  // hybrid_simulations.h
inline constexpr std::string_view kSimulationsFormat = "nvcache.simulations/1";  // simulations.h
inline constexpr std::string_view kReproduceFormat = "nvcache.reproduce/1";

class Evidence {
 public:
  struct Document {
    std::string name;  // of its file, or what ran
    nlohmann::json json;
    bool own = false;  // this command made it
  };

  // Adds each *.json of a folder, in the order of names; of an earlier comparison, the runs that it
  // made itself. INVALID_ARGUMENT names the folder or the file: one that cannot be read, is no
  // JSON, or is no result of nvcache. Results of other kinds are left out, and named in ignored().
  [[nodiscard]] Status add_folder(const std::string& folder);
  void add(std::string name, nlohmann::json document, bool own = false);

  // Those of a format, as they were added.
  std::vector<const Document*> of(std::string_view format) const;
  bool has(std::string_view format) const { return !of(format).empty(); }
  const std::vector<Document>& documents() const { return documents_; }
  const std::vector<std::string>& ignored() const { return ignored_; }

 private:
  std::vector<Document> documents_;
  std::vector<std::string> ignored_;
};

// ---- Numbers of several documents ----

// Values of runs, document by document: `values_of(document)` of each, one after the other.
template <typename ValuesOf>
std::vector<double> collect(const Evidence& evidence, std::string_view format, ValuesOf values_of) {
  std::vector<double> all;
  for (const Evidence::Document* document : evidence.of(format)) {
    const std::vector<double> more = values_of(document->json);
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

// None of no values.
std::optional<double> median(std::vector<double> values);

// "EMULATED emulated:optane; sizes / 256": on what the documents of a format ran.
std::string conditions_of(const Evidence& evidence, std::string_view format);

}  // namespace nvcache::reproduce
