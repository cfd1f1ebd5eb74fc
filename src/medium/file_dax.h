// A file on a DAX file system (persistent memory), read in place through a mapping: see
// medium/file.h. Writes and flushes go through the descriptor, as those of a buffered file.
//
// on_direct_read() makes the kernel fault the pages in and report what it cannot read: a file that
// another program truncates gives an error and not a SIGBUS. A file cut short between that call and
// the end of the read kills the process, as any mapping would. The call costs 1.7 us for 16 KiB
// whose pages are in memory.
#pragma once

#include <memory>
#include <string>

#include "medium/file_buffered.h"
#include "medium/medium.h"

namespace nvcache {

// Thread-safe on disjoint extents. resize() must not run beside itself.
class DaxFileMedium final : public Medium {
 public:
  // Maps an open file, on DAX or not.
  [[nodiscard]] static StatusOr<std::unique_ptr<Medium>> map(
      std::unique_ptr<BufferedFileMedium> file);
  ~DaxFileMedium() override;
  DaxFileMedium(const DaxFileMedium&) = delete;
  DaxFileMedium& operator=(const DaxFileMedium&) = delete;

  uint64_t size_bytes() const override { return file_->size_bytes(); }
  const Traits& traits() const override { return traits_; }
  [[nodiscard]] Status read(uint64_t offset, MutableBytes into) override {
    return file_->read(offset, into);
  }
  [[nodiscard]] Status write(uint64_t offset, ByteView from) override {
    return file_->write(offset, from);
  }
  [[nodiscard]] Status flush(Extent extent) override { return file_->flush(extent); }
  [[nodiscard]] Status drain() override { return file_->drain(); }
  ByteView direct() const override { return {base_, file_->file().max_size_bytes()}; }
  [[nodiscard]] Status on_direct_read(Extent extent) override;
  [[nodiscard]] Status resize(uint64_t size_bytes) override { return file_->resize(size_bytes); }

 private:
  DaxFileMedium(std::unique_ptr<BufferedFileMedium> file, std::byte* base);

  const std::unique_ptr<BufferedFileMedium> file_;
  std::byte* const base_;
  const uint64_t page_bytes_;
  const Traits traits_;
};

}  // namespace nvcache
