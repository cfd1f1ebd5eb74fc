// The table of media: a row has all that the rest of nvcache asks of a medium before it is open.
// Specifications are read by it; error messages, help, the contract suite and the fuzzers'
// dictionary derive from it. Adding a medium: its file, and a row here (CONTRIBUTING).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "medium/medium.h"
#include "nvcache/status_or.h"

namespace nvcache {

// Opens the medium that a specification named. Owns copies of what it needs of it.
using MediumOpener = std::function<StatusOr<std::unique_ptr<Medium>>(const MediumOptions&, Clock&)>;

// A specification, taken apart by its row. Views into it.
struct MediumSpec {
  std::string_view whole;
  std::string_view place;    // what follows the prefix
  std::string_view options;  // "io=direct,async=off": some of the row's, each once

  // "direct" for "io"; empty if that is not given.
  std::string_view value_of(std::string_view name) const;
};

// Words of a literal, with a blank between each two.
class Words {
 public:
  class Iterator {
   public:
    explicit Iterator(std::string_view rest) : rest_(rest) {}
    std::string_view operator*() const { return rest_.substr(0, rest_.find(' ')); }
    Iterator& operator++() {
      rest_.remove_prefix(std::min((**this).size() + 1, rest_.size()));
      return *this;
    }
    bool operator!=(const Iterator& other) const { return rest_.size() != other.rest_.size(); }

   private:
    std::string_view rest_;
  };

  constexpr Words(const char* text) : text_(text) {}  // NOLINT: a row's literal
  Iterator begin() const { return Iterator(text_); }
  Iterator end() const { return Iterator({}); }
  bool empty() const { return text_.empty(); }

 private:
  std::string_view text_;
};

// The part of the machine that belongs to an open medium alone.
enum class Owns : uint8_t { kNothing, kFile, kDevice };

struct MediumRow {
  std::string_view prefix;      // how its specifications begin
  std::string_view alias = {};  // the same by another word, as long as the first
  std::string_view place = {};  // what follows, as usage shows it: "PATH"
  Words options = "";           // what may follow after commas: "io=mmap|direct"
  std::string_view help;        // what it is, in lines of 44 columns or so
  Words examples;               // that work; PATH stands for a file, DEVICE for a block device
  Owns owns = Owns::kNothing;   // what the place names
  Reads reads;                  // at best: of a file only on DAX, of an emulated medium by profile
  bool is_emulated = false;     // lies on another medium; reads its specification itself
  bool may_be_refused = false;  // not every system has it or allows it
  // A key-value store can lie on it: memory that is new, and so holds zeros, or a file that the
  // store keeps; without options. An emulated medium can if what it lies on can.
  bool holds_store = false;
  // Place and options are checked. INVALID_ARGUMENT names what is wrong and what is allowed.
  StatusOr<MediumOpener> (*parse)(const MediumSpec& spec);
};

// Each is defined beside its medium.
StatusOr<MediumOpener> parse_dram(const MediumSpec& spec);
StatusOr<MediumOpener> parse_file(const MediumSpec& spec);
StatusOr<MediumOpener> parse_block_device(const MediumSpec& spec);
StatusOr<MediumOpener> parse_numa(const MediumSpec& spec);
StatusOr<MediumOpener> parse_emulated(const MediumSpec& spec);

inline constexpr auto kMedia = std::to_array<MediumRow>({
    {.prefix = "dram",
     .help = "this machine's memory",
     .examples = "dram",
     .reads = Reads::kInPlace,
     .holds_store = true,
     .parse = parse_dram},
    {.prefix = "file:",
     .place = "PATH",
     .options = "io=mmap|direct async=ring|threads|off",
     .help = "a file (overwritten), or a directory for one;\n"
             "async: how io=direct reads side by side",
     .examples =
         "file:PATH file:PATH,io=mmap file:PATH,io=direct file:PATH,io=direct,async=threads "
         "file:PATH,io=direct,async=off",
     .owns = Owns::kFile,
     .reads = Reads::kInPlaceAsked,
     .holds_store = true,
     .parse = parse_file},
    {.prefix = "nvme:",
     .place = "DEVICE",
     .options = "format=yes async=ring|threads|off",
     .help = "a block device; format=yes overwrites it",
     .examples = "nvme:DEVICE nvme:DEVICE,format=yes nvme:DEVICE,async=threads",
     .owns = Owns::kDevice,
     .reads = Reads::kByCopy,
     .may_be_refused = true,
     .parse = parse_block_device},
    {.prefix = "numa:",
     .place = "NODE",
     .help = "memory of a NUMA node",
     .examples = "numa:0",
     .reads = Reads::kInPlaceChecked,
     .may_be_refused = true,
     .parse = parse_numa},
    {.prefix = "emulated:",
     .alias = "modelled:",
     .place = "PROFILE",
     .options = "load=N on=MEDIUM",
     .help = "optane, dram, cxl or flash, emulated; each\n"
             "access stands for the accesses of N clients",
     .examples = "emulated:optane emulated:flash modelled:cxl emulated:optane,load=4,on=dram "
                 "emulated:cxl,on=numa:0 emulated:cxl,on=file:PATH "
                 "emulated:flash,on=file:PATH,io=direct",
     .reads = Reads::kInPlaceAsked,
     .is_emulated = true,
     .holds_store = true,
     .parse = parse_emulated},
});

// Every way to write a medium: "file:PATH[,io=mmap|direct]".
std::string usage_of(const MediumRow& row);

// Constant text, with a zero behind it.
using MediaText = std::array<char, 400>;
// The media that a key-value store can lie on: "dram, file:PATH, emulated:PROFILE" with ", "
// between them. Made by the compiler, since tables of constants have it, too.
consteval MediaText store_media(std::string_view between, std::string_view before = "",
                                std::string_view behind = "") {
  MediaText text{};
  size_t size = 0;
  const auto append = [&](std::string_view part) {
    for (const char letter : part) text.at(size++) = letter;
  };
  append(before);
  bool first = true;
  for (const MediumRow& row : kMedia) {
    if (!row.holds_store) continue;
    if (!std::exchange(first, false)) append(between);
    append(row.prefix);
    append(row.place);
  }
  append(behind);
  text.at(size) = 0;  // does not compile where there is no room for it
  return text;
}

// The row that a specification begins with; null if there is none.
const MediumRow* find_medium_row(std::string_view spec);

// Whether that is a block device, or a file by direct I/O; not if it is emulated.
bool is_on_device(std::string_view spec);

// True for the name of an option of any medium: within a list, it belongs to the medium before it.
bool is_medium_option(std::string_view name);
// Whether the medium that `spec` names has that option, or the one that an emulated one lies on.
bool is_option_of(std::string_view spec, std::string_view name);

// The file or the device that a medium lies on, also an emulated one; empty if it is memory.
std::string_view place_of_medium(std::string_view spec);

// The ways of reading side by side that `async=` allows; its words are those of the rows.
AsyncReads async_reads_of(const MediumSpec& spec);

// Reads a specification by the row that it begins with.
[[nodiscard]] StatusOr<MediumOpener> parse_medium(std::string_view spec);

// An error about `spec`: the problem, and what is allowed.
[[nodiscard]] Status bad_medium(std::string_view problem, std::string_view spec,
                                std::string_view allowed);

// Every row's usage, and the profiles.
std::string allowed_media();

// The media that an emulated one can lie on: "on=dram, on=file:PATH[,io=mmap|direct],
// on=numa:NODE".
std::string allowed_inner_media();

// Usage and help of each row, a line or more, for the help of a command.
std::string media_help();

}  // namespace nvcache
