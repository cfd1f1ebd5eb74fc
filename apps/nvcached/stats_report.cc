#include "apps/nvcached/stats_report.h"

#include <event2/event.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/text.h"

namespace nvcache::server {
namespace {

struct Visit {
  const StatVisitor& visit;

  void operator()(std::string_view name, std::string_view value) const { visit(name, value); }
  void operator()(std::string_view name, const char* value) const { visit(name, value); }
  template <typename Number>
    requires std::is_integral_v<Number>
  void operator()(std::string_view name, Number value) const {
    visit(name, fmt::format("{}", value));
  }
};

const char* yes_no(bool value) { return value ? "yes" : "no"; }

std::string seconds(const timeval& time) {
  return fmt::format("{}.{:06}", time.tv_sec, time.tv_usec);
}

void visit_process(Service& service, const Visit& visit) {
  const Settings& settings = service.settings();
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  visit("pid", getpid());
  visit("uptime", service.uptime_s());
  visit("time", service.items().now_s());
  visit("version", settings.version);
  visit("libevent", event_get_version());
  visit("pointer_size", 8 * sizeof(void*));
  visit("rusage_user", seconds(usage.ru_utime));
  visit("rusage_system", seconds(usage.ru_stime));
  const ConnectionGauges& connections = service.connections();
  visit("max_connections", settings.max_connections);
  visit("curr_connections", connections.current.load());
  visit("total_connections", connections.total.load());
  visit("rejected_connections", connections.rejected.load());
  visit("connection_structures", connections.current.load());
}

void visit_general(Service& service, const Visit& visit) {
  visit_process(service, visit);
  const Totals totals = service.totals();
  const KvStats kv = service.items().kv().stats();
  for (size_t i = 0; i < kCounts; ++i) {
    const bool expired = i == static_cast<size_t>(Count::kGetExpired);
    visit(kCountNames[i], expired ? kv.expired : totals[i]);
  }
  visit("limit_maxbytes", kv.size_bytes);
  visit("accepting_conns", 1);
  visit("listen_disabled_num", 0);
  visit("threads", service.settings().threads);
  visit("hash_bytes", kv.metadata_bytes);
  visit("hash_is_expanding", 0);
  visit("bytes", kv.data_bytes);
  visit("curr_items", kv.items);
  visit("total_items", kv.puts);
  visit("evictions", kv.evicted);
  visit("reclaimed", kv.relocated);
  // Beyond memcached's.
  visit("store_medium", kv.medium);
  visit("store_durability", kv.durability);
  visit("store_recovered", yes_no(kv.recovered));
  visit("store_recovered_items", kv.recovered_items);
  visit("store_recovery_seconds", fmt::format("{:.6f}", kv.recovery_seconds));
  visit("store_damaged", kv.damaged);
  visit("store_flushes", kv.flushes);
  visit("store_flushed_bytes", kv.flushed_bytes);
  visit("store_zones_cleaned", kv.zones_cleaned);
  visit("store_write_cache_hits", kv.write_cache_hits);
  visit("store_medium_written_bytes", kv.medium_written_bytes);
}

void visit_settings(Service& service, const Visit& visit) {
  const Settings& s = service.settings();
  const auto or_null = [](const std::string& text) { return text.empty() ? "NULL" : text; };
  visit("maxbytes", s.memory_bytes);
  visit("maxconns", s.max_connections);
  visit("tcpport", s.port);
  visit("udpport", s.udp_port);
  visit("inter", or_null(s.listen));
  visit("verbosity", service.verbosity());
  visit("oldest", 0);
  visit("evictions", s.evict_to_free ? "on" : "off");
  visit("domain_socket", or_null(s.unix_socket));
  visit("umask", fmt::format("{:o}", s.unix_mask));
  visit("shutdown_command", yes_no(s.shutdown_command));
  visit("num_threads", s.threads);
  visit("num_threads_per_udp", s.threads);
  visit("stat_key_prefix", std::string_view(&s.prefix_delimiter, 1));
  visit("detail_enabled", yes_no(service.detail()));
  visit("reqs_per_event", s.requests_per_turn);
  visit("cas_enabled", yes_no(s.cas_enabled));
  visit("tcp_backlog", s.backlog);
  visit("binding_protocol", s.binding == Settings::Binding::kText     ? "ascii"
                            : s.binding == Settings::Binding::kBinary ? "binary"
                                                                      : "auto-negotiate");
  visit("auth_enabled_sasl", "no");
  visit("auth_enabled_ascii", s.auth_file.empty() ? "no" : s.auth_file);
  visit("item_size_max", s.max_item_bytes);
  visit("maxconns_fast", "yes");
  visit("flush_enabled", yes_no(s.flush_enabled));
  visit("dump_enabled", "no");
  visit("idle_timeout", s.idle_timeout_s);
  visit("track_sizes", "no");
  visit("ssl_enabled", yes_no(s.tls));
  visit("ssl_chain_cert", or_null(s.tls_certificate));
  visit("ssl_key", or_null(s.tls_key));
  visit("ssl_verify_mode", s.tls_verify);
  visit("ssl_ciphers", or_null(s.tls_ciphers));
  visit("ssl_ca_cert", or_null(s.tls_ca));
  visit("metrics_port", s.metrics_port);
  visit("store", s.store);
}

// One class holds all items: zones know no size classes.
void visit_items(Service& service, const Visit& visit) {
  const KvStats kv = service.items().kv().stats();
  if (kv.items == 0) return;
  visit("items:1:number", kv.items);
  visit("items:1:mem_requested", kv.data_bytes);
  visit("items:1:evicted", kv.evicted);
  visit("items:1:outofmemory", service.totals()[static_cast<size_t>(Count::kStoreNoMemory)]);
  visit("items:1:reclaimed", kv.relocated);
}

void visit_slabs(Service& service, const Visit& visit) {
  const KvStats kv = service.items().kv().stats();
  const Totals totals = service.totals();
  const auto total = [&](Count what) { return totals[static_cast<size_t>(what)]; };
  if (kv.items > 0) {
    visit("1:used_chunks", kv.items);
    visit("1:mem_requested", kv.data_bytes);
    visit("1:get_hits", total(Count::kGetHits));
    visit("1:cmd_set", total(Count::kCmdSet));
    visit("1:delete_hits", total(Count::kDeleteHits));
    visit("1:incr_hits", total(Count::kIncrHits));
    visit("1:decr_hits", total(Count::kDecrHits));
    visit("1:cas_hits", total(Count::kCasHits));
    visit("1:cas_badval", total(Count::kCasBadval));
    visit("1:touch_hits", total(Count::kTouchHits));
  }
  visit("active_slabs", kv.items > 0 ? 1 : 0);
  visit("total_malloced", kv.size_bytes);
}

void metric(std::string& text, std::string_view name, std::string_view type, double value) {
  text += fmt::format("# TYPE nvcached_{0} {1}\nnvcached_{0} {2}\n", name, type, value);
}

}  // namespace

bool visit_stats(Service& service, std::string_view group, const StatVisitor& visitor) {
  const Visit visit{visitor};
  if (group.empty()) {
    visit_general(service, visit);
  } else if (group == "settings") {
    visit_settings(service, visit);
  } else if (group == "items") {
    visit_items(service, visit);
  } else if (group == "slabs") {
    visit_slabs(service, visit);
  } else if (group == "sizes") {
    visit("sizes_status", "disabled");
  } else if (group == "conns") {
    if (service.visit_connections) service.visit_connections(visitor);
  } else {
    return false;
  }
  return true;
}

std::string prometheus_metrics(Service& service) {
  std::string text;
  const Totals totals = service.totals();
  for (size_t i = 0; i < kCounts; ++i) {
    if (i == static_cast<size_t>(Count::kGetExpired)) continue;
    metric(text, fmt::format("{}_total", kCountNames[i]), "counter",
           static_cast<double>(totals[i]));
  }
  const KvStats kv = service.items().kv().stats();
  const auto counter = [&](std::string_view name, uint64_t value) {
    metric(text, name, "counter", static_cast<double>(value));
  };
  const auto gauge = [&](std::string_view name, double value) {
    metric(text, name, "gauge", value);
  };
  counter("get_expired_total", kv.expired);
  counter("evictions_total", kv.evicted);
  counter("relocated_items_total", kv.relocated);
  counter("relocated_bytes_total", kv.relocated_bytes);
  counter("zones_cleaned_total", kv.zones_cleaned);
  counter("write_cache_hits_total", kv.write_cache_hits);
  counter("store_flushes_total", kv.flushes);
  counter("store_flushed_bytes_total", kv.flushed_bytes);
  counter("store_medium_written_bytes_total", kv.medium_written_bytes);
  counter("store_damaged_items_total", kv.damaged);
  const ConnectionGauges& connections = service.connections();
  counter("connections_total", connections.total.load());
  counter("connections_rejected_total", connections.rejected.load());
  gauge("connections", static_cast<double>(connections.current.load()));
  gauge("items", static_cast<double>(kv.items));
  gauge("data_bytes", static_cast<double>(kv.data_bytes));
  gauge("size_bytes", static_cast<double>(kv.size_bytes));
  gauge("metadata_bytes", static_cast<double>(kv.metadata_bytes));
  gauge("recovered_items", static_cast<double>(kv.recovered_items));
  gauge("recovery_seconds", kv.recovery_seconds);
  gauge("uptime_seconds", static_cast<double>(service.uptime_s()));
  return text;
}

}  // namespace nvcache::server
