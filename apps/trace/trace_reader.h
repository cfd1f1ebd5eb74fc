// Reads a trace of block accesses, of any length, from a file. Memory: 64 KiB and the longest
// access, at most 1 MiB.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "apps/trace/decoder.h"
#include "apps/trace/formats.h"
#include "apps/trace/input.h"
#include "nvcache/status_or.h"

namespace nvcache {

// Caller-locked.
class TraceReader {
 public:
  // With .zst, .xz or .gz at the end of its name, a file is read through that program. "-" is
  // standard input. NOT_FOUND, UNAVAILABLE, or INVALID_ARGUMENT for a format that is none.
  [[nodiscard]] static StatusOr<std::unique_ptr<TraceReader>> open(
      const std::string& path, const TraceOptions& options = {});

  // Appends the next accesses, some thousands. False at the end. DATA_LOSS names the file, the line
  // or byte that is no access, and what is understood. A file that ends too early is no error, nor
  // are some lines that are no access: see cut_short() and skipped().
  [[nodiscard]] StatusOr<bool> read(std::vector<Access>* accesses);

  // At the end: how the file ends too early; empty if it is whole.
  const std::string& cut_short() const { return cut_short_; }
  Decoder::Skipped skipped() const { return decoder_->skipped(); }
  std::string_view format() const { return format_.name; }
  // How much of the file was read, from 0 to 1; 0 where its size is not known.
  double share_read() const { return input_->share_read(); }

 private:
  TraceReader(std::string path, const TraceFormat& format, std::unique_ptr<Decoder> decoder,
              std::unique_ptr<Input> input);
  Status bad(std::string_view what) const;
  Status fill();
  Status end();

  const std::string path_;
  const TraceFormat& format_;
  const std::unique_ptr<Decoder> decoder_;
  const std::unique_ptr<Input> input_;
  std::string bytes_;  // what is no whole access yet
  uint64_t done_ = 0;
  uint64_t accesses_ = 0;
  bool read_all_ = false;  // of the file
  bool stopped_ = false;   // the decoder, at kEnoughAccesses
  std::string cut_short_;
};

}  // namespace nvcache
