// Opens and resizes a key-value store for what stands above, from a configuration that was read
// already.
#pragma once

#include <memory>

#include "kv_store/api/config.h"
#include "nvcache/kv_store.h"
#include "nvcache/status_or.h"

namespace nvcache {

// As open_kv_store() and resize_kv_store() of a specification.
[[nodiscard]] StatusOr<std::unique_ptr<KvStore>> open_kv_store(
    KvConfig config, std::shared_ptr<KvEvictions> evictions = nullptr);
[[nodiscard]] StatusOr<KvResized> resize_kv_store(const KvConfig& config,
                                                  const KvResizeProgress& progress = {});

}  // namespace nvcache
