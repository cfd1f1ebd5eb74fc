// Samples of Prometheus' text format, one a line: name{label="value",...} value [time]. Bytes from
// outside: a line that is none is told as null. Stateless; copies the labels alone.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "nvcache/function_ref.h"

namespace nvcache {

struct PrometheusSample {
  std::string_view name;  // into the text
  std::map<std::string, std::string, std::less<>> labels;
  double value = 0;
};

// Calls visit(&sample) for each sample in the text's order, and visit(nullptr) for each line that
// is none. Comments and empty lines are passed over.
void for_each_sample(std::string_view text, FunctionRef<void(const PrometheusSample*)> visit);

}  // namespace nvcache
