#include <climits>

#include "apps/nvcached/options/option_setters.h"

namespace nvcache::server {
namespace {

constexpr ExtendedRow tuning(const char* word) { return {word, nullptr, nullptr, ignore}; }

constexpr ExtendedRow kExtendedRows[] = {
    {"idle_timeout", "NUM", "close connections that are idle for that many seconds (0: none)",
     set_int<&Settings::idle_timeout_s, 0, INT_MAX>},
    {"watcher_logbuf_size", "NUM", "KiB of lines that wait for one client of watch (256)",
     set_int<&Settings::watcher_buffer_kib, 1, 1 << 20>},
    {"ssl_chain_cert", "FILE", "certificate chain, PEM", set_text<&Settings::tls_certificate>},
    {"ssl_key", "FILE", "private key, PEM (the file of ssl_chain_cert)",
     set_text<&Settings::tls_key>},
    {"ssl_ca_cert", "FILE", "certificates that clients' certificates are checked against",
     set_text<&Settings::tls_ca>},
    {"ssl_ciphers", "NAMES", "OpenSSL's list of ciphers (OpenSSL's default)",
     set_text<&Settings::tls_ciphers>},
    {"ssl_verify_mode", "NUM",
     "whether clients need certificates: 0 no, 1 asked for, 2 or 3 yes (0)",
     set_int<&Settings::tls_verify, 0, 3>},
    {"ssl_min_version", "NUM", "oldest version of TLS: 0 to 3 for 1.0, 1.1, 1.2, 1.3 (2)",
     set_int<&Settings::tls_min_version, 0, 3>},
    tuning("maxconns_fast"),
    tuning("no_maxconns_fast"),
    tuning("hashpower"),
    tuning("no_hashexpand"),
    tuning("hash_algorithm"),
    tuning("tail_repair_time"),
    tuning("lru_crawler"),
    tuning("no_lru_crawler"),
    tuning("lru_crawler_sleep"),
    tuning("lru_crawler_tocrawl"),
    tuning("lru_maintainer"),
    tuning("no_lru_maintainer"),
    tuning("hot_lru_pct"),
    tuning("warm_lru_pct"),
    tuning("hot_max_factor"),
    tuning("warm_max_factor"),
    tuning("temporary_ttl"),
    tuning("read_buf_mem_limit"),
    tuning("worker_logbuf_size"),
    tuning("track_sizes"),
    tuning("modern"),
    tuning("no_modern"),
    tuning("slab_chunk_max"),
    tuning("slab_reassign"),
    tuning("no_slab_reassign"),
    tuning("slab_automove"),
    tuning("slab_automove_window"),
    tuning("slab_automove_ratio"),
    tuning("no_slab_automove"),
    tuning("slab_sizes"),
    tuning("no_chunked_items"),
    tuning("drop_privileges"),
    tuning("no_drop_privileges"),
    tuning("relaxed_privileges"),
    tuning("resp_obj_mem_limit"),
    tuning("slab_automove_freeratio"),
    tuning("inline_ascii_resp"),
    tuning("no_inline_ascii_resp"),
    tuning("ssl_wbuf_size"),
    tuning("ssl_session_cache"),
    tuning("ssl_kernel_tls"),
    tuning("ssl_keyformat"),
};

}  // namespace

std::span<const ExtendedRow> extended_rows() { return kExtendedRows; }

}  // namespace nvcache::server
