// The table of media: for each, how its specification begins, how to write it, examples
// that work, and what reads it. Error messages, the contract suite and the fuzzers'
// dictionary derive from the rows. Adding a medium: its file, and a row here.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "medium/medium.h"

namespace nvcache {

// Opens the medium that a specification named. Owns copies of what it needs of it.
using MediumOpener =
    std::function<absl::StatusOr<std::unique_ptr<Medium>>(const MediumOptions&, Clock&)>;

struct MediumRow {
  std::string_view prefix;  // how its specifications begin
  std::string_view usage;   // every way to write it
  // PATH stands for a file, DEVICE for a block device, as in usage.
  std::span<const std::string_view> examples;
  std::span<const std::string_view> options = {};  // names of what may follow after commas
  bool has_place = false;       // a file or a device follows the prefix
  bool may_be_refused = false;  // not every system has it or allows it
  // Reads the whole specification `spec`; `rest` is what follows the prefix.
  // INVALID_ARGUMENT names what is wrong and what is allowed.
  absl::StatusOr<MediumOpener> (*parse)(std::string_view spec, std::string_view rest);
};

// Each is defined beside its medium.
absl::StatusOr<MediumOpener> parse_dram(std::string_view spec, std::string_view rest);
absl::StatusOr<MediumOpener> parse_file(std::string_view spec, std::string_view rest);
absl::StatusOr<MediumOpener> parse_block_device(std::string_view spec, std::string_view rest);
absl::StatusOr<MediumOpener> parse_numa(std::string_view spec, std::string_view rest);
absl::StatusOr<MediumOpener> parse_emulated(std::string_view spec, std::string_view rest);

namespace medium_examples {
inline constexpr std::array<std::string_view, 1> kDram = {"dram"};
inline constexpr std::array<std::string_view, 3> kFile = {"file:PATH", "file:PATH,io=mmap",
                                                          "file:PATH,io=direct"};
inline constexpr std::array<std::string_view, 2> kBlockDevice = {"nvme:DEVICE",
                                                                 "nvme:DEVICE,format=yes"};
inline constexpr std::array<std::string_view, 1> kNuma = {"numa:0"};
inline constexpr std::array<std::string_view, 7> kEmulated = {
    "emulated:optane",
    "emulated:flash",
    "modelled:cxl",
    "emulated:optane,load=4,on=dram",
    "emulated:cxl,on=numa:0",
    "emulated:cxl,on=file:PATH",
    "emulated:flash,on=file:PATH,io=direct"};
}  // namespace medium_examples

namespace medium_options {
inline constexpr std::array<std::string_view, 1> kFile = {"io"};
inline constexpr std::array<std::string_view, 1> kBlockDevice = {"format"};
inline constexpr std::array<std::string_view, 2> kEmulated = {"load", "on"};
}  // namespace medium_options

inline constexpr std::array<MediumRow, 5> kMedia = {{
    {.prefix = "dram", .usage = "dram", .examples = medium_examples::kDram, .parse = parse_dram},
    {.prefix = "file:",
     .usage = "file:PATH[,io=mmap|direct]",
     .examples = medium_examples::kFile,
     .options = medium_options::kFile,
     .has_place = true,
     .parse = parse_file},
    {.prefix = "nvme:",
     .usage = "nvme:DEVICE[,format=yes]",
     .examples = medium_examples::kBlockDevice,
     .options = medium_options::kBlockDevice,
     .has_place = true,
     .may_be_refused = true,
     .parse = parse_block_device},
    {.prefix = "numa:",
     .usage = "numa:NODE",
     .examples = medium_examples::kNuma,
     .may_be_refused = true,
     .parse = parse_numa},
    {.prefix = "emulated:",
     .usage = "emulated:PROFILE[,load=N][,on=MEDIUM]",
     .examples = medium_examples::kEmulated,
     .options = medium_options::kEmulated,
     .parse = parse_emulated},
}};

// True for the name of an option of any medium: within a list, it belongs to the medium before it.
bool is_medium_option(std::string_view name);
// Whether the medium that `spec` names has that option, or the one that an emulated one lies on.
bool is_option_of(std::string_view spec, std::string_view name);

// The file or the device that a medium lies on, also an emulated one; empty if it is memory.
std::string_view place_of_medium(std::string_view spec);

// Reads a specification by the row that it begins with.
[[nodiscard]] absl::StatusOr<MediumOpener> parse_medium(std::string_view spec);

// What a message about `spec` says: the problem, and what is allowed.
[[nodiscard]] absl::Status bad_medium(std::string_view problem, std::string_view spec,
                                      std::string_view allowed);

// Every row's usage, and the profiles.
std::string allowed_media();

// What an emulated medium can lie on: "on=dram, on=file:PATH[,io=mmap|direct], on=numa:NODE".
std::string allowed_inner_media();

}  // namespace nvcache
