#include "apps/nvcached/service/metrics_table.h"

#include <event2/event.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/text.h"

namespace nvcache::server {
namespace {

constexpr MetricKind kCounter = MetricKind::kCounter;
constexpr MetricKind kGauge = MetricKind::kGauge;
constexpr MetricKind kHistogram = MetricKind::kHistogram;
constexpr MetricKind kNone{};  // not a metric
constexpr bool kCharted = true;

using Snapshot = MetricSnapshot;

template <Count kCount>
MetricValue total(const Snapshot& snapshot) {
  return snapshot.totals[static_cast<size_t>(kCount)];
}

template <auto KvStats::*kField>
MetricValue kv(const Snapshot& snapshot) {
  return snapshot.kv.*kField;
}

template <auto ConnectionGauges::*kField>
MetricValue connections(const Snapshot& snapshot) {
  return (snapshot.service.connections().*kField).load();
}

template <int Settings::*kField>
MetricValue setting(const Snapshot& snapshot) {
  return static_cast<uint64_t>(snapshot.service.settings().*kField);
}

template <uint64_t kValue>
MetricValue constant(const Snapshot&) {
  return kValue;
}

MetricValue seconds_of(const timeval& time) {
  return fmt::format("{}.{:06}", time.tv_sec, time.tv_usec);
}

rusage usage() {
  rusage used = {};
  getrusage(RUSAGE_SELF, &used);
  return used;
}

MetricValue process_id(const Snapshot&) { return static_cast<uint64_t>(getpid()); }
MetricValue uptime(const Snapshot& snapshot) { return snapshot.service.uptime_s(); }
MetricValue now(const Snapshot& snapshot) { return uint64_t{snapshot.service.items().wall_s()}; }
MetricValue version(const Snapshot& snapshot) { return snapshot.service.settings().version; }
MetricValue libevent(const Snapshot&) { return std::string(event_get_version()); }
MetricValue user_time(const Snapshot&) { return seconds_of(usage().ru_utime); }
MetricValue system_time(const Snapshot&) { return seconds_of(usage().ru_stime); }
MetricValue certificate_age(const Snapshot& snapshot) {
  return snapshot.service.certificate_age_s();
}
MetricValue buffered(const Snapshot& snapshot) { return snapshot.service.buffers().used(); }
MetricValue buffer_limit(const Snapshot& snapshot) { return snapshot.service.buffers().most(); }
MetricValue watchers(const Snapshot& snapshot) {
  return uint64_t{snapshot.service.watch_log().watchers()};
}
MetricValue skipped_lines(const Snapshot& snapshot) {
  return snapshot.service.watch_log().skipped_lines();
}
MetricValue latencies(const Snapshot& snapshot) { return snapshot.service.latencies(); }
MetricValue failed(const Snapshot& snapshot) { return uint64_t{snapshot.kv.failed}; }
MetricValue file_lost(const Snapshot& snapshot) { return uint64_t{snapshot.kv.file_lost}; }
MetricValue recovered(const Snapshot& snapshot) {
  return std::string(snapshot.kv.recovered ? "yes" : "no");
}

constexpr MetricRow kMetricRows[] = {
    {"pid", nullptr, kNone, "Process id", process_id},
    {"uptime", "uptime_seconds", kGauge, "Seconds since the start", uptime},
    {"time", nullptr, kNone, "Unix time", now},
    {"version", nullptr, kNone, "Version that clients are told", version},
    {"libevent", nullptr, kNone, "Version of libevent", libevent},
    {"pointer_size", nullptr, kNone, "Bits of a pointer", constant<8 * sizeof(void*)>},
    {"rusage_user", nullptr, kNone, "Processor time in user mode, seconds", user_time},
    {"rusage_system", nullptr, kNone, "Processor time in the kernel, seconds", system_time},
    {"max_connections", nullptr, kNone, "Most connections at one time (-c)",
     setting<&Settings::max_connections>},
    {"curr_connections", "connections", kGauge, "Open connections",
     connections<&ConnectionGauges::current>, kCharted},
    {"total_connections", "connections_total", kCounter, "Connections that clients opened",
     connections<&ConnectionGauges::total>},
    {"rejected_connections", "connections_rejected_total", kCounter,
     "Connections closed at once because -c was reached", connections<&ConnectionGauges::rejected>},
    {"connection_structures", nullptr, kNone, "Open connections",
     connections<&ConnectionGauges::current>},

    {"cmd_get", "cmd_get_total", kCounter, "Keys looked up", total<Count::kCmdGet>},
    {"cmd_set", "cmd_set_total", kCounter, "Requests to store an item", total<Count::kCmdSet>,
     kCharted},
    {"cmd_flush", "cmd_flush_total", kCounter, "flush_all commands", total<Count::kCmdFlush>},
    {"cmd_touch", "cmd_touch_total", kCounter, "Requests to change when an item expires",
     total<Count::kCmdTouch>},
    {"cmd_meta", "cmd_meta_total", kCounter, "Meta commands", total<Count::kCmdMeta>},
    {"get_hits", "get_hits_total", kCounter, "Lookups that found the key", total<Count::kGetHits>,
     kCharted},
    {"get_misses", "get_misses_total", kCounter, "Lookups that did not find the key",
     total<Count::kGetMisses>, kCharted},
    {"get_expired", "get_expired_total", kCounter, "Lookups whose item had expired",
     kv<&KvStats::expired>},
    {"get_outdated", "get_outdated_total", kCounter,
     "Lookups whose item was from before a long absence (--max-absence)", kv<&KvStats::outdated>},
    {"get_flushed", "get_flushed_total", kCounter,
     "Always 0: the store does not count these apart from misses", total<Count::kGetFlushed>},
    {"delete_misses", "delete_misses_total", kCounter, "Deletions of a key that was not there",
     total<Count::kDeleteMisses>, kCharted},
    {"delete_hits", "delete_hits_total", kCounter, "Deletions", total<Count::kDeleteHits>,
     kCharted},
    {"incr_misses", "incr_misses_total", kCounter, "Increments of a key that was not there",
     total<Count::kIncrMisses>, kCharted},
    {"incr_hits", "incr_hits_total", kCounter, "Increments", total<Count::kIncrHits>, kCharted},
    {"decr_misses", "decr_misses_total", kCounter, "Decrements of a key that was not there",
     total<Count::kDecrMisses>, kCharted},
    {"decr_hits", "decr_hits_total", kCounter, "Decrements", total<Count::kDecrHits>, kCharted},
    {"cas_misses", "cas_misses_total", kCounter, "Conditional stores of a key that was not there",
     total<Count::kCasMisses>},
    {"cas_hits", "cas_hits_total", kCounter, "Conditional stores whose cas was current",
     total<Count::kCasHits>},
    {"cas_badval", "cas_badval_total", kCounter, "Conditional stores with another cas",
     total<Count::kCasBadval>},
    {"touch_hits", "touch_hits_total", kCounter, "Touches of a key that was there",
     total<Count::kTouchHits>, kCharted},
    {"touch_misses", "touch_misses_total", kCounter, "Touches of a key that was not there",
     total<Count::kTouchMisses>, kCharted},
    {"store_too_large", "store_too_large_total", kCounter, "Items refused: larger than -I",
     total<Count::kStoreTooLarge>},
    {"store_no_memory", "store_no_memory_total", kCounter,
     "Items refused: no zone was free, or the medium failed", total<Count::kStoreNoMemory>},
    {"auth_cmds", "auth_cmds_total", kCounter, "Attempts to authenticate", total<Count::kAuthCmds>},
    {"auth_errors", "auth_errors_total", kCounter, "Attempts to authenticate that failed",
     total<Count::kAuthErrors>},
    {"bytes_read", "bytes_read_total", kCounter, "Bytes received from clients",
     total<Count::kBytesRead>},
    {"bytes_written", "bytes_written_total", kCounter, "Bytes sent to clients",
     total<Count::kBytesWritten>},
    {nullptr, "request_seconds", kHistogram,
     "Seconds from a whole request to its answer, of one request in 64 or so", latencies, kCharted},
    {"conn_yields", "conn_yields_total", kCounter,
     "Times that a connection made way for the others (-R)", total<Count::kConnYields>},
    {"idle_kicks", "idle_kicks_total", kCounter, "Connections closed by -o idle_timeout",
     total<Count::kIdleKicks>},
    {"buffer_kicks", "buffer_kicks_total", kCounter,
     "Connections closed because --buffer-memory was used up", total<Count::kBufferKicks>},
    {"log_watchers", "watchers", kGauge, "Clients of the command watch", watchers},
    {"log_watcher_skipped", "watcher_lines_skipped_total", kCounter,
     "Lines that watchers were too slow for", skipped_lines},
    {"buffer_bytes", "buffer_bytes", kGauge,
     "Bytes of requests and answers that connections hold in DRAM", buffered},
    {"copied_bytes", "copied_bytes_total", kCounter,
     "Bytes of large values copied to DRAM: a client read slowly, or stored behind them",
     total<Count::kCopiedBytes>},
    {"limit_buffer_bytes", nullptr, kNone, "Most such bytes (--buffer-memory)", buffer_limit},

    {"limit_maxbytes", "size_bytes", kGauge, "Bytes of the store's medium",
     kv<&KvStats::size_bytes>},
    {"accepting_conns", nullptr, kNone, "Always 1", constant<1>},
    {"lrutail_reflocked", nullptr, kNone, "Always 0", constant<0>},
    {"time_in_listen_disabled_us", nullptr, kNone, "Always 0", constant<0>},
    {"time_since_server_cert_refresh", nullptr, kNone,
     "Seconds since certificates were read; 0 without TLS", certificate_age},
    {"listen_disabled_num", nullptr, kNone, "Always 0", constant<0>},
    {"threads", nullptr, kNone, "Worker threads (-t)", setting<&Settings::threads>},
    {"hash_bytes", "metadata_bytes", kGauge, "Bytes of DRAM for the store's metadata",
     kv<&KvStats::metadata_bytes>},
    {"hash_is_expanding", nullptr, kNone, "Always 0", constant<0>},
    {"bytes", "data_bytes", kGauge, "Bytes of keys and values", kv<&KvStats::data_bytes>},
    {"curr_items", "items", kGauge, "Items in the store", kv<&KvStats::items>, kCharted},
    {"total_items", nullptr, kNone, "Items stored since the start", kv<&KvStats::puts>},
    {"evictions", "evictions_total", kCounter, "Items evicted to make room", kv<&KvStats::evicted>,
     kCharted},
    {"reclaimed", "relocated_items_total", kCounter, "Items that cleaning moved",
     kv<&KvStats::relocated>},
    {nullptr, "relocated_bytes_total", kCounter, "Bytes that cleaning moved",
     kv<&KvStats::relocated_bytes>},

    {"store_medium", nullptr, kNone, "Medium of the store", kv<&KvStats::medium>},
    {"store_durability", nullptr, kNone, "Durability of the store", kv<&KvStats::durability>},
    {"store_recovered", nullptr, kNone, "Whether the medium held a store at the start", recovered},
    {"store_failed", "store_failed", kGauge, "1 once the medium failed: changes are refused",
     failed},
    {"store_file_lost", "store_file_lost", kGauge,
     "1 while the data file is not at its path: items end with the server", file_lost},
    {"store_max_item_bytes", "store_max_item_bytes", kGauge,
     "Bytes of the largest key and value that the store takes", kv<&KvStats::max_item_bytes>},
    {"store_table_evictions", "store_table_evictions_total", kCounter,
     "Items evicted because the table of items was full", kv<&KvStats::table_evicted>},
    {"store_table_places", "store_table_places", kGauge, "Places for items in the table of items",
     kv<&KvStats::table_places>},
    {"store_recovered_items", "recovered_items", kGauge, "Items recovered at the start",
     kv<&KvStats::recovered_items>},
    {"store_away_seconds", "away_seconds", kGauge,
     "Seconds that no server had the store before this start", kv<&KvStats::away_seconds>},
    {"store_recovery_seconds", "recovery_seconds", kGauge, "Seconds that recovery took",
     kv<&KvStats::recovery_seconds>},
    {"store_damaged", "store_damaged_items_total", kCounter,
     "Items whose checksum failed after a crash", kv<&KvStats::damaged>},
    {"store_flushes", "store_flushes_total", kCounter, "Flushes of the medium",
     kv<&KvStats::flushes>},
    {"store_flushed_bytes", "store_flushed_bytes_total", kCounter, "Bytes flushed",
     kv<&KvStats::flushed_bytes>},
    {"store_zones_cleaned", "zones_cleaned_total", kCounter, "Zones that cleaning emptied",
     kv<&KvStats::zones_cleaned>},
    {"store_write_cache_hits", "write_cache_hits_total", kCounter,
     "Lookups and stores that the DRAM write cache served", kv<&KvStats::write_cache_hits>},
    {"store_medium_written_bytes", "store_medium_written_bytes_total", kCounter,
     "Bytes written to the medium", kv<&KvStats::medium_written_bytes>, kCharted},
};

}  // namespace

std::span<const MetricRow> metric_rows() { return kMetricRows; }

}  // namespace nvcache::server
