// A key-value store in a file: its items are there again when it is opened the next time. Store,
// look up, replace only what was seen, erase, and visit all items.
#include <nvcache/kv_store.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace {

nvcache::ByteView bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

std::string text_of(const nvcache::KvItem& item) {
  return {reinterpret_cast<const char*>(item.value().data()), item.value().size()};
}

std::unique_ptr<nvcache::KvStore> open_store(const std::string& path) {
  nvcache::StatusOr<std::unique_ptr<nvcache::KvStore>> opened =
      nvcache::open_kv_store("nvkv://?size=16MiB&medium=file:" + path + "&durability=each");
  if (!opened.ok()) {  // the message names the setting, what was given and what is allowed
    std::cerr << opened.status() << "\n";
    return nullptr;
  }
  return *std::move(opened);
}

bool fill(nvcache::KvStore& store) {
  using nvcache::KvCondition, nvcache::KvOutcome;
  // With durability=each, a change that was acknowledged survives a kill of the process.
  if (store.put("color", bytes_of("red"), {.flags = 7}).outcome != KvOutcome::kDone) return false;
  if (store.put("shape", bytes_of("round"), {}).outcome != KvOutcome::kDone) return false;

  // Replaces the value that was looked up, and no other: each value has a number, its cas.
  const uint64_t seen = store.get("color").meta.cas;
  const nvcache::KvResult first =
      store.put("color", bytes_of("green"), {}, {.kind = KvCondition::kIfCas, .cas = seen});
  const nvcache::KvResult late =
      store.put("color", bytes_of("blue"), {}, {.kind = KvCondition::kIfCas, .cas = seen});
  if (first.outcome != KvOutcome::kDone || late.outcome != KvOutcome::kExists) return false;

  return store.erase("shape").outcome == KvOutcome::kDone;  // it never comes back
}

bool check(nvcache::KvStore& store) {
  std::cout << "recovered " << store.stats().recovered_items << " items\n";
  // A KvItem pins its value, which lies in the store: release it soon.
  const nvcache::KvItem color = store.get("color");
  if (!color || text_of(color) != "green" || store.get("shape")) return false;

  uint64_t cursor = 0;  // a part of the store each call, for dumps
  do {
    cursor = store.visit(cursor, [](std::string_view key, const nvcache::KvItem& item) {
      std::cout << key << " = " << text_of(item) << "\n";
    });
  } while (cursor != 0);
  return true;
}

}  // namespace

int main() {
  const std::string path =
      (std::filesystem::temp_directory_path() / ("kv_store." + std::to_string(getpid()))).string();
  bool right = false;
  if (const std::unique_ptr<nvcache::KvStore> store = open_store(path)) right = fill(*store);
  if (right) {  // the first store is closed: one store a file
    const std::unique_ptr<nvcache::KvStore> again = open_store(path);
    right = again != nullptr && check(*again);
  }
  std::filesystem::remove(path);
  return right ? 0 : 1;
}
