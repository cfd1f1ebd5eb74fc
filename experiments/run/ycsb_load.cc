#include "experiments/run/ycsb_load.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

#include "base/prng.h"
#include "base/text.h"
#include "experiments/workload/record.h"

namespace nvcache {
namespace {

constexpr double kRowOverheadBytes = 100;  // the key, and what a table keeps beside it

// Keys in byte order, as fixed-size strings (20 digits at most, padded with zero bytes, which
// sort before digits).
using Digits = std::array<char, kMaxKeyBytes>;

std::vector<Digits> sorted_keys(uint64_t count) {
  std::vector<Digits> keys(count);
  for (uint64_t i = 0; i < count; ++i) {
    const std::string key = record_key(i);
    std::copy(key.begin(), key.end(), keys[i].begin());
  }
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  return keys;
}

class YcsbClient final : public Client {
 public:
  YcsbClient(KvEngine& engine, KeySequence& sequence, OperationStream warmup,
             OperationStream measured)
      : engine_(engine),
        sequence_(sequence),
        warmup_(std::move(warmup)),
        measured_(std::move(measured)) {}

  size_t next(bool measured) override {
    op_ = (measured ? measured_ : warmup_).next();
    key_ = record_key(op_.record);
    return static_cast<size_t>(op_.type);
  }

  Status issue() override {
    switch (op_.type) {
      case OpType::kRead:
        return read();
      case OpType::kUpdate:
        return update();
      case OpType::kInsert:
        return insert();
      case OpType::kScan:
        return scan();
      case OpType::kReadModifyWrite: {
        // As YCSB: a read of the record, then an update of a field.
        Status status = read();
        return status.ok() ? update() : status;
      }
    }
    return internal_error("unknown operation");
  }

 private:
  Status read() {
    Status status = engine_.read(0, key_, &value_);
    if (!status.ok()) {
      return Status(status.code(), fmt::format("reading {}: {}", key_, status.message()));
    }
    ++values_verified;
    return verify_record(key_, value_);
  }

  // Updates one field. The engine keeps a record as one value, so it is read, changed and
  // written, as in YCSB's binding for RocksDB.
  Status update() {
    if (Status status = read(); !status.ok()) return status;
    char* field = value_.data() + size_t{op_.field} * kFieldBytes;
    fill_field(key_, op_.field, op_.version, std::span<char, kFieldBytes>(field, kFieldBytes));
    return engine_.put(0, key_, value_);
  }

  Status insert() {
    value_.resize(kRecordBytes);
    fill_record(key_, op_.version, std::span<char, kRecordBytes>(value_.data(), kRecordBytes));
    Status status = engine_.put(0, key_, value_);
    if (status.ok()) sequence_.acknowledge(op_.record);
    return status;
  }

  Status scan() {
    return engine_.scan(0, key_, op_.scan_rows, [this](std::string_view key, std::string_view row) {
      ++rows_scanned;
      ++values_verified;
      return verify_record(key, row);
    });
  }

  KvEngine& engine_;
  KeySequence& sequence_;
  OperationStream warmup_;
  OperationStream measured_;
  Operation op_;
  std::string key_;
  std::string value_;
};

// YCSB leaves room for 2 x operations x share of inserts; a run limited by time does not know its
// operations, so it leaves room for 2% more records.
uint64_t expected_inserts(const YcsbWorkload& one, const YcsbWorkload& other, uint64_t records) {
  const bool any = one.share(OpType::kInsert) + other.share(OpType::kInsert) > 0;
  return any ? records / 50 + 1000 : 0;
}

class YcsbLoadRun final : public LoadRun {
 public:
  YcsbLoadRun(KvEngine& engine, const YcsbWorkload& warmup, const YcsbWorkload& measured,
              uint64_t records, uint64_t seed)
      : engine_(engine),
        warmup_(warmup),
        measured_(measured),
        seed_(seed),
        sequence_(records),
        warmup_keys_(chooser(warmup, records)),
        measured_keys_(chooser(measured, records)) {}

