// A file whose bytes lie in the page cache until it is synced, as a store on it sees it. KeptFile
// is one; tests have another, which loses power.
#pragma once

#include <string>

#include "medium/medium.h"
#include "nvcache/status.h"

namespace nvcache {

// Thread-safe.
class PageFile {
 public:
  virtual ~PageFile() = default;
  // Makes all bytes durable.
  [[nodiscard]] virtual Status sync_all() = 0;
  // The same for the pages of an extent alone.
  [[nodiscard]] virtual Status sync(Extent extent) = 0;
  // Gets pages for an extent that will be overwritten, without reading them from the disk: fills
  // those that are not in memory with zeros, whatever they held. Does nothing on DAX.
  virtual void populate(Extent extent) = 0;
  virtual std::string path() const { return ""; }
  // False once the file was removed, renamed or replaced: it ends when it is closed, or is found
  // elsewhere. True where that cannot be seen. Costs two system calls.
  virtual bool is_at_its_path() const { return true; }
};

}  // namespace nvcache
