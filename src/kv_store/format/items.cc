#include "kv_store/format/items.h"

#include <cstring>

#include "base/hash.h"
#include "base/test_hooks.h"

namespace nvcache {

KvDescriptor KvItems::write(uint64_t address, std::string_view key, ByteView value,
                            const KvMeta& meta, uint32_t tag, uint32_t version) {
  const KvItemHeader header = {.expiry = kv_expiry_word(meta.expires_s, meta.cas, address, nonce_),
                               .cas = meta.cas,
                               .flags = meta.flags,
                               .value_bytes = static_cast<uint32_t>(meta.bytes_of(value)),
                               .key_bytes = static_cast<uint8_t>(key.size())};
  std::byte* to = memory_.at(address);
  write_item_header(to, header);
  call(test_hooks.on_put_step);
  std::byte* const value_at = to + kKvItemHeaderBytes + key.size();
  std::memcpy(to + kKvItemHeaderBytes, key.data(), key.size());
  if (!value.empty()) std::memcpy(value_at, value.data(), value.size());
  if (meta.marks) value_at[value.size()] = std::byte{*meta.marks};
  call(test_hooks.on_put_step);
  return make_descriptor(address, tag, version, checksum(address, {.bytes = to, .header = header}));
}

KvDescriptor KvItems::copy(uint64_t address, const KvItemView& item, uint32_t tag,
                           uint32_t version) {
  KvItemHeader header = item.header;
  header.expiry = kv_expiry_word(item.expires_s(), header.cas, address, nonce_);
  std::byte* to = memory_.at(address);
  write_item_header(to, header);
  std::memcpy(to + kKvItemHeaderBytes, item.key(), uint64_t{header.key_bytes} + header.value_bytes);
  return make_descriptor(address, tag, version, checksum(address, {.bytes = to, .header = header}));
}

uint32_t KvItems::checksum(uint64_t address, const KvItemView& item) const {
  return checksum_block({.file = nonce_, .offset = address}, item.checked());
}

bool KvItems::is_intact(uint64_t address, const KvDescriptor& descriptor,
                        const KvItemView& item) const {
  const uint32_t want = descriptor.checksum() ^ kv_version_mask(descriptor.version(), address);
  return checksum(address, item) == want && expiry_is_intact(address, item);
}

}  // namespace nvcache
