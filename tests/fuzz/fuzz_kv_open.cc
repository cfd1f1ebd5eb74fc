// Opens a key-value store on arbitrary bytes: it opens or is refused, and crashes in neither
// case. A second mode starts from a valid store and damages it: what is then served must be
// the key's value, byte for byte.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "kv_store/store/store.h"
#include "support/crashing_medium.h"

namespace {

constexpr uint64_t kSizeBytes = 32 << 10;
constexpr int kKeys = 40;

nvcache::KvConfig config() {
  nvcache::KvConfig config;
  config.size_bytes = kSizeBytes;
  config.zone_bytes = 4 << 10;
  config.item_bytes = 1024;
  config.now_s = [] { return 1000u; };
  return config;
}

std::unique_ptr<nvcache::KvStore> open(const std::vector<std::byte>& image) {
  nvcache::KvMedium medium;
  medium.medium = std::make_unique<nvcache::CrashingMedium>(image);
  auto store = nvcache::KvStoreImpl::make(config(), std::move(medium));
  if (store.ok()) return *std::move(store);
  if (store.status().message().empty()) std::abort();
  return nullptr;
}

std::string key_of(int i) { return "key" + std::to_string(i); }

// At least 64 bytes that no other key has.
std::string value_of(int i) {
  std::string value;
  while (value.size() < 64) value += "<" + key_of(i) + ">";
  return value;
}

std::vector<std::byte> whole_store() {
  nvcache::KvMedium on;
  auto medium = std::make_unique<nvcache::CrashingMedium>(kSizeBytes);
  nvcache::CrashingMedium* seen = medium.get();
  on.medium = std::move(medium);
  auto made = nvcache::KvStoreImpl::make(config(), std::move(on));
  if (!made.ok()) std::abort();
  nvcache::KvStore& store = **made;
  for (int i = 0; i < kKeys; ++i) {
    const std::string value = value_of(i);
    (void)store.put(key_of(i), std::as_bytes(std::span(value)), {});
  }
  if (!store.sync().ok()) std::abort();
  return seen->crash(1);
}

void use(nvcache::KvStore& store, bool damaged) {
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < kKeys; ++i) {
      const nvcache::KvItem item = store.get(key_of(i));
      if (!item || !damaged) continue;
      const std::string value = value_of(i);
      if (item.value().size() != value.size() ||
          std::memcmp(item.value().data(), value.data(), value.size()) != 0) {
        std::abort();
      }
    }
    for (int i = 0; i < kKeys; ++i) {
      const std::string value = value_of(i);
      (void)store.put(key_of(i), std::as_bytes(std::span(value)), {});
      (void)store.erase(key_of(i / 2));
    }
  }
  (void)store.stats();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const std::vector<std::byte> whole = whole_store();
  if (size < 1) return 0;
  std::vector<std::byte> image(kSizeBytes);
  const bool damages = data[0] % 4 != 0;
  if (damages) {
    // Four bytes each: where, and what is put there.
    image = whole;
    for (size_t at = 1; at + 4 <= size; at += 4) {
      const size_t where = (data[at] | data[at + 1] << 8) % kSizeBytes;
      image[where] = static_cast<std::byte>(data[at + 2]);
      image[(where + data[at + 3]) % kSizeBytes] ^= static_cast<std::byte>(data[at + 2]);
    }
  } else {
    std::memcpy(image.data(), data + 1, std::min<size_t>(size - 1, image.size()));
  }
  if (const auto store = open(image)) use(*store, damages);
  return 0;
}
