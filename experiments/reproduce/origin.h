// Our numbers from the runs of one form: real engines, or their simulation. Both name their runs
// alike, so that a formula is written once.
//
//   Hybrid Cache   workload "whatsapp", variant "32-256" (the server), configuration "dram_first"
//   Writes Hurt    of YCSB: workload "c"; variant "dram-32", or "split-32" in Figure 8 (GB of
//   DRAM);
//                  configuration "none", "nvcache-64" (GB of NVRAM), ...
//                  in-house: "evict-btree", "small" or "large", "eager", ...
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/reproduce/evidence.h"
#include "experiments/reproduce/rows.h"

namespace nvcache::reproduce {

struct Setup {
  std::string variant;
  std::string configuration;
};

// Value type; the evidence must outlive it.
class Origin {
 public:
  Origin(const Evidence& evidence, std::string_view format)
      : evidence_(evidence), format_(format) {}

  bool simulated() const;

  // Medians over the rounds of all documents, empty if no run has them: of `metric`; of that of
  // `one` over that of `other` in the same round; of their difference.
  std::optional<double> value(std::string_view workload, const Setup& setup,
                              const char* metric) const;
  std::optional<double> ratio(std::string_view workload, const Setup& one, const Setup& other,
                              const char* metric) const;
  std::optional<double> difference(std::string_view workload, const Setup& one, const Setup& other,
                                   const char* metric) const;

  // A finding of this form; `more` is said after its conditions.
  Finding finding(Ours ours, const std::string& more = "") const;
  // The same of a number, if there is one: `in` makes it a gain or a loss.
  using In = double (*)(double);
  std::optional<Finding> finding_of(std::optional<double> value, In in,
                                    const std::string& more = "") const;

 private:
  template <typename Combine>
  std::optional<double> pairs(std::string_view workload, const Setup& one, const Setup& other,
                              const char* metric, Combine combine) const;

  const Evidence& evidence_;
  std::string_view format_;
};

inline double as_is(double value) { return value; }
inline double as_percent(double share) { return 100 * share; }
inline double as_gain(double ratio) { return 100 * (ratio - 1); }
inline double as_loss(double ratio) { return 100 * (1 - ratio); }

// For each form that the evidence may have, in order: the first that finds something decides.
using Find = std::function<std::optional<Finding>(const Origin&)>;
std::vector<Finder> of_forms(std::initializer_list<std::string_view> formats, const Find& find);

// The least and the greatest of values that are there.
std::optional<Span> span_of(const std::vector<std::optional<double>>& values);
double mean_of(const std::vector<double>& values);
// Those that are there.
std::vector<double> present(const std::vector<std::optional<double>>& values);

}  // namespace nvcache::reproduce
