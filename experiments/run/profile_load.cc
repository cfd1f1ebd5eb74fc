#include "experiments/run/profile_load.h"

#include <algorithm>
#include <array>

#include "base/prng.h"
#include "base/text.h"
#include "experiments/workload/profile_record.h"
#include "experiments/workload/profile_stream.h"
#include "experiments/workload/ycsb.h"

namespace nvcache {
namespace {

using nlohmann::json;

constexpr double kPaperGb = 1e9;  // a profile's sizes are decimal

class ProfileClient final : public Client {
 public:
  ProfileClient(KvEngine& engine, const WorkloadProfile& profile, const ProfileRecords& records,
                const ProfileKeys& keys, uint64_t seed)
      : engine_(engine), profile_(profile), records_(records), stream_(profile, keys, seed) {}

  size_t next(bool /*measured*/) override {
    op_ = stream_.next();
    records_.key(op_.number, &key_);
    if (op_.type == ProfileOpType::kPut) {
      records_.value(op_.database, op_.number, op_.version, key_, &value_);
    }
    return static_cast<size_t>(op_.type);
  }

  Status issue() override {
    switch (op_.type) {
      case ProfileOpType::kGet:
        return engine_.read(op_.database, key_, &value_);
      case ProfileOpType::kPut:
        return engine_.put(op_.database, key_, value_);
      case ProfileOpType::kSeek:
        return seek();
    }
    return internal_error("unknown operation");
  }

  Status check() override {
    if (op_.type != ProfileOpType::kGet) return ok_status();
    ++values_verified;
    return records_.verify(op_.database, op_.number, key_, value_);
  }

 private:
  Status seek() {
    uint64_t wanted = op_.number;
    return engine_.scan(
        op_.database, key_, profile_.seek_rows, [&](std::string_view key, std::string_view value) {
          uint64_t number = 0;
          Status status = records_.number_of(key, &number);
          if (status.ok() && number != wanted) {
            status = data_loss_error(fmt::format("a seek found pair {}, not {}", number, wanted));
          }
          ++wanted;
          ++rows_scanned;
          ++values_verified;
          if (!status.ok()) return status;
          return records_.verify(op_.database, number, key, value);
        });
  }

  KvEngine& engine_;
  const WorkloadProfile& profile_;
  const ProfileRecords& records_;
  ProfileStream stream_;
  ProfileOperation op_;
  std::string key_;
  std::string value_;
};

class ProfileLoadRun final : public LoadRun {
 public:
  ProfileLoadRun(KvEngine& engine, const ProfileLoadOptions& options, uint64_t seed)
      : engine_(engine),
        options_(options),
        seed_(seed),
        records_(options.profile, options.seed),
        keys_(options.profile, scaled_keys(options.profile, options.gb_bytes), options.seed) {}

  std::unique_ptr<Client> client(uint32_t thread) override {
    return std::make_unique<ProfileClient>(engine_, options_.profile, records_, keys_,
                                           thread_seed(seed_, thread));
  }
  std::optional<double> due(double seconds) const override {
    if (!options_.sine) return std::nullopt;
    return operations_due(options_.profile, seconds);
  }

 private:
  KvEngine& engine_;
  const ProfileLoadOptions& options_;
  const uint64_t seed_;
  const ProfileRecords records_;
  const ProfileKeys keys_;
};

class ProfileLoad final : public Load {
 public:
  explicit ProfileLoad(const ProfileLoadOptions& options) : options_(options) {}

  std::string name() const override { return options_.profile.name; }

  json describe() const override {
    const WorkloadProfile& profile = options_.profile;
    return {{"name", profile.name},
            {"title",
             fmt::format("{}: {}; {} databases; {:g}% get, {:g}% put, {:g}% seek{}", profile.name,
                         profile.about, profile.databases, 100 * profile.get, 100 * profile.put,
                         100 * profile.seek, options_.sine ? "; rate sine" : "")},
            {"about", profile.about},
            {"databases", profile.databases},
            {"keys_per_database", profile.keys_per_database},
            {"scaled_keys_per_database", database().pairs},
            {"data_gb", profile.data_bytes() * 1e-9},
            {"key_bytes", profile.key_bytes},
            {"mean_value_bytes", profile.mean_value_bytes()},
            {"value_least_bytes", profile.value_least_bytes},
            {"value_scale_bytes", profile.value_scale_bytes},
            {"value_shape", profile.value_shape},
            {"value_most_bytes", profile.value_most_bytes},
            {"hot_share", profile.hot_share},
            {"hot_accesses", profile.hot_accesses},
            {"accessed_share", profile.accessed_share},
            {"run_keys", profile.run_keys},
            {"repeat_share", profile.repeat_share},
            {"repeat_last", profile.repeat_last},
            {"get", profile.get},
            {"put", profile.put},
            {"seek", profile.seek},
            {"seek_rows", profile.seek_rows},
            {"qps_mean", profile.qps_mean},
            {"qps_swing", profile.qps_swing},
            {"qps_period_seconds", profile.qps_period_seconds}};
  }

  DatabaseFacts database() const override {
    const WorkloadProfile& profile = options_.profile;
    const uint64_t keys = scaled_keys(profile, options_.gb_bytes);
    return {.name = profile.name,
            .databases = profile.databases,
            .pairs = keys,
            .pair_bytes = profile.key_bytes + profile.mean_value_bytes(),
            .source = {{"databases", profile.databases},
                       {"keys", keys},
                       {"key_bytes", profile.key_bytes},
                       {"value_least_bytes", profile.value_least_bytes},
                       {"value_scale_bytes", profile.value_scale_bytes},
                       {"value_shape", profile.value_shape},
                       {"value_most_bytes", profile.value_most_bytes},
                       {"seed", options_.seed}}};
  }

  SortedPairs sorted_pairs() const override {
    auto records = std::make_shared<const ProfileRecords>(options_.profile, options_.seed);
    const uint64_t version = mix64(options_.seed);
    return {database().pairs, [records, version](uint32_t database, uint64_t i, std::string* key,
                                                 std::string* value) {
              records->key(i, key);
              records->value(database, i, version, *key, value);
            }};
  }

  std::span<const std::string_view> operations() const override {
    static constexpr std::array<std::string_view, kProfileOpTypes> kNames = {"get", "put", "seek"};
    return kNames;
  }
  std::optional<size_t> reported_operation() const override {
    return static_cast<size_t>(ProfileOpType::kGet);
  }

  std::unique_ptr<LoadRun> begin(KvEngine& engine, uint64_t seed) const override {
    return std::make_unique<ProfileLoadRun>(engine, options_, seed);
  }

 private:
  const ProfileLoadOptions options_;
};

}  // namespace

uint64_t scaled_keys(const WorkloadProfile& profile, uint64_t gb_bytes) {
  const double keys =
      static_cast<double>(profile.keys_per_database) * static_cast<double>(gb_bytes) / kPaperGb;
  return std::max(static_cast<uint64_t>(keys), profile.run_keys);
}

std::unique_ptr<Load> make_profile_load(const ProfileLoadOptions& options) {
  return std::make_unique<ProfileLoad>(options);
}

}  // namespace nvcache
