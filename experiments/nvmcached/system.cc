#include "experiments/nvmcached/system.h"

#include <algorithm>
#include <cstring>

#include "base/text.h"
#include "kv_store/store/store.h"
#include "nlohmann/json.hpp"

namespace nvcache::nvmcached {
namespace {

constexpr Kind kKinds[] = {{.name = "MC-DRAM", .durability = "volatile", .on_dram = true},
                           {.name = "MC-NVM", .durability = "each"},
                           {.name = "MC-NVLRU", .durability = "each_lru"},
                           {.name = "NVMcached", .durability = "cache"}};

constexpr size_t kStampBytes = 8;

// Any part of it tells keys and versions apart, as well as its length allows.
uint64_t stamp_of(uint64_t key, uint32_t version) { return mix64(mix64(key) + version); }

// The kernel clears a page at its first touch: keep that out of the measured time.
void touch(const Medium& medium) {
  constexpr size_t kPageBytes = 4096;
  const ByteView bytes = medium.direct();
  for (size_t at = 0; at < bytes.size(); at += kPageBytes) {
    auto* byte = const_cast<volatile std::byte*>(bytes.data() + at);
    *byte = *byte;
  }
}

}  // namespace

std::span<const Kind> kinds() { return kKinds; }

const Kind& find_kind(std::string_view name) {
  return *std::find_if(std::begin(kKinds), std::end(kKinds) - 1,
                       [&](const Kind& kind) { return kind.name == name; });
}

Values::Values(uint32_t most_bytes) : bytes_(std::max<size_t>(most_bytes, kStampBytes)) {
  for (size_t i = 0; i < bytes_.size(); ++i) bytes_[i] = static_cast<std::byte>(mix64(i));
}

ByteView Values::make(uint64_t key, uint32_t version, uint32_t size_bytes) {
  const uint64_t stamp = stamp_of(key, version);
  std::memcpy(bytes_.data(), &stamp, kStampBytes);
  return {bytes_.data(), size_bytes};
}

bool Values::is(ByteView value, uint64_t key, uint32_t version) {
  const uint64_t stamp = stamp_of(key, version);
  return std::memcmp(value.data(), &stamp, std::min(value.size(), kStampBytes)) == 0;
}

System::System(const Kind& kind, const Trace& trace)
    : kind_(kind), trace_(trace), values_(trace.value_most_bytes), read_(trace.value_most_bytes) {}

StatusOr<std::unique_ptr<System>> System::open(const Kind& kind, const std::string& medium,
                                               uint64_t size_bytes, const Trace& trace) {
  std::unique_ptr<System> system(new System(kind, trace));
  const auto open_on = [&](const std::string& on) -> StatusOr<std::unique_ptr<KvStore>> {
    auto config = store_config(kind.durability, size_bytes, trace);
    if (!config.ok()) return config.status();
    config->medium = on;
    auto opened = open_kv_medium(*config, system->clock_);
    if (!opened.ok()) return opened.status();
    touch(*opened->medium);
    auto store = KvStoreImpl::make(*std::move(config), *std::move(opened));
    if (!store.ok()) return store.status();
    return std::unique_ptr<KvStore>(*std::move(store));
  };
  auto timed = open_on("dram");
  if (!timed.ok()) return timed.status();
  system->timed_ = *std::move(timed);
  if (!kind.on_dram) {
    auto emulated = open_on(medium);
    if (!emulated.ok()) return emulated.status();
    system->emulated_ = *std::move(emulated);
  }
  return system;
}

void System::load(const RequestStream& stream) {
  std::vector<Request> batch;
  for (uint64_t i = 0; i < stream.keys(); ++i) {
    const uint64_t key = stream.loaded().in_order(i);
    if (stream.loaded().contains(key)) {
      batch.push_back({.kind = Request::kSet, .key = key, .value_bytes = trace_.value_bytes(key)});
    }
    if (batch.size() < 1024 && i + 1 < stream.keys()) continue;
    run(batch);
    batch.clear();
  }
}

void System::start() {
  before_ = counted().stats();
  requests_ = cpu_ns_ = waited_ns_ = 0;
}

// Makes the keys before the time starts: clients have theirs already.
void System::run(std::span<const Request> requests) {
  const uint32_t key_bytes = trace_.key_bytes;
  keys_.resize(requests.size() * key_bytes);
  for (size_t i = 0; i < requests.size(); ++i) {
    write_key(requests[i].key, key_bytes, &keys_[i * key_bytes]);
  }
  const uint64_t start_ns = thread_cpu_ns();
  run_on(*timed_, requests, 0);
  const uint64_t took_ns = thread_cpu_ns() - start_ns;
  cpu_ns_ += took_ns;
  requests_ += requests.size();
  if (emulated_ == nullptr) return;
  const uint64_t waited_before_ns = clock_.waited_ns();
  run_on(*emulated_, requests, took_ns / std::max<uint64_t>(1, requests.size()));
  waited_ns_ += clock_.waited_ns() - waited_before_ns;
}

void System::run_on(KvStore& store, std::span<const Request> requests, uint64_t each_ns) {
  const uint32_t key_bytes = trace_.key_bytes;
  for (size_t i = 0; i < requests.size(); ++i) {
    clock_.advance(each_ns);
    const Request& request = requests[i];
    const std::string_view key(&keys_[i * key_bytes], key_bytes);
    switch (request.kind) {
      case Request::kGet:
        if (const KvItem item = store.get(key)) {
          std::memcpy(read_.data(), item.value().data(), item.value().size());
          wrong_ += !Values::is({read_.data(), item.value().size()}, request.key, 0);
        }
        break;
      case Request::kSet:
        (void)store.put(key, values_.make(request.key, 0, request.value_bytes), {});
        break;
      case Request::kDelete:
        (void)store.erase(key);
        break;
    }
  }
}

nlohmann::json System::metrics() const {
  const KvStats now = counted().stats();
  const double ops = static_cast<double>(std::max<uint64_t>(1, requests_));
  const auto per_op = [&](uint64_t KvStats::*field) {
    return static_cast<double>(now.*field - before_.*field) / ops;
  };
  const auto total_ns = static_cast<double>(cpu_ns_ + waited_ns_);
  const double gets = per_op(&KvStats::gets);
  return {{"ops_per_second", total_ns > 0 ? ops * 1e9 / total_ns : 0},
          {"ns_per_op", total_ns / ops},
          {"cpu_ns_per_op", static_cast<double>(cpu_ns_) / ops},
          {"waited_ns_per_op", static_cast<double>(waited_ns_) / ops},
          {"hit_ratio", gets > 0 ? per_op(&KvStats::hits) / gets : 0},
          {"lines_per_op", per_op(&KvStats::flushed_lines)},
          {"drains_per_op", per_op(&KvStats::drains)},
          {"written_bytes_per_op", per_op(&KvStats::medium_written_bytes)},
          {"write_cache_hits_per_op", per_op(&KvStats::write_cache_hits)},
          {"evicted_per_op", per_op(&KvStats::evicted)},
          {"relocated_bytes_per_op", per_op(&KvStats::relocated_bytes)},
          {"refused_per_op", per_op(&KvStats::refused)}};
}

}  // namespace nvcache::nvmcached
