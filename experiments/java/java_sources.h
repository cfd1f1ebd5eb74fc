// The Java programs' sources, built into nvbench by cmake/embed.cmake: file name and text.
#pragma once

#include <span>
#include <string_view>
#include <utility>

namespace nvcache::java {

std::span<const std::pair<std::string_view, std::string_view>> java_sources();

}  // namespace nvcache::java
