#include "medium/numa.h"

#include <linux/mempolicy.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <optional>
#include <sstream>
#include <utility>

#include "base/assert.h"
#include "base/errno_status.h"
#include "base/files.h"
#include "base/text.h"
#include "medium/check.h"
#include "medium/dram.h"
#include "medium/table.h"

namespace nvcache {
namespace {

constexpr unsigned kMaxNodes = 1024;  // the most that Linux can be built for

bool parse_decimal(std::string_view text, unsigned& number) {
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && stop == end;
}

// The kernel's notation of a set: "0-1,3".
bool contains(std::string_view set, unsigned node) {
  while (!set.empty()) {
    const auto [range, rest] = split_once(set, ',');
    const auto [first_text, last_text] = split_once(range, '-');
    unsigned first = 0;
    if (!parse_decimal(first_text, first)) return false;
    unsigned last = first;
    if (!last_text.empty() && !parse_decimal(last_text, last)) return false;
    if (first <= node && node <= last) return true;
    set = rest;
  }
  return false;
}

StatusOr<std::string> nodes_with_memory(std::string_view name, const std::string& nodes_path) {
  const std::string path = nodes_path + "/has_memory";
  const std::optional<std::string> nodes = read_file(path);
  if (!nodes || nodes->empty()) {
    return unimplemented_error(
        fmt::format("medium '{}': the kernel does not say which NUMA nodes there are (no {}); "
                    "medium 'dram' is all the memory of the machine",
                    name, path));
  }
  return std::string(strip(*nodes));
}

StatusOr<unsigned> parse_node(std::string_view text, std::string_view name,
                              const std::string& nodes) {
  const std::string allowed =
      fmt::format("numa:NODE with one of the nodes that have memory: {}", nodes);
  unsigned node = 0;
  if (!parse_decimal(text, node)) {
    return invalid_argument("medium '{}': node '{}' is not a number; allowed: {}", name, text,
                            allowed);
  }
  if (node >= kMaxNodes || !contains(nodes, node)) {
    return invalid_argument("medium '{}': there is no node {} with memory; allowed: {}", name, text,
                            allowed);
  }
  return node;
}

// The node's memory, used or not; as good as unlimited where the kernel does not say.
uint64_t node_memory_bytes(unsigned node, const std::string& nodes_path) {
  std::istringstream file(
      read_file(fmt::format("{}/node{}/meminfo", nodes_path, node)).value_or(""));
  std::string word;
  while (file >> word) {
    uint64_t size_kib = 0;
    if (word == "MemTotal:" && file >> size_kib) return size_kib * 1024;
  }
  return ~uint64_t{0};
}

Status check_fits(std::string_view name, uint64_t size_bytes, uint64_t node_bytes) {
  if (size_bytes <= node_bytes) return ok_status();
  return resource_exhausted_error(
      fmt::format("{}: {} bytes are more than the {} of the node", name, size_bytes, node_bytes));
}

Status bind_to_node(std::string_view name, ByteView memory, unsigned node) {
  constexpr unsigned kWordBits = 8 * sizeof(unsigned long);
  NVCACHE_ASSERT(node < kMaxNodes);
  std::array<unsigned long, kMaxNodes / kWordBits> nodes{};
  nodes[node / kWordBits] |= 1UL << (node % kWordBits);
  // The kernel reads one bit less than it is told.
  if (syscall(SYS_mbind, memory.data(), memory.size(), MPOL_BIND, nodes.data(), kMaxNodes + 1, 0) ==
      0) {
    return ok_status();
  }
  switch (errno) {
    case ENOSYS:
      return unimplemented_error(
          fmt::format("medium '{}': the kernel is built without NUMA (mbind)", name));
    case EINVAL:
      return permission_denied_error(
          fmt::format("medium '{}': this process may not use memory of that node "
                      "(Mems_allowed_list in /proc/self/status names those that it may)",
                      name));
    default:
      return errno_status("binding memory (mbind) for medium", name, errno);
  }
}

}  // namespace

StatusOr<std::unique_ptr<Medium>> NumaMedium::open(std::string_view node,
                                                   const MediumOptions& options,
                                                   const std::string& nodes_path) {
  std::string name = fmt::format("numa:{}", node);
  const auto nodes = nodes_with_memory(name, nodes_path);
  if (!nodes.ok()) return nodes.status();
  const auto number = parse_node(node, name, *nodes);
  if (!number.ok()) return number.status();
  const auto wanted = complete_options(name, options);
  if (!wanted.ok()) return wanted.status();
  const uint64_t node_bytes = node_memory_bytes(*number, nodes_path);
  if (Status status = check_fits(name, wanted->size_bytes, node_bytes); !status.ok()) {
    return status;
  }
  auto memory = DramMedium::open(*wanted);
  if (!memory.ok()) return memory.status();
  // Before anything is written there: no page has a place yet.
  if (Status status = bind_to_node(name, (*memory)->direct(), *number); !status.ok()) {
    return status;
  }
  return std::unique_ptr<Medium>(
      new NumaMedium(*std::move(memory), fmt::format("numa:{}", *number), node_bytes));
}

NumaMedium::NumaMedium(std::unique_ptr<Medium> memory, std::string name, uint64_t node_bytes)
    : memory_(std::move(memory)),
      node_bytes_(node_bytes),
      traits_{.name = std::move(name), .reads = Reads::kInPlaceChecked} {}

Status NumaMedium::read(uint64_t offset, MutableBytes into) {
  if (Status status = check_range(traits_.name, offset, into.size(), size_bytes()); !status.ok()) {
    return status;
  }
  return memory_->read(offset, into);
}

Status NumaMedium::write(uint64_t offset, ByteView from) {
  if (Status status = check_range(traits_.name, offset, from.size(), size_bytes()); !status.ok()) {
    return status;
  }
  return memory_->write(offset, from);
}

Status NumaMedium::resize(uint64_t size_bytes) {
  if (Status status = check_resize(traits_.name, size_bytes, direct().size()); !status.ok()) {
    return status;
  }
  if (Status status = check_fits(traits_.name, size_bytes, node_bytes_); !status.ok()) {
    return status;
  }
  return memory_->resize(size_bytes);
}

StatusOr<MediumOpener> parse_numa(const MediumSpec& spec) {
  return [node = std::string(spec.place)](const MediumOptions& options, Clock&) {
    return NumaMedium::open(node, options);
  };
}

}  // namespace nvcache
