// The word for emulated media and storage: `emulated:PROFILE`, with the alias `modelled:`.
// Commands turn the alias into the word, so that results and messages have only one. Stateless.
#pragma once

#include <string>
#include <string_view>

namespace nvcache {

inline constexpr std::string_view kEmulatedPrefix = "emulated:";
inline constexpr std::string_view kEmulatedAlias = "modelled:";

inline bool is_emulated(std::string_view name) {
  return name.starts_with(kEmulatedPrefix) || name.starts_with(kEmulatedAlias);
}

// `name` with the word instead of the alias.
inline std::string emulated_name(std::string_view name) {
  if (!name.starts_with(kEmulatedAlias)) return std::string(name);
  return std::string(kEmulatedPrefix) + std::string(name.substr(kEmulatedAlias.size()));
}

}  // namespace nvcache
