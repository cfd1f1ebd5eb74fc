#include "experiments/workload/kv_trace.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <numeric>
#include <set>

#include "base/exact_math.h"
#include "base/text.h"
#include "kv_store/format/layout.h"
#include "spec/spec.h"

namespace nvcache::nvmcached {
namespace {

constexpr uint32_t kLeastKeyBytes = 10;
constexpr uint32_t kMixedKeyBytes = 10;  // Figure 4
constexpr double kMixedTheta = kYcsbTheta;
constexpr uint64_t kSamples = 4096;

constexpr uint64_t kLeastZoneBytes = 256 << 10;  // holds two values of the longest kind
constexpr uint64_t kMostZoneBytes = 4 << 20;
constexpr uint64_t kZones = 128;

double unit(uint64_t random) { return static_cast<double>(random >> 11) * 0x1p-53; }

struct Field {
  std::string_view name;
  double least;
  double most;
  void (*set)(Trace& trace, double value);
};

constexpr std::array<Field, 13> kFields = {{
    {"get", 0, 100, [](Trace& t, double v) { t.get = v; }},
    {"set", 0, 100, [](Trace& t, double v) { t.set = v; }},
    {"del", 0, 100, [](Trace& t, double v) { t.del = v; }},
    {"key_bytes", kLeastKeyBytes, 250,
     [](Trace& t, double v) { t.key_bytes = static_cast<uint32_t>(v); }},
    {"value_least_bytes", 1, 1 << 20,
     [](Trace& t, double v) { t.value_least_bytes = static_cast<uint32_t>(v); }},
    {"value_scale_bytes", 0, 1 << 20, [](Trace& t, double v) { t.value_scale_bytes = v; }},
    {"value_shape", 0, 0.95, [](Trace& t, double v) { t.value_shape = v; }},
    {"value_most_bytes", 1, 1 << 20,
     [](Trace& t, double v) { t.value_most_bytes = static_cast<uint32_t>(v); }},
    {"keys", 0, 1e9, [](Trace& t, double v) { t.keys = static_cast<uint64_t>(v); }},
    {"fill", 0, 100, [](Trace& t, double v) { t.fill = v; }},
    {"theta", 0.01, 0.999, [](Trace& t, double v) { t.theta = v; }},
    {"absent", 0, 1, [](Trace& t, double v) { t.absent = v; }},
    {"del_live", 0, 1, [](Trace& t, double v) { t.del_live = v; }},
}};

Status bad_line(int line, std::string_view text, std::string_view allowed) {
  return invalid_argument("line {}: '{}' given; allowed: {}", line, shown(text), allowed);
}

Status set_field(int line, std::string_view text, std::set<std::string_view>& seen, Trace& trace) {
  const auto [left, right] = split_once(text, '=');
  const std::string_view name = strip(left);
  const std::string_view given = strip(right);
  for (const Field& field : kFields) {
    if (field.name != name) continue;
    double value = 0;
    const auto [end, error] = std::from_chars(given.data(), given.data() + given.size(), value);
    if (error != std::errc{} || end != given.data() + given.size() || value < field.least ||
        value > field.most) {
      return bad_line(line, text,
                      fmt::format("{} from {:g} to {:g}", name, field.least, field.most));
    }
    if (!seen.insert(field.name).second) return bad_line(line, text, "each key once");
    field.set(trace, value);
    return ok_status();
  }
  std::string names;
  for (const Field& field : kFields) {
    names += fmt::format("{}{}", names.empty() ? "" : ", ", field.name);
  }
  return bad_line(line, text, names);
}

Status check_whole(const Trace& trace, const std::set<std::string_view>& seen) {
  for (const Field& field : kFields) {
    if (!seen.contains(field.name)) {
      return invalid_argument("trace {}: {} is missing", trace.name, field.name);
    }
  }
  if (std::abs(trace.get + trace.set + trace.del - 100) > 0.1) {
    return invalid_argument("trace {}: get, set and del are {:g} together; allowed: 100",
                            trace.name, trace.get + trace.set + trace.del);
  }
  if (trace.keys == 0 && trace.fill == 0) {
    return invalid_argument("trace {}: keys or fill must be more than 0", trace.name);
  }
  if (trace.keys == 1) return invalid_argument("trace {}: keys: 1 given; allowed: 2", trace.name);
  return ok_status();
}

}  // namespace

uint32_t Trace::value_bytes(uint64_t key) const {
  if (value_scale_bytes <= 0) return std::min(value_least_bytes, value_most_bytes);
  const double left = 1 - unit(mix64(key * 2 + 1));
  const double more =
      value_shape > 0 ? (exact_pow(left, -value_shape) - 1) / value_shape : -exact_log(left);
  const double bytes = value_least_bytes + value_scale_bytes * more;
  return static_cast<uint32_t>(std::min<double>(bytes, value_most_bytes));
}

double Trace::mean_item_bytes() const {
  uint64_t sum = 0;
  for (uint64_t key = 0; key < kSamples; ++key) sum += kv_item_bytes(key_bytes, value_bytes(key));
  return static_cast<double>(sum) / kSamples;
}

double Trace::mean_stored_bytes() const { return mean_item_bytes() + kTableBytesPerItem; }

uint64_t Trace::keys_in(uint64_t cache_bytes) const {
  if (keys > 0) return keys;
  const double each = mean_stored_bytes();
  return std::max<uint64_t>(2,
                            static_cast<uint64_t>(fill * static_cast<double>(cache_bytes) / each));
}

double Trace::presence() const {
  const double gone = del * del_live;
  return set + gone > 0 ? set / (set + gone) : 1;
}

StatusOr<std::vector<Trace>> parse_traces(std::string_view text) {
  std::vector<Trace> traces;
  std::set<std::string_view> seen;
  for (int number = 1; !text.empty(); ++number) {
    const auto [whole, rest] = split_once(text, '\n');
    text = rest;
    const std::string_view line = strip(split_once(whole, '#').first);
    if (line.empty()) continue;
    if (line.front() == '[') {
      if (line.back() != ']' || line.size() < 3) return bad_line(number, line, "[NAME]");
      if (!traces.empty()) {
        if (Status status = check_whole(traces.back(), seen); !status.ok()) return status;
      }
      seen.clear();
      traces.emplace_back();
      traces.back().name = line.substr(1, line.size() - 2);
      continue;
    }
    if (traces.empty()) return bad_line(number, line, "[NAME] first");
    if (Status status = set_field(number, line, seen, traces.back()); !status.ok()) {
      return status;
    }
  }
  if (traces.empty()) return invalid_argument("no trace; allowed: [NAME] and its parameters");
  if (Status status = check_whole(traces.back(), seen); !status.ok()) return status;
  return traces;
}

std::string store_spec(std::string_view durability, uint64_t size_bytes, const Trace& trace) {
  return fmt::format("nvkv://?size={}&durability={}&zone={}&item={}&cleaner=inline", size_bytes,
                     durability, std::clamp(size_bytes / kZones, kLeastZoneBytes, kMostZoneBytes),
                     std::max<uint64_t>(32, static_cast<uint64_t>(trace.mean_stored_bytes())));
}

StatusOr<KvConfig> store_config(std::string_view durability, uint64_t size_bytes,
                                const Trace& trace) {
  StatusOr<KvConfig> config = parse_kv_config(store_spec(durability, size_bytes, trace));
  if (config.ok()) config->cleaning = KvCleaning::kPaper;
  return config;
}

Trace mixed_trace(uint32_t value_bytes, double get_percent, double fill) {
  return {.name = fmt::format("{} B, {:g}% GET", value_bytes, get_percent),
          .get = get_percent,
          .set = 100 - get_percent,
          .key_bytes = kMixedKeyBytes,
          .value_least_bytes = value_bytes,
          .value_most_bytes = value_bytes,
          .fill = fill,
          .theta = kMixedTheta};
}

void write_key(uint64_t key, uint32_t key_bytes, char* to) {
  to[0] = key >= Request::kAbsent ? 'a' : 'k';
  key %= Request::kAbsent;
  for (uint32_t i = key_bytes; i-- > 1;) {
    to[i] = static_cast<char>('0' + key % 10);
    key /= 10;
    if (key == 0) {
      std::fill(to + 1, to + i, '0');
      break;
    }
  }
}

LoadedKeys::LoadedKeys(const Trace& trace, uint64_t keys, uint64_t seed)
    : presence_(trace.presence()), keys_(keys), seed_(seed), stride_(keys * 618 / 1000 + 1) {
  while (std::gcd(stride_, keys_) != 1) ++stride_;
}

bool LoadedKeys::contains(uint64_t key) const {
  return unit(mix64(key ^ mix64(seed_ + 1))) < presence_;
}

uint64_t LoadedKeys::in_order(uint64_t number) const {
  return static_cast<uint64_t>((static_cast<unsigned __int128>(number) * stride_) % keys_);
}

RequestStream::RequestStream(const Trace& trace, uint64_t keys, uint64_t seed)
    : trace_(trace),
      keys_(keys),
      loaded_(trace, keys, seed),
      zipfian_(keys, trace.theta),
      prng_(mix64(seed)) {}

Request RequestStream::next() {
  return draw_request(
      trace_, [this] { return prng_.unit(); }, [this] { return zipfian_.next(prng_); });
}

}  // namespace nvcache::nvmcached
