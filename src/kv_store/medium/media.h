// The media of a key-value store: memory that it stores to in place. They are those rows of the
// table of media (medium/table.h) that hold a store; an emulated one may lie on another, by
// ",on=MEDIUM". A file is a KeptFile (medium/kept_file.h); on DAX it is persistent memory.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "kv_store/api/config.h"
#include "medium/medium.h"
#include "medium/page_file.h"
#include "nvcache/status_or.h"

namespace nvcache {

struct KvMedium {
  // Makes all that was stored durable.
  [[nodiscard]] Status sync();
  // Makes an extent durable beyond a loss of power, whatever flush() and drain() promise.
  [[nodiscard]] Status sync(Extent extent);
  // Gets memory for an extent that will be overwritten, and whose bytes are not needed. A hint.
  void populate(Extent extent);

  std::unique_ptr<Medium> medium;  // direct() may be stored to
  bool survives_power = true;      // what was flushed and drained survives a loss of power
  bool has_pages = false;          // what was stored waits in the page cache: a sync has work
  bool blank = false;              // known to hold zeros: new memory, or a new file
  PageFile* file = nullptr;        // within `medium`; null for memory
  std::vector<std::string> notes;  // what an operator should know of the opening, a line each
};

// The path of the file that a medium's specification names; empty if it names none.
std::string path_of_kv_medium(std::string_view spec);
// The specification of the medium that is a file.
std::string kv_medium_of_file(std::string_view path);

// Emulated media charge `clock`, which must outlive the medium.
[[nodiscard]] StatusOr<KvMedium> open_kv_medium(const KvConfig& config,
                                                Clock& clock = system_clock());

}  // namespace nvcache
