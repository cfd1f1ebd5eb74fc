// The requests of section 4 of *NVMcached* (APSys '16), remade: mixes of its Table
// 1, with sizes and locality from experiments/workload/kv_traces.txt, and the Zipfian mixes of
// Figure 4. Everything follows from a seed. A trace is immutable; a stream is caller-locked.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/prng.h"
#include "experiments/workload/zipfian.h"
#include "kv_store/api/config.h"
#include "nvcache/status_or.h"

namespace nvcache::nvmcached {

// A group of the table has 80 descriptors of 16 bytes for 56 items.
inline constexpr uint64_t kTableBytesPerItem = 23;

struct Trace {
  std::string name;
  double get = 0;  // shares that sum to 100, or nearly
  double set = 0;
  double del = 0;
  uint32_t key_bytes = 0;
  uint32_t value_least_bytes = 0;
  double value_scale_bytes = 0;
  double value_shape = 0;
  uint32_t value_most_bytes = 0;
  uint64_t keys = 0;
  double fill = 0;
  double theta = 0;
  double absent = 0;
  double del_live = 0;

  uint32_t value_bytes(uint64_t key) const;  // the same at every SET of the key
  double mean_item_bytes() const;            // as it lies in a zone
  double mean_stored_bytes() const;          // and its share of the table
  uint64_t keys_in(uint64_t cache_bytes) const;
  // The share of the time for which a key is there, given its SETs and DELETEs.
  double presence() const;
};

// INVALID_ARGUMENT names the line, what was given and what is allowed.
[[nodiscard]] StatusOr<std::vector<Trace>> parse_traces(std::string_view text);

// experiments/workload/kv_traces.txt, put into the binary by cmake/embed.cmake.
std::string_view kv_traces_text();

// The specification, without its medium, of a store for the trace, as section 4 compares them:
// `durability` tells its systems apart.
std::string store_spec(std::string_view durability, uint64_t size_bytes, const Trace& trace);
// Its configuration, with the paper's rule of cleaning, which no specification gives.
[[nodiscard]] StatusOr<KvConfig> store_config(std::string_view durability, uint64_t size_bytes,
                                              const Trace& trace);

// Zipfian GETs and SETs over `keys` of 10 bytes (Figure 4).
Trace mixed_trace(uint32_t value_bytes, double get_percent, double fill);

struct Request {
  enum Kind : uint8_t { kGet, kSet, kDelete } kind = kGet;
  uint64_t key = 0;  // kAbsent and more: a key that is never set
  uint32_t value_bytes = 0;

  static constexpr uint64_t kAbsent = uint64_t{1} << 40;
};

// Writes a key of key_bytes (10 to 250) to `to`.
void write_key(uint64_t key, uint32_t key_bytes, char* to);

// One request of the trace. `unit()` draws from [0, 1) and `next_key()` a key: the kind of request,
// its key, and whether that is there, in this order.
template <typename Unit, typename NextKey>
Request draw_request(const Trace& trace, const Unit& unit, const NextKey& next_key) {
  const double choice = unit() * (trace.get + trace.set + trace.del);
  Request request{.key = next_key()};
  double absent = 0;
  if (choice < trace.get) {
    absent = trace.absent;
  } else if (choice < trace.get + trace.set) {
    request.kind = Request::kSet;
    request.value_bytes = trace.value_bytes(request.key);
  } else {
    request.kind = Request::kDelete;
    absent = 1 - trace.del_live;
  }
  if (absent > 0 && unit() < absent) request.key += Request::kAbsent;
  return request;
}

// Which keys are there before the first request, and the order in which they come there: all keys,
// independent of their popularity. Immutable.
class LoadedKeys {
 public:
  LoadedKeys(const Trace& trace, uint64_t keys, uint64_t seed);

  bool contains(uint64_t key) const;
  uint64_t in_order(uint64_t number) const;

 private:
  const double presence_;
  const uint64_t keys_;
  const uint64_t seed_;
  uint64_t stride_;
};

class RequestStream {
 public:
  RequestStream(const Trace& trace, uint64_t keys, uint64_t seed);

  Request next();
  const LoadedKeys& loaded() const { return loaded_; }
  uint64_t keys() const { return keys_; }

 private:
  const Trace trace_;
  const uint64_t keys_;
  const LoadedKeys loaded_;
  Zipfian zipfian_;
  Prng prng_;
};

}  // namespace nvcache::nvmcached
