// A key-value store on a file, written until the machine stops, and checked afterwards.
//
//   power_cut write FILE          operations for ever; prints "acknowledged N" now and then
//   power_cut check FILE N        N: the last number printed; exit 1 if a value is wrong
//
// Operation n is of key n mod 500: every seventh erases it, the others set it to a value that
// tells n. So the newest acknowledged operation of each key is known from N alone: what is
// found must be that one's or a later one's, or nothing.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "kv_store/kv_fixture.h"

namespace nvcache::test {
namespace {

constexpr uint64_t kKeys = 500;
constexpr uint64_t kPrintEvery = 20;
constexpr size_t kValueBytes = 300;

bool erases(uint64_t n) { return n % 7 == 3; }
std::string key_of(uint64_t n) { return fmt::format("key{}", n % kKeys); }

// Values begin with the number of their operation.
std::vector<std::byte> value_of(uint64_t n) {
  std::vector<std::byte> value = kv_value(key_of(n), n, kValueBytes);
  std::memcpy(value.data(), &n, sizeof n);
  return value;
}

std::unique_ptr<KvStore> open(const std::string& path) {
  auto store = open_kv_store("nvkv://?size=1MiB&zone=64KiB&medium=file:" + path);
  if (!store.ok()) {
    fmt::print("{}\n", store.status().message());
    std::exit(2);
  }
  const KvStats stats = (*store)->stats();
  fmt::print("{}: {} items, {} damaged\n", stats.medium, stats.items, stats.damaged);
  return *std::move(store);
}

void write(const std::string& path) {
  const std::unique_ptr<KvStore> store = open(path);
  for (uint64_t n = 1;; ++n) {
    if (erases(n)) {
      (void)store->erase(key_of(n), 0);
    } else if (store->put(key_of(n), value_of(n), {}, {}).outcome != KvOutcome::kDone) {
      std::exit(2);
    }
    if (n % kPrintEvery != 0) continue;
    fmt::print("acknowledged {}\n", n);
    std::fflush(stdout);
  }
}

// The newest operation of a key with a number of at most `last`; 0 if there is none.
uint64_t newest(uint64_t key, uint64_t last) {
  const uint64_t n = last - (last % kKeys + kKeys - key) % kKeys;
  return n > last ? 0 : n;
}

int check(const std::string& path, uint64_t acknowledged) {
  const std::unique_ptr<KvStore> store = open(path);
  uint64_t found = 0;
  uint64_t expected = 0;
  uint64_t wrong = 0;
  for (uint64_t key = 0; key < kKeys; ++key) {
    const uint64_t last = newest(key, acknowledged);
    expected += last != 0 && !erases(last);
    const KvItem item = store->get(fmt::format("key{}", key));
    if (!item) continue;
    ++found;
    uint64_t n = 0;
    if (item.value().size() == kValueBytes) std::memcpy(&n, item.value().data(), sizeof n);
    if (n % kKeys != key || n < last || erases(n) || !same(item.value(), value_of(n))) {
      ++wrong;
      fmt::print("key {}: operation {} found, {} acknowledged\n", key, n, last);
    }
  }
  fmt::print("checked: {} acknowledged items, {} found, {} wrong\n", expected, found, wrong);
  return wrong == 0 ? 0 : 1;
}

}  // namespace
}  // namespace nvcache::test

int main(int argc, char** argv) {
  const std::string_view mode = argc > 1 ? argv[1] : "";
  if (mode == "write" && argc == 3) nvcache::test::write(argv[2]);
  if (mode == "check" && argc == 4) {
    return nvcache::test::check(argv[2], std::strtoull(argv[3], nullptr, 10));
  }
  fmt::print(stderr, "usage: power_cut write FILE | power_cut check FILE N\n");
  return 2;
}
