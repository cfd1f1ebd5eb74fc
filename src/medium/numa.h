// Memory of one NUMA node as a medium: DRAM of another socket, and CXL memory or
// persistent memory that the kernel has taken into service as system RAM (a node
// without processors; for persistent memory, KMEM DAX).
//
// As DramMedium in all else: address space at open, memory page by page when it is
// first written. Memory comes from that node only; it is never taken from another.
// A size above the node's whole memory is RESOURCE_EXHAUSTED at open and resize; a
// node that others have filled shows in the kernel's out-of-memory handling.
//
// Bound by the system call itself: it is one call, and libnuma would be a library
// more that every program with nvcache has to have.
//
// Thread-safe on disjoint extents. Reads and writes cost a range check more than
// DramMedium's; reads in place cost the same.
#pragma once

#include <string>
#include <string_view>

#include "medium/medium.h"

namespace nvcache {

class NumaMedium final : public Medium {
 public:
  static constexpr const char* kNodesPath = "/sys/devices/system/node";

  // `node` is the text behind "numa:". INVALID_ARGUMENT names the nodes there are;
  // UNIMPLEMENTED where the kernel knows no nodes, PERMISSION_DENIED where it does
  // not let this process bind memory. `nodes_path`: where the kernel lists its nodes.
  [[nodiscard]] static StatusOr<std::unique_ptr<Medium>> open(
      std::string_view node, const MediumOptions& options,
      const std::string& nodes_path = kNodesPath);

  uint64_t size_bytes() const override { return memory_->size_bytes(); }
  const Traits& traits() const override { return traits_; }
  [[nodiscard]] Status read(uint64_t offset, MutableBytes into) override;
  [[nodiscard]] Status write(uint64_t offset, ByteView from) override;
  ByteView direct() const override { return memory_->direct(); }
  [[nodiscard]] Status resize(uint64_t size_bytes) override;

 private:
  NumaMedium(std::unique_ptr<Medium> memory, std::string name, uint64_t node_bytes);

  const std::unique_ptr<Medium> memory_;  // what is bound
  const uint64_t node_bytes_;
  const Traits traits_;
};

}  // namespace nvcache
