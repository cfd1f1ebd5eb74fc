// A storage engine that caches its pages through TieredCache, written against the installed
// headers alone. PageStore appends pages to a file and finds them by number.
//
// An engine adapter consists of:
//   - a codec, which saves and destroys the engine's in-memory pages (PageCodec);
//   - a read path: look up, read the file on a miss, insert, use, release (PageStore::read);
//   - a write path: insert the new version, which replaces the cached one (PageStore::write).
#include <nvcache/tiered_cache.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>

namespace {

// The engine's own page: parsed, with fields that the file does not hold.
struct Page {
  uint64_t number = 0;
  std::array<char, 4000> text{};
};

class PageCodec final : public nvcache::ObjectCodec {
 public:
  size_t saved_bytes(const nvcache::Object&) override { return sizeof(Page::text); }
  bool save(const nvcache::Object& object, nvcache::MutableBytes into) override {
    std::memcpy(into.data(), static_cast<Page*>(object.value)->text.data(), into.size());
    return true;
  }
  void destroy(std::string_view, const nvcache::Object& object) override {
    delete static_cast<Page*>(object.value);
  }
};

// Single-threaded, for brevity; the cache is thread-safe.
class PageStore {
 public:
  explicit PageStore(std::unique_ptr<nvcache::TieredCache> cache)
      : cache_(std::move(cache)), file_(std::tmpfile()) {}
  ~PageStore() { std::fclose(file_); }
  PageStore(const PageStore&) = delete;
  PageStore& operator=(const PageStore&) = delete;

  void write(uint64_t number, const std::string& text) {
    auto page = std::make_unique<Page>();
    page->number = number;
    text.copy(page->text.data(), page->text.size());
    std::fseek(file_, 0, SEEK_END);
    offsets_[number] = std::ftell(file_);
    std::fwrite(page->text.data(), page->text.size(), 1, file_);
    // Without a handle, the cache always takes the object.
    (void)cache_->insert(key_of(number), object_of(page.release()), nvcache::Priority::kLow,
                         nullptr);
  }

  // The text of a page up to its first zero; empty if there is no such page.
  std::string read(uint64_t number) {
    const auto from_saved = [&](nvcache::ByteView saved, nvcache::Object* made) {
      auto page = std::make_unique<Page>();
      page->number = number;
      std::memcpy(page->text.data(), saved.data(), std::min(saved.size(), page->text.size()));
      *made = object_of(page.release());
      return true;
    };
    const nvcache::MakeObject make = from_saved;
    nvcache::TieredCache::Handle* handle = cache_->lookup(key_of(number), &make);
    if (handle == nullptr) {
      std::unique_ptr<Page> page = read_file(number);
      if (page == nullptr) return {};
      const nvcache::Object object = object_of(page.get());
      if (!cache_->insert(key_of(number), object, nvcache::Priority::kLow, &handle).ok()) {
        return page->text.data();  // a strict cache is full: the page is still the engine's
      }
      (void)page.release();  // the cache owns it
    }
    // The handle pins the page, whatever the cache evicts in the meantime.
    std::string text = static_cast<Page*>(cache_->object(handle).value)->text.data();
    cache_->release(handle);
    return text;
  }

  nvcache::TieredCache& cache() { return *cache_; }

 private:
  // 16 bytes: a name of the file that no other file has, and the place in it.
  static std::string key_of(uint64_t number) {
    constexpr uint64_t kFile = 1;
    std::string key(16, '\0');
    std::memcpy(key.data(), &kFile, 8);
    std::memcpy(key.data() + 8, &number, 8);
    return key;
  }

  static nvcache::Object object_of(Page* page) {
    return {.value = page, .kind = {.movable = true}, .charge_bytes = sizeof(Page)};
  }

  std::unique_ptr<Page> read_file(uint64_t number) {
    const auto found = offsets_.find(number);
    if (found == offsets_.end()) return nullptr;
    auto page = std::make_unique<Page>();
    page->number = number;
    std::fseek(file_, found->second, SEEK_SET);
    const bool read = std::fread(page->text.data(), page->text.size(), 1, file_) == 1;
    return read ? std::move(page) : nullptr;
  }

  const std::unique_ptr<nvcache::TieredCache> cache_;
  std::FILE* const file_;
  std::unordered_map<uint64_t, long> offsets_;  // of the newest version of each page
};

}  // namespace

int main() {
  auto opened = nvcache::open_tiered_cache(
      "tiered://?policy=bidirectional(2)&dram=256KiB&tier=(size=4MiB,medium=dram)",
      std::make_shared<PageCodec>());
  if (!opened.ok()) {
    std::cerr << opened.status() << "\n";
    return 1;
  }
  PageStore store(*std::move(opened));
  constexpr uint64_t kPages = 500;  // 2 MB: more than the first tier, less than both
  int wrong = 0;
  for (int version = 0; version < 3; ++version) {
    const auto text = [&](uint64_t i) { return std::to_string(i) + "@" + std::to_string(version); };
    for (uint64_t i = 0; i < kPages; ++i) store.write(i, text(i));
    for (uint64_t i = 0; i < kPages; ++i) wrong += store.read(i) != text(i);
  }
  store.cache().control()->drain();
  const nvcache::TieredStats stats = store.cache().stats();
  std::cout << "hits in DRAM: " << stats.tiers[0].hits
            << ", in the lower tier: " << stats.tiers[1].hits << ", misses: " << stats.misses
            << ", wrong pages: " << wrong << "\n"
            << "in use of the first tier: " << store.cache().control()->use().used_bytes
            << " bytes of " << store.cache().control()->limits().capacity_bytes << "\n";
  return wrong == 0 && stats.tiers[1].hits > 0 ? 0 : 1;
}
