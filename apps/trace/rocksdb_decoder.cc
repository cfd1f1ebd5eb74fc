#include "apps/trace/rocksdb_decoder.h"

#include <cstring>
#include <string_view>

#include "base/hash.h"
#include "fmt/format.h"

namespace nvcache {
namespace {

constexpr size_t kHeadBytes = 13;
constexpr size_t kTypeOffset = 8;
constexpr size_t kLengthOffset = 9;
constexpr size_t kMostPayloadBytes = 1 << 20;
constexpr uint64_t kMostBlockBytes = 1 << 30;
constexpr char kBegin = 1;
constexpr char kFirstBlockType = 7;  // index, filter, data, dictionary, range deletions
constexpr char kLastBlockType = 11;
constexpr std::string_view kMagic =
    "\x10"
    "feedcafedeadbeef";

// Takes fields off the front of a payload. Once one is missing, all are zero.
class Fields {
 public:
  explicit Fields(std::string_view payload) : rest_(payload) {}

  template <typename Number>
  Number number() {
    Number value = 0;
    const std::string_view bytes = take(sizeof value);
    if (!bytes.empty()) std::memcpy(&value, bytes.data(), sizeof value);
    return value;
  }
  // A length (varint of up to 32 bits) and so many bytes.
  std::string_view text() {
    uint64_t length = 0;
    for (uint32_t shift = 0; shift < 35; shift += 7) {
      const auto byte = number<uint8_t>();
      length |= uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return take(length);
    }
    whole_ = false;
    return {};
  }
  bool whole() const { return whole_; }

 private:
  std::string_view take(uint64_t bytes) {
    whole_ = whole_ && bytes <= rest_.size();
    if (!whole_) return {};
    const std::string_view taken = rest_.substr(0, bytes);
    rest_.remove_prefix(bytes);
    return taken;
  }

  std::string_view rest_;
  bool whole_ = true;
};

class RocksdbDecoder final : public Decoder {
 public:
  StatusOr<size_t> decode(std::string_view bytes, bool /*last*/,
                          std::vector<Access>* accesses) override {
    size_t at = 0;
    while (bytes.size() - at >= kHeadBytes) {
      uint32_t length = 0;
      std::memcpy(&length, bytes.data() + at + kLengthOffset, sizeof length);
      const char type = bytes[at + kTypeOffset];
      if (!begun_ && type != kBegin) return bad_frame(at, "no block cache trace of RocksDB");
      if (length > kMostPayloadBytes) return bad_frame(at, "a frame longer than 1 MiB");
      if (bytes.size() - at < kHeadBytes + length) break;
      if (!take(type, bytes.substr(at + kHeadBytes, length), accesses)) {
        return bad_frame(at, begun_ ? "no access" : "no block cache trace of RocksDB");
      }
      at += kHeadBytes + length;
    }
    done_ += at;
    return at;
  }

 private:
  bool take(char type, std::string_view payload, std::vector<Access>* accesses) {
    if (!begun_) {
      begun_ = payload.starts_with(kMagic);
      return begun_;
    }
    if (type < kFirstBlockType || type > kLastBlockType) return false;
    Fields fields(payload);
    const std::string_view key = fields.text();
    const auto size_bytes = fields.number<uint64_t>();
    fields.number<uint64_t>();  // the column family, and its name
    fields.text();
    fields.number<uint32_t>();  // the level
    fields.number<uint64_t>();  // the file
    fields.number<uint8_t>();   // who reads
    fields.number<uint8_t>();   // whether it was a hit
    const bool inserts = fields.number<uint8_t>() == 0;
    if (!fields.whole() || key.empty() || size_bytes > kMostBlockBytes) return false;
    if (inserts) {
      accesses->push_back(
          {.key = hash_bytes(key), .size_bytes = static_cast<uint32_t>(size_bytes)});
    }
    return true;
  }
  Status bad_frame(size_t at, std::string_view what) const {
    return data_loss_error(fmt::format("byte {}: {}", done_ + at, what));
  }

  uint64_t done_ = 0;
  bool begun_ = false;
};

}  // namespace

std::unique_ptr<Decoder> make_rocksdb_decoder() { return std::make_unique<RocksdbDecoder>(); }

}  // namespace nvcache
