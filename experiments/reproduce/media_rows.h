// The rows about hardware alone, of two papers. Stateless.
#pragma once

#include <vector>

#include "experiments/reproduce/rows.h"

namespace nvcache::reproduce {

std::vector<Row> writes_hurt_media_rows();
std::vector<Row> hybrid_cache_media_rows();

}  // namespace nvcache::reproduce
