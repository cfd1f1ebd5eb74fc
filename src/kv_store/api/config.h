// The specification of a key-value store, parsed and checked:
//
//   nvkv://?size=1GiB&medium=file:/var/lib/nvcached/data&durability=cache
//
// Values may be percent-encoded. Thread-safe: pure functions.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "nvcache/kv_store.h"
#include "nvcache/status_or.h"
#include "spec/settings.h"

namespace nvcache {

// The failure that acknowledged deletes and updates survive.
enum class KvSurvives : uint8_t {
  kAuto,     // kPower on persistent memory, kProcess on other files
  kProcess,  // a killed process; after a loss of power the store is empty
  kPower,    // a loss of power
};

// Which items of a zone a cleaning keeps.
enum class KvCleaning : uint8_t {
  kLive,   // all that have not expired, as long as the store has room for them
  kPaper,  // those that were used lately (NVMcached, section 3.3)
};

struct KvConfig {
  uint64_t size_bytes = 0;  // required
  std::string medium = "dram";
  Durability durability = Durability::kCache;
  KvSurvives survives = KvSurvives::kAuto;
  uint64_t zone_bytes = 0;         // 0: a 16th of the size, 64 KiB to 4 MiB
  uint64_t item_bytes = 256;       // typical size of an item: sizes the table
  bool fits_item = false;          // a resize may take a smaller one, from what is stored
  uint64_t write_cache_bytes = 0;  // set by the parser: a 64th of the size, at most 64 MiB
  KvCleaning cleaning = KvCleaning::kLive;
  bool clean_ahead = true;  // a thread keeps zones ready; else puts clean them
  double hot_share = 0.5;   // length of the list of used items, as a share of all items

  double sync_seconds = 10;  // between background syncs of a file; 0: none

  uint32_t max_absence_s = 0;        // after a longer one, items are outdated; 0: never
  bool empty_after_absence = false;  // then the store starts empty

  uint32_t version_bits = 32;          // of a zone's version that descriptors hold; tests set few
  uint64_t first_cas_block = 1 << 16;  // numbers of values that an opening reserves first
  uint64_t cas_given = 0;              // a new store numbers its values behind it
  uint64_t outdated_cas = 0;           // items that are copied into it are outdated up to this one
  bool read_only = false;           // the medium is not marked as in use; only lookups are allowed
  std::function<uint32_t()> now_s;  // empty: steady_unix_s() of base/unix_time.h
  std::function<uint64_t()> boot;   // numbers this start of the machine; empty: the kernel's number
  std::shared_ptr<KvEvictions> evictions;  // what is evicted is put here, if it is set

  // Sets the clock if there is none, and takes the write cache from durabilities other than
  // kCache: the systems that NVMcached is compared with have none.
  void complete();

  bool tells_evictions() const { return evictions != nullptr && evictions->wanted(); }

  // True if an item with this time of expiry has expired.
  bool is_past(uint32_t expires_s) const { return expires_s != 0 && now_s() >= expires_s; }

  static constexpr uint64_t kMinSizeBytes = 256 << 10;
  static constexpr uint64_t kMaxSizeBytes = uint64_t{1} << 43;  // 40 bits of 8-byte grains
};

// Reads what a specification gives, and nothing that it does not. INVALID_ARGUMENT names the
// setting, what was given and what is allowed.
[[nodiscard]] StatusOr<Given<KvConfig>> read_kv_config(std::string_view spec);
// Reads one `key=value`, for configurations that come in another form.
[[nodiscard]] Status read_kv_setting(std::string_view pair, Given<KvConfig>* given);
// Sets what was not given, and checks the whole.
[[nodiscard]] StatusOr<KvConfig> complete_kv_config(Given<KvConfig> given);
// read_kv_config(), then complete_kv_config().
[[nodiscard]] StatusOr<KvConfig> parse_kv_config(std::string_view spec);
// The specification that gives the same.
std::string kv_spec_of(const Given<KvConfig>& given);

// A row for each setting.
std::span<const Setting<KvConfig>> kv_config_rows();

std::string_view durability_name(Durability durability);

}  // namespace nvcache
