// Answers `stats`, under memcached's names. Parts that nvcached does not have, such as slab classes
// and segmented lists, are left out or answered with one class that holds all. Thread-safe.
#pragma once

#include <string>
#include <string_view>

#include "apps/nvcached/service/service.h"

namespace nvcache::server {

// Visits the statistics of a group: "" (the general ones, metrics_table.h), settings, items,
// slabs, sizes or conns. False: there is no such group.
bool visit_stats(Service& service, std::string_view group, const StatVisitor& visit);

// The rows of metrics_table.h in the Prometheus text format.
std::string prometheus_metrics(Service& service);

}  // namespace nvcache::server