  std::unique_ptr<Client> client(uint32_t thread) override {
    const auto stream = [&](const YcsbWorkload& workload, const KeyChooser& keys, uint64_t part) {
      return OperationStream(workload, sequence_, keys.clone(),
                             thread_seed(seed_, 2 * uint64_t{thread} + part));
    };
    return std::make_unique<YcsbClient>(engine_, sequence_, stream(warmup_, *warmup_keys_, 0),
                                        stream(measured_, *measured_keys_, 1));
  }

 private:
  std::unique_ptr<KeyChooser> chooser(const YcsbWorkload& workload, uint64_t records) const {
    return make_key_chooser(workload.distribution, sequence_,
                            expected_inserts(warmup_, measured_, records));
  }

  KvEngine& engine_;
  const YcsbWorkload warmup_;
  const YcsbWorkload measured_;
  const uint64_t seed_;
  KeySequence sequence_;
  const std::unique_ptr<KeyChooser> warmup_keys_;
  const std::unique_ptr<KeyChooser> measured_keys_;
};

class YcsbLoad final : public Load {
 public:
  explicit YcsbLoad(const YcsbLoadOptions& options)
      : options_(options),
        measured_(options.workload),
        warmup_(options.warmup.value_or(options.workload)) {
    if (options.distribution) measured_.distribution = warmup_.distribution = *options.distribution;
  }

  std::string name() const override { return std::string(1, measured_.name); }

  nlohmann::json describe() const override {
    const std::string distribution(distribution_name(measured_.distribution));
    const auto letter = static_cast<char>(std::toupper(measured_.name));
    nlohmann::json facts = {
        {"name", name()},
        {"title", fmt::format("YCSB {}: {}; {}", letter, measured_.describe_mix(), distribution)},
        {"mix", measured_.describe_mix()},
        {"distribution", distribution},
        {"records", options_.records},
        {"record_bytes", kRecordBytes}};
    if (options_.warmup) facts["warmup_workload"] = std::string(1, warmup_.name);
    return facts;
  }

  DatabaseFacts database() const override {
    return {.name = options_.database,
            .pairs = options_.records,
            .pair_bytes = kRecordBytes + kRowOverheadBytes,
            .source = {{"records", options_.records},
                       {"record_bytes", kRecordBytes},
                       {"seed", options_.seed}}};
  }

  SortedPairs sorted_pairs() const override {
    auto keys = std::make_shared<const std::vector<Digits>>(sorted_keys(options_.records));
    const uint64_t version = mix64(options_.seed);
    return {
        keys->size(), [keys, version](uint32_t, uint64_t i, std::string* key, std::string* value) {
          const Digits& digits = (*keys)[i];
          key->assign(digits.data(), ::strnlen(digits.data(), digits.size()));
          value->resize(kRecordBytes);
          fill_record(*key, version, std::span<char, kRecordBytes>(value->data(), kRecordBytes));
        }};
  }

  std::span<const std::string_view> operations() const override {
    static const std::array<std::string_view, kOpTypeCount> names = [] {
      std::array<std::string_view, kOpTypeCount> list;
      for (size_t i = 0; i < kOpTypeCount; ++i) list[i] = op_type_name(static_cast<OpType>(i));
      return list;
    }();
    return names;
  }

  std::unique_ptr<LoadRun> begin(KvEngine& engine, uint64_t seed) const override {
    return std::make_unique<YcsbLoadRun>(engine, warmup_, measured_, options_.records, seed);
  }

 private:
  const YcsbLoadOptions options_;
  YcsbWorkload measured_;
  YcsbWorkload warmup_;
};

}  // namespace

std::unique_ptr<Load> make_ycsb_load(const YcsbLoadOptions& options) {
  return std::make_unique<YcsbLoad>(options);
}

}  // namespace nvcache
