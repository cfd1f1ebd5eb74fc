// Items in zones: writes an item, changes its time of expiry, and checks that its bytes match
// its descriptor. Checks depend on the store's nonce and on the item's address, so that
// bytes left over from elsewhere fail (docs/design/format.md).
//
// Thread-safe on disjoint items; takes no locks and flushes nothing.
#pragma once

#include <cstdint>
#include <string_view>

#include "kv_store/format/durable_memory.h"
#include "kv_store/format/layout.h"
#include "nvcache/bytes.h"
#include "nvcache/kv_store.h"

namespace nvcache {

class KvItems {
 public:
  KvItems(DurableMemory& memory, uint64_t nonce) : memory_(memory), nonce_(nonce) {}

  // Writes an item and returns the descriptor that leads to it.
  KvDescriptor write(uint64_t address, std::string_view key, ByteView value, const KvMeta& meta,
                     uint32_t tag, uint32_t version);

  // Copies an item to another address, as it is now. Returns the descriptor that leads to the copy.
  KvDescriptor copy(uint64_t address, const KvItemView& item, uint32_t tag, uint32_t version);

  // Changes the time of expiry of an item in place.
  void set_expiry(uint64_t address, uint32_t expires_s, uint64_t cas) {
    store_word(memory_.at(address), kv_expiry_word(expires_s, cas, address, nonce_),
               std::memory_order_relaxed);
  }
  KvItemView view(uint64_t address) const { return view_item(memory_.at(address)); }
  uint32_t checksum(uint64_t address, const KvItemView& item) const;
  bool is_intact(uint64_t address, const KvDescriptor& descriptor, const KvItemView& item) const;
  // Whether the first two words of an item that lay at an address when it was written, or touched,
  // may be those at `bytes`.
  bool begins_item(const std::byte* bytes, uint64_t address) const {
    const uint64_t expiry = load_word(bytes, std::memory_order_relaxed);
    const uint64_t cas = load_word(bytes + kKvExpiryBytes, std::memory_order_relaxed);
    return expiry == kv_expiry_word(static_cast<uint32_t>(expiry), cas, address, nonce_);
  }
  bool expiry_is_intact(uint64_t address, const KvItemView& item) const {
    return item.header.expiry == kv_expiry_word(item.expires_s(), item.header.cas, address, nonce_);
  }

 private:
  DurableMemory& memory_;
  const uint64_t nonce_;
};

}  // namespace nvcache
