// The parts of a cache below its volume, for tests of a volume's parts.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "block_cache/index/volume.h"
#include "medium/metered.h"

namespace nvcache::test {

// An admission policy that lets all blocks in, and others leave as the test says.
class OpenDoor final : public AdmissionPolicy {
 public:
  explicit OpenDoor(const bool& may_evict) : may_evict_(may_evict) {}
  Verdict admit(const Candidate&, const Traffic&) override { return Verdict::admit(); }
  bool may_evict(const Traffic&) override { return may_evict_; }
  std::string describe() const override { return "open_door"; }

 private:
  const bool& may_evict_;
};

inline Config small_config(uint64_t size_bytes, std::string_view eviction, uint32_t shards = 1) {
  Config config;
  config.size_bytes = size_bytes;
  config.max_size_bytes = size_bytes;
  config.eviction = eviction;
  config.shards = shards;
  return config;
}

// The shards are there once they are opened on a space.
struct VolumeParts {
  VolumeParts(const Config& its_config, std::unique_ptr<Medium> its_medium, Clock& its_clock,
              bool verify = false)
      : config(its_config),
        medium(std::move(its_medium), its_clock),
        clock(its_clock),
        health(counters, its_clock),
        reader(medium, health, counters, medium.traits().reads),
        gone_files(its_clock),
        admission(std::make_unique<OpenDoor>(may_evict), counters, medium, its_clock),
        shards(config, {.verify = verify}, reader, counters) {}

  bool may_evict = true;
  const Config config;
  MeteredMedium medium;
  Clock& clock;
  Counters counters;
  MediumHealth health;
  BlockReader reader;
  GoneFiles gone_files;
  AdmissionControl admission;
  ShardSet shards;
};

}  // namespace nvcache::test
