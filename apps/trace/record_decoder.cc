#include "apps/trace/record_decoder.h"

#include <bit>
#include <cstring>

namespace nvcache {
namespace {

static_assert(std::endian::native == std::endian::little);

template <typename Number>
Number number_at(const char* bytes) {
  Number number = 0;
  std::memcpy(&number, bytes, sizeof number);
  return number;
}

template <size_t kRecordBytes, Access (*kAccessOf)(const char* record)>
class RecordDecoder final : public Decoder {
 public:
  StatusOr<size_t> decode(std::string_view bytes, bool /*last*/,
                          std::vector<Access>* accesses) override {
    size_t at = 0;
    for (; bytes.size() - at >= kRecordBytes; at += kRecordBytes) {
      accesses->push_back(kAccessOf(bytes.data() + at));
    }
    return at;
  }
};

Access oracle_general_access(const char* record) {
  return {.key = number_at<uint64_t>(record + 4), .size_bytes = number_at<uint32_t>(record + 12)};
}
Access u32_access(const char* record) { return {.key = number_at<uint32_t>(record)}; }
Access u64_access(const char* record) { return {.key = number_at<uint64_t>(record)}; }
Access u32be_access(const char* record) {
  return {.key = __builtin_bswap32(number_at<uint32_t>(record))};
}

}  // namespace

std::unique_ptr<Decoder> make_oracle_general_decoder() {
  return std::make_unique<RecordDecoder<24, oracle_general_access>>();
}
std::unique_ptr<Decoder> make_u32_decoder() {
  return std::make_unique<RecordDecoder<4, u32_access>>();
}
std::unique_ptr<Decoder> make_u64_decoder() {
  return std::make_unique<RecordDecoder<8, u64_access>>();
}
std::unique_ptr<Decoder> make_u32be_decoder() {
  return std::make_unique<RecordDecoder<4, u32be_access>>();
}

}  // namespace nvcache
