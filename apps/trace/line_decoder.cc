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
  LineDecoder(ParseLine parse, bool has_heading)
      : parse_(std::move(parse)), has_heading_(has_heading) {}

  StatusOr<size_t> decode(std::string_view bytes, bool last,
                          std::vector<Access>* accesses) override {
    const size_t enough = accesses->size() + kEnoughAccesses;
    size_t start = 0;
    for (size_t end = 0; (end = bytes.find('\n', start)) != std::string_view::npos;
         start = end + 1) {
      const std::string_view line = bytes.substr(start, end - start);
      // Its beginning may have been left out before.
      const bool is_rest = std::exchange(within_long_, false);
      if (!is_rest && !take(line, accesses)) {
        if (Status status = skip(line); !status.ok()) return status;
      }
      if (accesses->size() >= enough) return end + 1;
    }
    const std::string_view rest = bytes.substr(start);
    if (within_long_) return bytes.size();
    if (rest.size() > kMostLineBytes) {
      ++line_;
      within_long_ = true;
      if (Status status = skip(rest); !status.ok()) return status;
      return bytes.size();
    }
    if (!last || rest.empty()) return start;
    return take(rest, accesses) ? bytes.size() : start;
  }

  Skipped skipped() const override { return skipped_; }

 private:
  bool take(std::string_view line, std::vector<Access>* accesses) {
    constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
    ++line_;
    if (line.size() > kMostLineBytes) return false;
    if (line_ == 1 && line.starts_with(kByteOrderMark)) line.remove_prefix(kByteOrderMark.size());
    if (line.ends_with('\r')) line.remove_suffix(1);
    return line.empty() || parse_(line, line_, accesses);
  }
  // The line that was counted last.
  Status skip(std::string_view line) {
    const std::string_view what =
        line.size() > kMostLineBytes ? "longer than 64 KiB" : line.substr(0, 80);
    std::string text = fmt::format("line {}: no access: {}", line_, shown(what));
    if (line_ == 1 && has_heading_) return data_loss_error(text);
    if (++skipped_.lines == 1) skipped_.first = std::move(text);
    if (skipped_.lines <= kMostOddLines || skipped_.lines <= line_ / 2) return ok_status();
    return data_loss_error(
        fmt::format("{}, and so are {} of {} lines", skipped_.first, skipped_.lines, line_));
  }

  const ParseLine parse_;
  const bool has_heading_;
  uint64_t line_ = 0;
  bool within_long_ = false;  // a line whose end has not come
  Skipped skipped_;
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

std::unique_ptr<Decoder> make_line_decoder(ParseLine parse, bool has_heading) {
  return std::make_unique<LineDecoder>(std::move(parse), has_heading);
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
