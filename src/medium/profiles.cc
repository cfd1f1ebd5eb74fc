#include "medium/profiles.h"

namespace nvcache {
namespace {

// Sources, in short (docs/design/model.md has them number by number): W = "Writes Hurt" (SoCC '22)
// Fig. 1, Fig. 2 and section 2.1; H = *Hybrid Cache* (ATC '21) Table 1; else our choice.
constexpr std::array<Profile, 4> kProfiles = {{
    {.name = "optane",  // two NVDIMMs
     .curve = {{{0, 12.0, 2.0}, {1, 3.4, 2.0}, {8, 0.8, 1.2}}},
     .read_latency_ns = 170,
     .write_latency_ns = 75,
     .stream_gb_s = 3.0,
     .transfer_bytes = 256,
     .settle_ns = 100'000,
     .flush_line_bytes = 64,
     .flush_issue_ns = 10,
     .fence_ns = 15,
     .byte_addressable = true},
    {.name = "dram",  // two modules
     .curve = {{{0, 30.0, 10.0}, {1, 24.6, 10.0}, {8, 19.5, 15.0}}},
     .read_latency_ns = 75,
     .write_latency_ns = 75,
     .stream_gb_s = 12.0,
     .transfer_bytes = 64,
     .settle_ns = 100'000,
     .flush_line_bytes = 64,
     .flush_issue_ns = 100,
     .fence_ns = 15,
     .byte_addressable = true},
    {.name = "cxl",  // one full-duplex x8 device
     .curve = {{{0, 17.8, 7.0}, {1, 17.2, 7.0}, {8, 13.5, 13.5}}},
     .read_latency_ns = 250,
     .write_latency_ns = 250,
     .stream_gb_s = 8.0,
     .transfer_bytes = 64,
     .settle_ns = 100'000,
     .flush_line_bytes = 64,
     .flush_issue_ns = 10,
     .fence_ns = 15,
     .byte_addressable = true},
    {.name = "flash",
     .curve = {{{0, 1.6, 1.0}, {1, 0.18, 1.0}, {8, 0.04, 1.0}}},
     .read_latency_ns = 85'000,
     .write_latency_ns = 20'000,
     .stream_gb_s = 0,
     .transfer_bytes = 4096,
     .settle_ns = 1'000'000,
     .flush_line_bytes = 0,
     .flush_issue_ns = 0,
     .fence_ns = 20'000,
     .byte_addressable = false},
}};

}  // namespace

std::span<const Profile> all_profiles() { return kProfiles; }

const Profile* find_profile(std::string_view name) {
  for (const Profile& profile : kProfiles) {
    if (profile.name == name) return &profile;
  }
  return nullptr;
}

std::string profile_names() {
  std::string names;
  for (const Profile& profile : kProfiles) {
    if (!names.empty()) names += ", ";
    names += profile.name;
  }
  return names;
}

}  // namespace nvcache
