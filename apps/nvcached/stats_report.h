// The lists behind `stats`, under memcached's names. What nvcached has not, such as slab
// classes and segmented lists, is left out or answered with one class that holds all.
#pragma once

#include <string>
#include <string_view>

#include "apps/nvcached/service.h"

namespace nvcache::server {

// Visits the statistics of a group ("" for the general ones, settings, items, slabs,
// sizes, conns); false: there is no such group.
bool visit_stats(Service& service, std::string_view group, const StatVisitor& visit);

// The same in the Prometheus text format.
std::string prometheus_metrics(Service& service);

}  // namespace nvcache::server
