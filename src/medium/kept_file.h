// A file that outlives its store. It is mapped for loads and stores; its space is allocated
// when it is opened, and it is never removed. An exclusive lock keeps a second store away.
//
// On a DAX file system flush() writes cache lines back and drain() fences
// (medium/dax_map.h). On any other file system the bytes lie in the page cache and
// survive the process. With `power` off, flush() and drain() then do nothing; with it on,
// drain() is an fdatasync(). sync_all() reaches the disk in either case.
//
// If another process truncates the file, SIGBUS kills this one, as with any mapping.
// Thread-safe on disjoint extents.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/home_process.h"
#include "medium/dax_map.h"
#include "medium/medium.h"
#include "medium/page_file.h"
#include "nvcache/status_or.h"

namespace nvcache {

class KeptFile final : public Medium, public PageFile {
 public:
  enum class Power { kAuto, kOff, kOn };

  // Creates a missing file with mode 0600, and takes the rights of other users from one that is
  // there. FAILED_PRECONDITION, and nothing is changed, if the file is locked, belongs to another
  // user or lets all write it, or is neither empty nor `size_bytes` long. See file_owner.h.
  [[nodiscard]] static StatusOr<std::unique_ptr<KeptFile>> open(const std::string& path,
                                                                uint64_t size_bytes, Power power);
  ~KeptFile() override;
  KeptFile(const KeptFile&) = delete;
  KeptFile& operator=(const KeptFile&) = delete;

  uint64_t size_bytes() const override { return size_bytes_; }
  const Traits& traits() const override { return traits_; }
  [[nodiscard]] Status read(uint64_t offset, MutableBytes into) override;
  [[nodiscard]] Status write(uint64_t offset, ByteView from) override;
  [[nodiscard]] Status flush(Extent extent) override;
  [[nodiscard]] Status drain() override;
  ByteView direct() const override { return {base_, size_bytes_}; }
  [[nodiscard]] Status resize(uint64_t size_bytes) override;

  // Notes on the opening for an operator, a line each.
  const std::vector<std::string>& notes() const { return notes_; }
  bool is_dax() const { return dax_ != nullptr; }
  // True if the file was empty, so that it holds zeros.
  bool is_new() const { return new_; }
  // True if what was flushed and drained survives a loss of power.
  bool survives_power() const { return power_; }
  [[nodiscard]] Status sync_all() override;
  [[nodiscard]] Status sync(Extent extent) override;
  void populate(Extent extent) override;
  std::string path() const override { return path_; }
  bool is_at_its_path() const override;

 private:
  KeptFile(int fd, std::string path, std::unique_ptr<DaxMap> dax, std::byte* base,
           uint64_t size_bytes, bool is_new, bool power);

  const HomeProcess home_;
  const int fd_;
  const std::string path_;
  const std::string whole_path_;       // holds when the process goes to another folder
  const std::unique_ptr<DaxMap> dax_;  // null on any other file system
  std::byte* const base_;
  const uint64_t size_bytes_;
  const bool new_;
  const bool power_;
  const Traits traits_;
  std::vector<std::string> notes_;
};

}  // namespace nvcache
