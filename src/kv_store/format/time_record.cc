#include "kv_store/format/time_record.h"

#include <memory>
#include <utility>

#include "base/unix_time.h"

namespace nvcache {

void keep_time(bool own_clock, Medium& medium, uint64_t nonce, KvConfig* config) {
  std::byte* const base = const_cast<std::byte*>(medium.direct().data());
  const auto record = std::make_shared<KvTimeRecord>(base + kKvTimeAt, nonce);
  const uint32_t latest_s = record->latest_s();
  if (!own_clock) steady_unix_s_not_before(latest_s);
  const uint32_t start_s = config->now_s();
  const uint32_t ahead_s = latest_s > start_s ? latest_s - start_s : 0;
  config->now_s = [record, ahead_s, notes = !config->read_only, clock = std::move(config->now_s)] {
    const uint32_t now_s = clock() + ahead_s;
    if (notes) record->note(now_s);
    return now_s;
  };
}

}  // namespace nvcache
