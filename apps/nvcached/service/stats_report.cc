#include "apps/nvcached/service/stats_report.h"

#include <algorithm>
#include <array>

#include "apps/nvcached/service/metrics_table.h"
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

constexpr const char* kTlsVersions[] = {"tlsv1.0", "tlsv1.1", "tlsv1.2", "tlsv1.3"};

const char* yes_no(bool value) { return value ? "yes" : "no"; }

void visit_general(Service& service, const Visit& visit) {
  const MetricSnapshot snapshot(service, service.totals());
  for (const MetricRow& row : metric_rows()) {
    if (row.stat == nullptr) continue;
    const MetricValue value = row.value(snapshot);
    if (const auto* number = std::get_if<uint64_t>(&value)) {
      visit(row.stat, *number);
    } else if (const auto* fraction = std::get_if<double>(&value)) {
      visit(row.stat, fmt::format("{:.6f}", *fraction));
    } else {
      visit(row.stat, std::get<std::string>(value));
    }
  }
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
  visit("evictions", "on");
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
  visit("auth_enabled_sasl", yes_no(s.sasl));
  visit("auth_enabled_ascii", s.auth_file.empty() ? "no" : s.auth_file);
  visit("item_size_max", s.max_item_bytes);
  visit("maxconns_fast", "yes");
  visit("flush_enabled", yes_no(s.flush_enabled));
  visit("dump_enabled", yes_no(s.dump_enabled));
  visit("idle_timeout", s.idle_timeout_s);
  visit("track_sizes", "no");
  visit("ssl_enabled", yes_no(s.tls));
  visit("ssl_chain_cert", or_null(s.tls_certificate));
  visit("ssl_key", or_null(s.tls_key));
  visit("ssl_session_cache", "no");
  visit("ssl_kernel_tls", "no");
  visit("ssl_keyformat", 1);      // PEM
  visit("ssl_wbuf_size", 16384);  // OpenSSL's records
  visit("ssl_min_version", kTlsVersions[s.tls_min_version]);
  visit("ssl_verify_mode", s.tls_verify);
  visit("ssl_ciphers", or_null(s.tls_ciphers));
  visit("ssl_ca_cert", or_null(s.tls_ca));
  visit("metrics_port", s.metrics_port);
  visit("store", s.store);
}

// One class holds all items: the store has no size classes.
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
    // The store has no slabs. Programs that read them find one whose chunks are the items.
    visit("1:chunk_size", kv.data_bytes / kv.items);
    visit("1:chunks_per_page", kv.items);
    visit("1:total_pages", 1);
    visit("1:total_chunks", kv.items);
    visit("1:used_chunks", kv.items);
    visit("1:free_chunks", 0);
    visit("1:free_chunks_end", 0);
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

void append_latencies(const LatencyTable& table, PrometheusText* text) {
  std::array<double, kLatencyBoundsNs.size()> bounds_s{};
  std::ranges::transform(kLatencyBoundsNs, bounds_s.begin(),
                         [](uint64_t ns) { return static_cast<double>(ns) / 1e9; });
  for (size_t i = 0; i < kTimed; ++i) {
    text->histogram(fmt::format("command=\"{}\"", kTimedNames[i]), bounds_s, table[i].counts,
                    static_cast<double>(table[i].sum_ns) / 1e9);
  }
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
  const MetricSnapshot snapshot(service, service.totals_since_start());
  PrometheusText text("nvcached_");
  for (const MetricRow& row : metric_rows()) {
    if (row.metric == nullptr) continue;
    text.family(row.metric, row.help, row.kind);
    const MetricValue value = row.value(snapshot);
    if (const auto* number = std::get_if<uint64_t>(&value)) {
      text.sample("", *number);
    } else if (const auto* latencies = std::get_if<LatencyTable>(&value)) {
      append_latencies(*latencies, &text);
    } else {
      text.sample("", std::get<double>(value));
    }
  }
  return text.take();
}

}  // namespace nvcache::server
