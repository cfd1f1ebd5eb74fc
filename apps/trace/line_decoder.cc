#include "apps/trace/line_decoder.h"

#include <charconv>
#include <utility>

#include "base/hash.h"
#include "fmt/format.h"
#include "spec/spec.h"

namespace nvcache {
namespace {

constexpr size_t kMostLineBytes = 64 << 10;
constexpr uint32_t kArcBlockBytes = 512;

class LineDecoder final : public Decoder {
 public:
  explicit LineDecoder(ParseLine parse) : parse_(std::move(parse)) {}

  absl::StatusOr<size_t> decode(std::string_view bytes, bool last,
                                std::vector<Access>* accesses) override {
    const size_t enough = accesses->size() + kEnoughAccesses;
    size_t start = 0;
    for (size_t end = 0; (end = bytes.find('\n', start)) != std::string_view::npos;
         start = end + 1) {
      if (!take(bytes.substr(start, end - start), accesses)) {
        return bad_line(line_, bytes.substr(start, end - start));
      }
      if (accesses->size() >= enough) return end + 1;
    }
    const std::string_view rest = bytes.substr(start);
    if (rest.size() > kMostLineBytes) return bad_line(line_ + 1, "longer than 64 KiB");
    if (!last || rest.empty()) return start;
    return take(rest, accesses) ? bytes.size() : start;
  }

 private:
  bool take(std::string_view line, std::vector<Access>* accesses) {
    ++line_;
    if (line.ends_with('\r')) line.remove_suffix(1);
    return line.empty() || parse_(line, line_, accesses);
  }
  static absl::Status bad_line(uint64_t number, std::string_view what) {
    return absl::DataLossError(
        fmt::format("line {}: no access: {}", number, shown(what.substr(0, 80))));
  }

  const ParseLine parse_;
  uint64_t line_ = 0;
};

bool parse_arc(std::string_view line, uint64_t, std::vector<Access>* accesses) {
  uint64_t first = 0;
  uint64_t count = 0;
  if (!take_number(&line, ' ', &first) || !take_number(&line, ' ', &count)) return false;
  if (count > kMostBlocksAnAccess) return false;
  for (uint64_t i = 0; i < count; ++i) {
    accesses->push_back({.key = first + i, .size_bytes = kArcBlockBytes});
  }
  return true;
}

bool parse_key(std::string_view line, uint64_t, std::vector<Access>* accesses) {
  accesses->push_back({.key = key_of_text(line)});
  return true;
}

}  // namespace

std::unique_ptr<Decoder> make_line_decoder(ParseLine parse) {
  return std::make_unique<LineDecoder>(std::move(parse));
}
std::unique_ptr<Decoder> make_arc_decoder() { return make_line_decoder(parse_arc); }
std::unique_ptr<Decoder> make_text_decoder() { return make_line_decoder(parse_key); }

bool take_number(std::string_view* text, char end, uint64_t* number) {
  const auto [after, error] = std::from_chars(text->data(), text->data() + text->size(), *number);
  if (error != std::errc()) return false;
  text->remove_prefix(static_cast<size_t>(after - text->data()));
  if (text->empty()) return true;
  if (text->front() != end) return false;
  text->remove_prefix(1);
  return true;
}

uint64_t key_of_text(std::string_view text) {
  uint64_t number = 0;
  std::string_view rest = text;
  return take_number(&rest, '\0', &number) && rest.empty() ? number : hash_bytes(text);
}

}  // namespace nvcache
