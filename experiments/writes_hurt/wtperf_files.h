// The workloads of experiments/writes_hurt/workloads, put into the binary by the build.
#pragma once

#include <span>
#include <string_view>
#include <utility>

namespace nvcache::writes_hurt {

// Name ("medium-btree.small.wtperf") and contents.
std::span<const std::pair<std::string_view, std::string_view>> wtperf_files();

}  // namespace nvcache::writes_hurt
