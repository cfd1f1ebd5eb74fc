// A program whose cache is watched, for tests of what reads statistics: it opens a cache, writes
// its statistics to a file as programs do (whole, by renaming), and again behind each line that it
// reads. Ends at the end of its input.
//
// usage: stats_writer cache|tiered|store|files json|prometheus PATH SPEC [LOOKUPS]
//
// A line is a number N: N lookups go round 3000 keys, and what is missed is put. It answers
// "written". `files` are the statistics of files beside those of the cache, as WiredTiger's
// extension writes them. With LOOKUPS it does so many at the start.
#include <array>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>

#include "base/files.h"
#include "file_cache/file_block_cache.h"
#include "nvcache/block_cache.h"
#include "nvcache/kv_store.h"
#include "support/tiered_fixture.h"

namespace nvcache {
namespace {

constexpr uint64_t kKeys = 3000;
constexpr size_t kBlockBytes = 4096;

[[noreturn]] void end_with(const std::string& message) {
  std::cerr << message << "\n";
  std::exit(1);
}

template <typename T>
T value_of(StatusOr<T> made) {
  if (!made.ok()) end_with(std::string(made.status().message()));
  return *std::move(made);
}

class Subject {
 public:
  virtual ~Subject() = default;
  virtual void use(uint64_t key) = 0;
  virtual std::string text(bool json) = 0;
};

class CacheSubject final : public Subject {
 public:
  CacheSubject(const std::string& spec, bool with_files)
      : cache_(value_of(open_block_cache(spec))), with_files_(with_files) {}
  void use(uint64_t key) override {
    const BlockKey block = {.file = 1, .offset = key * kBlockBytes};
    const Lookup lookup = cache_->lookup(block);
    if (!lookup.hit()) (void)cache_->put(block, bytes_, Origin::kRead, lookup.token);
  }
  std::string text(bool json) override {
    const Stats stats = cache_->stats();
    const FileStats files;
    if (!json) return stats.to_prometheus() + (with_files_ ? files.to_prometheus() : "");
    if (!with_files_) return stats.to_json() + "\n";
    return "{\"format\": \"nvcache.wiredtiger/1\",\n\"cache\": " + stats.to_json() +
           ",\n\"files\": " + files.to_json() + "}\n";
  }

 private:
  const std::unique_ptr<BlockCache> cache_;
  const bool with_files_;
  const std::array<std::byte, kBlockBytes> bytes_{};
};

class TieredSubject final : public Subject {
 public:
  explicit TieredSubject(const std::string& spec) : engine_(spec) {}
  void use(uint64_t key) override {
    if (engine_.get(key) == 0) engine_.put(key);
  }
  std::string text(bool json) override {
    engine_.cache->drain();
    const TieredStats stats = engine_.cache->stats();
    return json ? stats.to_json() + "\n" : stats.to_prometheus();
  }

 private:
  test::Engine engine_;
};

class StoreSubject final : public Subject {
 public:
  explicit StoreSubject(const std::string& spec) : store_(value_of(open_kv_store(spec))) {}
  void use(uint64_t key) override {
    const std::string name = std::to_string(key);
    if (!store_->get(name)) (void)store_->put(name, std::as_bytes(std::span(name)), {});
  }
  std::string text(bool json) override {
    const KvStats stats = store_->stats();
    return json ? stats.to_json() + "\n" : stats.to_prometheus();
  }

 private:
  const std::unique_ptr<KvStore> store_;
};

std::unique_ptr<Subject> make(const std::string& kind, const std::string& spec) {
  if (kind == "tiered") return std::make_unique<TieredSubject>(spec);
  if (kind == "store") return std::make_unique<StoreSubject>(spec);
  if (kind == "cache" || kind == "files") {
    return std::make_unique<CacheSubject>(spec, kind == "files");
  }
  end_with("'" + kind + "'; allowed: cache, tiered, store, files");
}

int run(int argc, char** argv) {
  if (argc < 5) end_with("usage: stats_writer KIND json|prometheus PATH SPEC [LOOKUPS]");
  const std::unique_ptr<Subject> subject = make(argv[1], argv[4]);
  const bool json = std::string(argv[2]) == "json";
  uint64_t key = 0;
  const auto go = [&](uint64_t lookups) {
    for (uint64_t i = 0; i < lookups; ++i) subject->use(++key % kKeys + 1);
    const int error = replace_file(argv[3], subject->text(json));
    if (error != 0) end_with(std::string(argv[3]) + ": cannot be written");
    std::cout << "written" << std::endl;
  };
  go(argc > 5 ? std::strtoull(argv[5], nullptr, 10) : 0);
  std::string line;
  while (std::getline(std::cin, line)) go(std::strtoull(line.c_str(), nullptr, 10));
  return 0;
}

}  // namespace
}  // namespace nvcache

int main(int argc, char** argv) { return nvcache::run(argc, argv); }
