#include "apps/trace/csv_decoder.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>

#include "apps/trace/line_decoder.h"
#include "base/text.h"
#include "spec/spec.h"

namespace nvcache {
namespace {

constexpr uint64_t kSectorBytes = 512;
constexpr uint64_t kSectorsPerBlock = kUsualBlockBytes / kSectorBytes;
constexpr size_t kMostColumns = 256;
constexpr std::array<std::string_view, 5> kKeyNames = {"key", "obj_id", "object_id", "id", "block"};
constexpr std::array<std::string_view, 4> kSizeNames = {"size", "bytes", "obj_size", "length"};

// Where the first column of a line ends. A comma between quotes is no end; two quotes within are
// one of the text.
size_t end_of_column(std::string_view line) {
  bool quoted = false;
  for (size_t at = 0; at < line.size(); ++at) {
    if (line[at] == '"') quoted = !quoted;
    if (line[at] == ',' && !quoted) return at;
  }
  // One quote alone is of the text.
  return quoted ? line.find(',') : std::string_view::npos;
}

// Without blanks and quotes around them.
std::vector<std::string_view> columns_of(std::string_view line) {
  std::vector<std::string_view> columns;
  for (;;) {
    const size_t end = end_of_column(line);
    std::string_view column = line.substr(0, end);
    while (column.starts_with(' ')) column.remove_prefix(1);
    while (column.ends_with(' ')) column.remove_suffix(1);
    if (column.size() >= 2 && column.starts_with('"') && column.ends_with('"')) {
      column = column.substr(1, column.size() - 2);
    }
    columns.push_back(column);
    if (end == std::string_view::npos || columns.size() == kMostColumns) return columns;
    line.remove_prefix(end + 1);
  }
}

std::optional<uint64_t> whole_number(std::string_view text) {
  uint64_t number = 0;
  if (!take_number(&text, '\0', &number) || !text.empty()) return std::nullopt;
  return number;
}

std::optional<size_t> position_of(const std::vector<std::string_view>& heading,
                                  std::span<const std::string_view> names) {
  const auto found = std::find_first_of(heading.begin(), heading.end(), names.begin(), names.end());
  if (found == heading.end()) return std::nullopt;
  return static_cast<size_t>(found - heading.begin());
}

class CsvLines {
 public:
  explicit CsvLines(std::vector<std::string> columns) : wanted_(std::move(columns)) {}

  bool operator()(std::string_view line, uint64_t number, std::vector<Access>* accesses) {
    const std::vector<std::string_view> columns = columns_of(line);
    if (number == 1) {
      const bool is_heading = read_heading(columns);
      if (is_heading || !key_) return is_heading && key_.has_value();
    }
    if (!key_ || *key_ >= columns.size() || (size_ && *size_ >= columns.size())) return false;
    uint64_t size_bytes = kUsualBlockBytes;
    if (size_) {
      const std::optional<uint64_t> size = whole_number(columns[*size_]);
      if (!size) return false;
      size_bytes = *size;
    }
    if (sectors_) return add_blocks(columns[*key_], size_bytes, accesses);
    if (columns[*key_].empty()) return false;
    accesses->push_back(
        {.key = key_of_text(columns[*key_]),
         .size_bytes = static_cast<uint32_t>(std::min<uint64_t>(size_bytes, UINT32_MAX))});
    return true;
  }

 private:
  // Finds the columns. True if the line names them.
  bool read_heading(const std::vector<std::string_view>& line) {
    if (wanted_.empty()) {
      constexpr std::array<std::string_view, 1> kSectorName = {"lbn"};
      key_ = position_of(line, kSectorName);
      sectors_ = key_.has_value();
      if (!key_) key_ = position_of(line, kKeyNames);
      size_ = position_of(line, kSizeNames);
      return true;
    }
    bool named = false;
    const auto find = [&](const std::string& column) -> std::optional<size_t> {
      if (const auto at = whole_number(column)) return *at - 1;
      named = true;
      const std::array<std::string_view, 1> name = {column};
      return position_of(line, name);
    };
    key_ = find(wanted_[0]);
    if (wanted_.size() > 1) size_ = find(wanted_[1]);
    if (wanted_.size() > 1 && !size_) key_.reset();
    if (named) return true;
    return key_ && *key_ < line.size() && !whole_number(line[*key_]);
  }

  static bool add_blocks(std::string_view text, uint64_t size_bytes,
                         std::vector<Access>* accesses) {
    const std::optional<uint64_t> sector = whole_number(text);
    if (!sector || *sector > ~uint64_t{0} / 2) return false;
    const uint64_t end = *sector + std::max<uint64_t>(1, size_bytes / kSectorBytes);
    if (end - *sector > kMostBlocksAnAccess * kSectorsPerBlock) return false;
    const uint64_t end_block = (end + kSectorsPerBlock - 1) / kSectorsPerBlock;
    for (uint64_t block = *sector / kSectorsPerBlock; block < end_block; ++block) {
      accesses->push_back({.key = block});
    }
    return true;
  }

  const std::vector<std::string> wanted_;  // the key's, and perhaps the size's
  std::optional<size_t> key_;
  std::optional<size_t> size_;
  bool sectors_ = false;
};

}  // namespace

StatusOr<std::unique_ptr<Decoder>> make_csv_decoder(const TraceOptions& options) {
  std::vector<std::string> wanted;
  if (!options.columns.empty()) {
    for (const std::string_view column : columns_of(options.columns)) wanted.emplace_back(column);
    const bool good = wanted.size() <= 2 && std::ranges::none_of(wanted, [](const auto& column) {
                        return column.empty() || column == "0";
                      });
    if (!good) {
      return invalid_argument(
          "columns '{}'; allowed: KEY or KEY,SIZE, each a name of the heading or a number from 1",
          shown(options.columns));
    }
  }
  return make_line_decoder(CsvLines(std::move(wanted)), /*has_heading=*/true);
}

}  // namespace nvcache
