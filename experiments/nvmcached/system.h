// The four systems of section 4 of *NVMcached*: the same store, told apart by its
// durability. A System is one of them on a medium, with the costs of its requests:
//
//   processor time   of a store on plain DRAM, measured while nothing is emulated
//   waits            of a second store on the emulated medium, which gets the same
//                    requests, under a clock that adds them up (cost_clock.h)
//
// The cost of the system is their sum. MC-DRAM has no second store.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/nvmcached/cost_clock.h"
#include "experiments/workload/kv_trace.h"
#include "nlohmann/json_fwd.hpp"
#include "nvcache/kv_store.h"
#include "nvcache/status_or.h"

namespace nvcache::nvmcached {

struct Kind {
  std::string_view name;        // as in *NVMcached*
  std::string_view durability;  // of the store
  bool on_dram = false;         // whatever the medium of the others
};

// MC-DRAM, MC-NVM, MC-NVLRU, NVMcached.
std::span<const Kind> kinds();
const Kind& find_kind(std::string_view name);
inline constexpr std::string_view kMcDram = "MC-DRAM";
inline constexpr std::string_view kMcNvm = "MC-NVM";
inline constexpr std::string_view kNvmcached = "NVMcached";

// A key's value: filled once, cut to length; the first bytes say which key
// and which version it is.
class Values {
 public:
  explicit Values(uint32_t most_bytes);
  ByteView make(uint64_t key, uint32_t version, uint32_t size_bytes);
  // Whether a value is that of the key and version, as far as its length can tell.
  static bool is(ByteView value, uint64_t key, uint32_t version);

 private:
  std::vector<std::byte> bytes_;
};

// Caller-locked.
class System {
 public:
  [[nodiscard]] static StatusOr<std::unique_ptr<System>> open(const Kind& kind,
                                                              const std::string& medium,
                                                              uint64_t size_bytes,
                                                              const Trace& trace);

  const Kind& kind() const { return kind_; }
  void load(const RequestStream& stream);
  // Starts counting from here.
  void start();
  void run(std::span<const Request> requests);

  // {"ops_per_second", "ns_per_op", "cpu_ns_per_op", "waited_ns_per_op", "hit_ratio",
  //  "lines_per_op", "drains_per_op", "written_bytes_per_op", "write_cache_hits_per_op"}
  nlohmann::json metrics() const;
  // Values that belonged to another key; must be 0.
  uint64_t wrong() const { return wrong_; }

 private:
  System(const Kind& kind, const Trace& trace);
  void run_on(KvStore& store, std::span<const Request> requests, uint64_t each_ns);
  const KvStore& counted() const { return emulated_ != nullptr ? *emulated_ : *timed_; }

  const Kind& kind_;
  const Trace trace_;
  CostClock clock_;  // before the store, which uses it to its end
  std::unique_ptr<KvStore> timed_;
  std::unique_ptr<KvStore> emulated_;
  Values values_;
  std::vector<char> keys_;
  std::vector<std::byte> read_;
  KvStats before_;
  uint64_t requests_ = 0;
  uint64_t cpu_ns_ = 0;
  uint64_t waited_ns_ = 0;
  uint64_t wrong_ = 0;
};

}  // namespace nvcache::nvmcached
