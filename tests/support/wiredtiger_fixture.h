// A real WiredTiger connection with the extension loaded as a user loads it: how to open it,
// its messages, and the extension's statistics.
//
// NVCACHE_WIREDTIGER_EXTENSION names another build of the extension, or, empty, stock
// WiredTiger: what the tests demand of the data must hold there too.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "fmt/format.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "support/temp_dir.h"
#include "support/test_seed.h"
#include "support/wiredtiger_files.h"
#include "wiredtiger.h"

namespace nvcache::wt_test {

inline ::testing::AssertionResult succeeded(int result) {
  if (result == 0) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << wiredtiger_strerror(result);
}
#define ASSERT_WT_OK(expression) ASSERT_TRUE(::nvcache::wt_test::succeeded(expression))
#define EXPECT_WT_OK(expression) EXPECT_TRUE(::nvcache::wt_test::succeeded(expression))

inline const std::string& extension_path() {
  static const std::string path = [] {
    const char* given = std::getenv("NVCACHE_WIREDTIGER_EXTENSION");
    return std::string(given != nullptr ? given : kBuiltExtension);
  }();
  return path;
}
inline bool has_extension() { return !extension_path().empty(); }

// What WiredTiger and its extensions say.
class EventRecorder : public WT_EVENT_HANDLER {
 public:
  // `at_panic` ends the process, on any of its threads: after a panic those that write wait
  // for ever for an eviction that is no more.
  explicit EventRecorder(std::function<void()> at_panic)
      : WT_EVENT_HANDLER{}, at_panic_(std::move(at_panic)) {
    handle_error = [](WT_EVENT_HANDLER* self, WT_SESSION*, int error, const char* text) {
      static_cast<EventRecorder*>(self)->add(text);
      if (error == WT_PANIC) static_cast<EventRecorder*>(self)->panic();
      return 0;
    };
    handle_message = [](WT_EVENT_HANDLER* self, WT_SESSION*, const char* text) {
      static_cast<EventRecorder*>(self)->add(text);
      return 0;
    };
  }
  std::string text() const {
    MutexLock lock(mutex_);
    std::string all;
    for (const std::string& message : messages_) all += message + "\n";
    return all;
  }

 private:
  void add(const char* text) {
    MutexLock lock(mutex_);
    messages_.emplace_back(text);
  }
  void panic() const {
    if (at_panic_) at_panic_();
    std::fprintf(stderr, "WiredTiger panics; what it said:\n%s", text().c_str());
    std::abort();
  }
  const std::function<void()> at_panic_;
  mutable Mutex mutex_;
  std::vector<std::string> messages_ NVCACHE_GUARDED_BY(mutex_);
};

// The second tier of a connection.
struct Tier {
  std::string spec = "";  // empty: none is named
  std::string writes = "offer";
  std::string more = "";  // keys of the extension's config
};

// An `extensions` list for wiredtiger_open.
inline std::string extensions(const Tier& tier, const std::string& stats_path,
                              const std::string& others = "") {
  if (!has_extension()) return fmt::format(",extensions=[{}]", others);
  std::string config = fmt::format("stats=\"{}\",stats_interval=1", stats_path);
  if (!tier.spec.empty()) config += fmt::format(",cache=\"{}\"", tier.spec);
  if (!tier.writes.empty()) config += fmt::format(",writes={}", tier.writes);
  if (!tier.more.empty()) config += "," + tier.more;
  return fmt::format(",extensions=[\"{}\"=(early_load=true,config=({})),{}]", extension_path(),
                     config, others);
}

// The extension's statistics file, from when it was last written.
class TierStats {
 public:
  explicit TierStats(const std::string& path) {
    std::ifstream file(path);
    if (file) json_ = nlohmann::json::parse(file, nullptr, /*allow_exceptions=*/false);
  }
  bool complete() const { return json_.is_object() && json_.value("format", "") == kFormat; }
  bool has_cache() const {
    return complete() && json_.contains("cache") && json_["cache"].is_object();
  }
  uint64_t of_files(const char* name) const { return number("files", name); }
  uint64_t of_cache(const char* name) const { return number("cache", name); }
  std::string text() const { return json_.dump(1); }

 private:
  static constexpr const char* kFormat = "nvcache.wiredtiger/1";
  // A missing count must not pass for zero.
  uint64_t number(const char* part, const char* name) const {
    if (!json_.is_object() || !json_.contains(part) || !json_[part].is_object() ||
        !json_[part].contains(name)) {
      ADD_FAILURE() << "no " << part << "." << name << " in the statistics: " << text();
      return 0;
    }
    return json_[part][name].get<uint64_t>();
  }
  nlohmann::json json_;
};

// A session that is closed with the object.
class Session {
 public:
  explicit Session(WT_CONNECTION* connection, const char* config = nullptr) {
    EXPECT_WT_OK(connection->open_session(connection, nullptr, config, &session_));
  }
  ~Session() {
    if (session_ != nullptr) session_->close(session_, nullptr);
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  WT_SESSION* get() const { return session_; }
  WT_SESSION* operator->() const { return session_; }

 private:
  WT_SESSION* session_ = nullptr;
};

// A database folder. open() and close() may be called any number of times. If WiredTiger
// panics, the process ends: by `at_panic`, or else by a signal and with what WiredTiger said.
class Database {
 public:
  explicit Database(std::string home, std::function<void()> at_panic = nullptr)
      : home_(std::move(home)), events_(std::move(at_panic)) {
    mkdir(home_.c_str(), 0777);
  }
  ~Database() {
    if (connection_ != nullptr) (void)close();
  }
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  // WiredTiger's error, if any. Nothing is open then.
  [[nodiscard]] int open(const Tier& tier, const std::string& config = "",
                         const std::string& other_extensions = "") {
    return open_as("create,cache_size=5MB" + (config.empty() ? config : "," + config) +
                   extensions(tier, stats_path(), other_extensions));
  }
  // Without the extension.
  [[nodiscard]] int open_stock(const std::string& config = "") {
    return open_as("create,cache_size=5MB" + (config.empty() ? config : "," + config));
  }
  [[nodiscard]] int open_as(const std::string& config) {
    const int result = wiredtiger_open(home_.c_str(), &events_, config.c_str(), &connection_);
    if (result != 0) connection_ = nullptr;
    return result;
  }
  [[nodiscard]] int close() {
    WT_CONNECTION* const closing = std::exchange(connection_, nullptr);
    return closing->close(closing, nullptr);
  }

  WT_CONNECTION* get() const { return connection_; }
  const std::string& home() const { return home_; }
  std::string stats_path() const { return home_ + ".stats.json"; }
  TierStats stats() const { return TierStats(stats_path()); }
  std::string messages() const { return events_.text(); }

 private:
  std::string home_;
  EventRecorder events_;
  WT_CONNECTION* connection_ = nullptr;
};

}  // namespace nvcache::wt_test
