#include <array>
#include <chrono>
#include <cstring>
#include <thread>

#include "device/measure.h"
#include "fmt/format.h"

namespace nvcache::bench {
namespace {

constexpr auto kTurn = std::chrono::microseconds(200);
constexpr uint64_t kMostTurns = 100'000;  // far longer than any region takes

// Its buffers are full, or no region has been emptied yet.
bool is_behind(Verdict verdict) {
  return verdict.reason == Reason::kWriteQueueFull || verdict.reason == Reason::kNoSpace;
}

}  // namespace

StatusOr<std::unique_ptr<BlockCache>> open_cache(const Disk& disk, const char* name,
                                                 uint64_t size_bytes, const std::string& more) {
  return open_block_cache(fmt::format("nvcache://?size={}&medium=file:{},io=direct{}{}", size_bytes,
                                      disk.file(name), more, disk.settings));
}

StatusOr<uint64_t> put_all(BlockCache& cache, uint64_t blocks, uint32_t block_bytes) {
  std::array<std::byte, kBlockBytes> block{};
  uint64_t waits = 0;
  for (uint64_t number = 0; number < blocks; ++number) {
    std::memcpy(block.data(), &number, sizeof number);
    const auto put = [&] {
      return cache.put(key_of(number), ByteView(block).first(block_bytes), Origin::kRead);
    };
    Verdict verdict = put();
    for (uint64_t turns = 0; is_behind(verdict) && turns < kMostTurns; ++turns, verdict = put()) {
      ++waits;
      std::this_thread::sleep_for(kTurn);
    }
    if (!verdict.admitted()) {
      return resource_exhausted_error(fmt::format("block {} of {} is refused: {}", number, blocks,
                                                  reason_name(verdict.reason)));
    }
  }
  return waits;
}

}  // namespace nvcache::bench
