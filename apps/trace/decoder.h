// A format of traces: turns bytes into accesses. It knows no file, so that any bytes can be tried.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "nvcache/status_or.h"

namespace nvcache {

inline constexpr uint32_t kUsualBlockBytes = 4096;

struct Access {
  uint64_t key = 0;  // of a block: the same number for the same block, within one trace
  uint32_t size_bytes = kUsualBlockBytes;

  bool operator==(const Access&) const = default;
};

// Caller-locked.
class Decoder {
 public:
  // It may stop once it has that many accesses: a short line can be many.
  static constexpr size_t kEnoughAccesses = 1 << 16;

  virtual ~Decoder() = default;

  // Appends the accesses at the front of `bytes`, and returns how many bytes they took. The rest
  // comes again: at once if it stopped at kEnoughAccesses, else with more behind it.
  // `last`: nothing comes behind `bytes`. DATA_LOSS names the line or the byte of the trace that is
  // no access, where it cannot be left out.
  [[nodiscard]] virtual StatusOr<size_t> decode(std::string_view bytes, bool last,
                                                std::vector<Access>* accesses) = 0;
  // Lines that are no access, and were left out.
  struct Skipped {
    uint64_t lines = 0;
    std::string first;  // its number, and what it says
  };
  virtual Skipped skipped() const { return {}; }
};

}  // namespace nvcache
