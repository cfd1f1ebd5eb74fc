// A key-value cache as a simulation sees it: the real KvStore, with the durability of one of the
// four systems of *NVMcached*, in memory that costs what the model of the NVRAM says (MC-DRAM: of
// DRAM). N clients ask one after the other, on M cores.
//
//   real        all of the store: table, log of zones, cleaning, write cache, flushes, drains
//   modelled    the time of memory and of flushes (medium/cost_model.h), and the processor's, which
//               is a constant for each kind of request
//   left out    network and protocol; locks that clients wait for: a request changes the store at
//               once, at the time at which its part in the store begins
//
// The NVRAM is the cache (*NVMcached*: 64 GB), and what the trace fills of it is there when the run
// begins. Caller-locked.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/simulate/engine_model.h"
#include "experiments/simulate/event_clock.h"
#include "experiments/simulate/kv_keys.h"
#include "experiments/simulate/store_memory.h"
#include "experiments/workload/kv_trace.h"
#include "nvcache/kv_store.h"
#include "nvcache/status.h"
#include "nvcache/status_or.h"

namespace nvcache::simulate {

class MemcachedModel final : public EngineModel {
 public:
  [[nodiscard]] static StatusOr<std::unique_ptr<EngineModel>> open(const World& world);

  std::vector<Task> tasks() override;
  void count(Result* result) const override;
  Lookups lookups() const override;

 private:
  MemcachedModel(const World& world, const nvmcached::Trace& trace);

  void load();
  Task client(uint32_t number);
  // Does it now; returns when it is done, with the memory.
  uint64_t carry_out(const nvmcached::Request& request);

  const World world_;
  Scheduler& time_;
  const nvmcached::Trace trace_;
  const KvKeys keys_;
  EventClock clock_;               // before the store, which uses it to its end
  StoreMemory* memory_ = nullptr;  // the store's
  std::unique_ptr<KvStore> store_;
  const std::vector<std::byte> value_;  // what is stored: cut to length
  std::string key_;
  uint64_t loaded_ns_ = 0;  // the time of the memory at which the run begins
  uint64_t loaded_read_bytes_ = 0;
  uint64_t loaded_written_bytes_ = 0;
  KvStats before_;
};

// For the row of the engine. Null: there is no such workload.
const Named* find_memcached_workload(std::string_view name);
std::vector<Named> memcached_workloads();
std::vector<Named> memcached_configurations();
[[nodiscard]] Status complete_memcached(Options* options);
StatusOr<std::unique_ptr<EngineModel>> make_memcached(const World& world);

}  // namespace nvcache::simulate
