#include "kv_store/write_cache/write_cache.h"

#include <algorithm>
#include <cstring>

#include "base/assert.h"

namespace nvcache {

KvBuffer* KvBuffer::make(uint64_t hash, std::string_view key, ByteView value, const KvMeta& meta) {
  const uint64_t value_bytes = meta.bytes_of(value);
  void* memory = ::operator new(sizeof(KvBuffer) + key.size() + value_bytes);
  auto* buffer = new (memory) KvBuffer;
  buffer->hash_ = hash;
  buffer->cas_ = meta.cas;
  buffer->flags_ = meta.flags;
  buffer->set_expires_s(meta.expires_s);
  buffer->key_bytes_ = static_cast<uint32_t>(key.size());
  buffer->value_bytes_ = value_bytes;
  char* data = reinterpret_cast<char*>(buffer + 1);
  if (!key.empty()) std::memcpy(data, key.data(), key.size());
  if (!value.empty()) std::memcpy(data + key.size(), value.data(), value.size());
  if (meta.marks) data[key.size() + value.size()] = static_cast<char>(*meta.marks);
  return buffer;
}

void KvBuffer::release() {
  const uint32_t before = references_.fetch_sub(1, std::memory_order_acq_rel);
  NVCACHE_ASSERT_SLOW(before > 0);
  if (before != 1) return;
  this->~KvBuffer();
  ::operator delete(this);
}

bool KvWriteCache::note(uint64_t hash, KvBufferRef* fallen) {
  Part& part = part_of(hash);
  MutexLock lock(part.mutex);
  ++part.clock;
  uint32_t oldest = 0;
  for (uint32_t i = 0; i < kPartLength; ++i) {
    if (part.hashes[i] == hash && part.written[i] != 0) {
      part.written[i] = part.clock;
      return ++part.writes[i] >= kHotWrites;
    }
    if (part.written[i] < part.written[oldest]) oldest = i;
  }
  if (part.buffers[oldest]) {
    *fallen = part.buffers[oldest].share();
    part.fallen.push_back(std::move(part.buffers[oldest]));
    part.buffers[oldest] = KvBufferRef();
  }
  part.hashes[oldest] = hash;
  part.written[oldest] = part.clock;
  part.writes[oldest] = 1;
  return false;
}

KvBufferRef KvWriteCache::find(uint64_t hash, std::string_view key) {
  Part& part = part_of(hash);
  MutexLock lock(part.mutex);
  for (uint32_t i = 0; i < kPartLength; ++i) {
    if (part.hashes[i] == hash && part.buffers[i] && part.buffers[i]->key() == key) {
      return part.buffers[i].share();
    }
  }
  for (const KvBufferRef& buffer : part.fallen) {
    if (buffer->hash() == hash && buffer->key() == key) return buffer.share();
  }
  return {};
}

bool KvWriteCache::grow(uint64_t size_bytes) {
  if (used_bytes_.fetch_add(size_bytes, std::memory_order_relaxed) + size_bytes <= limit_bytes_) {
    return true;
  }
  used_bytes_.fetch_sub(size_bytes, std::memory_order_relaxed);
  return false;
}

bool KvWriteCache::insert(const KvBufferRef& buffer) {
  Part& part = part_of(buffer->hash());
  MutexLock lock(part.mutex);
  for (uint32_t i = 0; i < kPartLength; ++i) {
    if (part.hashes[i] != buffer->hash() || part.written[i] == 0) continue;
    if (part.buffers[i]) return false;  // another key of the same hash
    if (!grow(buffer->size_bytes())) return false;
    part.buffers[i] = buffer.share();
    return true;
  }
  return false;
}

KvBufferRef* KvWriteCache::locate(Part& part, const KvBuffer* buffer) {
  for (KvBufferRef& each : part.buffers) {
    if (each.get() == buffer) return &each;
  }
  for (KvBufferRef& each : part.fallen) {
    if (each.get() == buffer) return &each;
  }
  return nullptr;
}

bool KvWriteCache::replace(const KvBuffer* old, const KvBufferRef& buffer) {
  Part& part = part_of(buffer->hash());
  MutexLock lock(part.mutex);
  KvBufferRef* at = locate(part, old);
  if (at == nullptr) return false;
  for (uint32_t i = 0; i < kPartLength; ++i) {
    if (part.hashes[i] != buffer->hash() || part.written[i] == 0) continue;
    if (part.buffers[i] && &part.buffers[i] != at) return false;
    const uint64_t before_bytes = old->size_bytes();
    const uint64_t after_bytes = buffer->size_bytes();
    if (after_bytes > before_bytes && !grow(after_bytes - before_bytes)) return false;
    if (after_bytes < before_bytes) used_bytes_.fetch_sub(before_bytes - after_bytes);
    *at = KvBufferRef();
    std::erase_if(part.fallen, [](const KvBufferRef& each) { return !each; });
    part.buffers[i] = buffer.share();
    return true;
  }
  return false;
}

bool KvWriteCache::take(const KvBuffer* buffer) {
  Part& part = part_of(buffer->hash());
  MutexLock lock(part.mutex);
  KvBufferRef* at = locate(part, buffer);
  if (at == nullptr) return false;
  NVCACHE_ASSERT_SLOW(used_bytes() >= buffer->size_bytes());
  used_bytes_.fetch_sub(buffer->size_bytes(), std::memory_order_relaxed);
  *at = KvBufferRef();
  std::erase_if(part.fallen, [](const KvBufferRef& each) { return !each; });
  return true;
}

void KvWriteCache::queue_move(KvBufferRef buffer) {
  MutexLock lock(moves_mutex_);
  moves_.push_back(std::move(buffer));
  moves_count_.store(moves_.size(), std::memory_order_relaxed);
}

KvBufferRef KvWriteCache::next_move() {
  if (moves_count_.load(std::memory_order_relaxed) == 0) return {};
  MutexLock lock(moves_mutex_);
  if (moves_.empty()) return {};
  KvBufferRef buffer = std::move(moves_.front());
  moves_.pop_front();
  moves_count_.store(moves_.size(), std::memory_order_relaxed);
  return buffer;
}

std::vector<KvBufferRef> KvWriteCache::all() {
  std::vector<KvBufferRef> found;
  for (Part& part : parts_) {
    MutexLock lock(part.mutex);
    for (const KvBufferRef& each : part.buffers) {
      if (each) found.push_back(each.share());
    }
    for (const KvBufferRef& each : part.fallen) found.push_back(each.share());
  }
  return found;
}

}  // namespace nvcache
