// The ways to lay blocks out on a medium, a row each: the only place that knows them all. To add
// one: a Volume in a room of its own, its SpaceKind in api/config.h, and its row here.
#pragma once

#include <memory>

#include "block_cache/api/config.h"
#include "block_cache/index/volume.h"
#include "nvcache/status_or.h"

namespace nvcache {

struct Layout {
  SpaceKind kind;
  // Blocks may not be on the medium yet, or leave while they are read: each read is a copy, and
  // verified.
  bool reads_copies;
  // Opens a volume on an open medium. INVALID_ARGUMENT, or an error of the medium.
  StatusOr<std::unique_ptr<Volume>> (*open)(const Volume::Parts& parts);
};

const Layout& layout_of(SpaceKind kind);

}  // namespace nvcache
