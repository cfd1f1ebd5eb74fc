// Traces of lines with columns. The heading tells them:
//
//   lbn, size    CloudPhysics': the key is a sector of 512 bytes; an access of `size` bytes from it
//                becomes one for each block of 4 KiB that it touches
//   key, obj_id, object_id, id, block, and size, bytes, obj_size, length
//                the key, a number or any text, and the bytes of an access (more than 4 GiB count
//                as that)
//
// or the user does (TraceOptions::columns). Then the first line is a heading if columns are named,
// or if its key is no number. Columns may be quoted, "a, b"; a line does not go on in the next one.
#pragma once

#include <memory>

#include "apps/trace/decoder.h"
#include "apps/trace/formats.h"
#include "nvcache/status_or.h"

namespace nvcache {

// INVALID_ARGUMENT for columns that are none.
[[nodiscard]] StatusOr<std::unique_ptr<Decoder>> make_csv_decoder(const TraceOptions& options);

}  // namespace nvcache
