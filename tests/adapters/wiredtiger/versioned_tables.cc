#include "versioned_tables.h"

#include <algorithm>
#include <cstring>
#include <thread>
#include <utility>

#include "base/prng.h"
#include "fmt/format.h"
#include "support/wiredtiger_fixture.h"

namespace nvcache::wt_test {
namespace {

constexpr uint32_t kHeaderWords = 3;
// A checkpoint holds WiredTiger's eviction off. Without a pause, checkpoints that find nothing
// new keep it off for ever, and a thread that waits for room in a full cache never goes on.
constexpr uint64_t kOperationsPerCheckpoint = 20;

class Cursor {
 public:
  Cursor(WT_SESSION* session, const std::string& uri, const char* config) {
    result_ = session->open_cursor(session, uri.c_str(), nullptr, config, &cursor_);
  }
  ~Cursor() {
    if (cursor_ != nullptr) cursor_->close(cursor_);
  }
  Cursor(const Cursor&) = delete;
  Cursor& operator=(const Cursor&) = delete;
  int result() const { return result_; }
  WT_CURSOR* operator->() const { return cursor_; }
  WT_CURSOR* get() const { return cursor_; }

 private:
  WT_CURSOR* cursor_ = nullptr;
  int result_;
};

int put(WT_CURSOR* cursor, uint32_t key, const std::string& value) {
  WT_ITEM item{};
  item.data = value.data();
  item.size = value.size();
  cursor->set_key(cursor, static_cast<uint64_t>(key));
  cursor->set_value(cursor, &item);
  return cursor->insert(cursor);
}

}  // namespace

VersionedTables::VersionedTables(TableShape shape, uint64_t seed, std::string prefix)
    : shape_(std::move(shape)),
      seed_(seed),
      prefix_(std::move(prefix)),
      keys_(std::make_unique<Key[]>(size_t{shape_.tables} * shape_.keys)) {}

// Every other word is the same, so that compression has something to do.
std::string VersionedTables::value(uint32_t table, uint32_t key, uint32_t version) const {
  Prng random(mix64(seed_ ^ mix64(uint64_t{table} << 32 | key)) ^ version);
  uint32_t size = shape_.min_value_bytes;
  if (shape_.long_value_bytes != 0 && random.below(16) == 0) {
    size += static_cast<uint32_t>(random.below(shape_.long_value_bytes - size));
  } else {
    size += static_cast<uint32_t>(random.below(shape_.max_value_bytes - size + 1));
  }
  std::vector<uint64_t> words(std::max<size_t>(kHeaderWords, (size + 7) / 8));
  for (size_t i = 0; i < words.size(); i += 2) words[i] = random();
  words[0] = table;
  words[1] = key;
  words[2] = version;
  return std::string(reinterpret_cast<const char*>(words.data()), words.size() * 8);
}

uint32_t VersionedTables::version_in(uint32_t table, uint32_t key, const WT_ITEM& bytes) const {
  uint64_t header[kHeaderWords];
  if (bytes.size < sizeof header) return 0;
  std::memcpy(header, bytes.data, sizeof header);
  const auto version = static_cast<uint32_t>(header[2]);
  const std::string expected = value(table, key, version);
  const bool same =
      expected.size() == bytes.size && std::memcmp(expected.data(), bytes.data, bytes.size) == 0;
  return same ? version : 0;
}

void VersionedTables::complain(const std::string& text) const {
  MutexLock lock(complaint_->mutex);
  if (complaint_->text.empty()) complaint_->text = text;
}

std::string VersionedTables::problem() const {
  MutexLock lock(complaint_->mutex);
  return complaint_->text;
}

bool VersionedTables::check(int result, const char* what) const {
  if (result != 0) complain(fmt::format("{}: {}", what, wiredtiger_strerror(result)));
  return result == 0;
}

VersionedTables VersionedTables::snapshot(const std::string& prefix) const {
  VersionedTables copy(shape_, seed_, prefix.empty() ? prefix_ : prefix);
  for (size_t i = 0; i < size_t{shape_.tables} * shape_.keys; ++i) {
    copy.keys_[i].committed = keys_[i].committed.load();
    copy.keys_[i].newest = keys_[i].newest.load();
    copy.keys_[i].removable = keys_[i].removable.load();
  }
  return copy;
}

void VersionedTables::forget(uint32_t table, uint32_t first_key, uint32_t last_key) {
  for (uint32_t key = first_key; key <= last_key; ++key) {
    at(table, key).committed = 0;
    at(table, key).removable = true;
  }
}

void VersionedTables::fill(WT_CONNECTION* connection, const char* cursor_config) {
  Session session(connection);
  for (uint32_t table = 0; table < shape_.tables; ++table) {
    const std::string config = "key_format=Q,value_format=u," + shape_.create;
    if (!check(session->create(session.get(), uri(table).c_str(), config.c_str()), "create"))
      return;
    Cursor cursor(session.get(), uri(table), cursor_config);
    if (!check(cursor.result(), "open_cursor")) return;
    for (uint32_t key = 0; key < shape_.keys; ++key) {
      Key& state = at(table, key);
      const uint32_t version = ++state.newest;
      if (!check(put(cursor.get(), key, value(table, key, version)), "insert")) return;
      state.committed = version;
    }
  }
}

void VersionedTables::create(WT_CONNECTION* connection) { fill(connection, nullptr); }
void VersionedTables::create_in_bulk(WT_CONNECTION* connection) { fill(connection, "bulk"); }

void VersionedTables::update(WT_CONNECTION* connection, uint32_t step) {
  Session session(connection);
  for (uint32_t table = 0; table < shape_.tables; ++table) {
    Cursor cursor(session.get(), uri(table), nullptr);
    if (!check(cursor.result(), "open_cursor")) return;
    for (uint32_t key = 0; key < shape_.keys; key += step) {
      Key& state = at(table, key);
      const uint32_t version = ++state.newest;
      if (!check(put(cursor.get(), key, value(table, key, version)), "insert")) return;
      state.committed = version;
    }
  }
}

void VersionedTables::verify_table(WT_SESSION* session, uint32_t table, const char* cursor_config) {
  Cursor cursor(session, uri(table), cursor_config);
  if (!check(cursor.result(), "open_cursor")) return;
  std::vector<bool> seen(shape_.keys, false);
  const auto compare = [&](uint64_t key) {
    WT_ITEM item{};
    if (!check(cursor->get_value(cursor.get(), &item), "get_value")) return false;
    const uint32_t expected = key < shape_.keys ? at(table, key).committed.load() : 0;
    const uint32_t version = version_in(table, static_cast<uint32_t>(key), item);
    if (expected != 0 && version == expected) return true;
    complain(fmt::format("{} key {}: version {} and not {}", uri(table), key, version, expected));
    return false;
  };
  int result = 0;
  while ((result = cursor->next(cursor.get())) == 0) {
    uint64_t key = 0;
    if (!check(cursor->get_key(cursor.get(), &key), "get_key") || !compare(key)) return;
    seen[key] = true;
  }
  if (result != WT_NOTFOUND && !check(result, "next")) return;
  for (uint32_t key = 0; key < shape_.keys; ++key) {
    if (seen[key] == (at(table, key).committed != 0)) continue;
    return complain(fmt::format("{} key {} is missing", uri(table), key));
  }
  Prng random(seed_ + table);
  for (uint32_t i = 0; i < shape_.keys / 2; ++i) {
    const uint64_t key = random.below(shape_.keys);
    cursor->set_key(cursor.get(), key);
    result = cursor->search(cursor.get());
    if (result == WT_NOTFOUND && at(table, static_cast<uint32_t>(key)).committed == 0) continue;
    if (!check(result, "search") || !compare(key)) return;
  }
}

void VersionedTables::verify(WT_CONNECTION* connection, const char* cursor_config) {
  Session session(connection);
  for (uint32_t table = 0; table < shape_.tables && good(); ++table) {
    verify_table(session.get(), table, cursor_config);
  }
}

// One thread of run(). Its own keys are those whose number is its own modulo the
// number of threads, so that all threads write all pages.
class VersionedTables::Worker {
 public:
  Worker(VersionedTables& tables, const LoadShape& load, uint32_t number, WT_CONNECTION* connection)
      : tables_(tables),
        load_(load),
        number_(number),
        random_(mix64(tables.seed_ + number)),
        session_(connection) {
    for (uint32_t table = 0; table < tables_.shape_.tables; ++table) {
      cursors_.push_back(std::make_unique<Cursor>(session_.get(), tables_.uri(table), nullptr));
      tables_.check(cursors_.back()->result(), "open_cursor");
    }
  }

  void one_operation() {
    const uint64_t dice = random_.below(100);
    if (dice < load_.write_percent) {
      write();
    } else {
      read();
    }
  }

 private:
  struct Change {
    Key* key;
    uint32_t version;  // 0: removed
  };

  uint32_t own_key() {
    const uint64_t own = tables_.shape_.keys / load_.threads;
    return static_cast<uint32_t>(random_.below(own) * load_.threads + number_);
  }

  int change(std::vector<Change>* changes) {
    const auto table = static_cast<uint32_t>(random_.below(tables_.shape_.tables));
    const uint32_t key = own_key();
    Key& state = tables_.at(table, key);
    if (std::any_of(changes->begin(), changes->end(),
                    [&](const Change& c) { return c.key == &state; })) {
      return 0;
    }
    WT_CURSOR* const cursor = cursors_[table]->get();
    const uint32_t version = ++state.newest;
    if (random_.below(100) >= load_.remove_percent) {
      changes->push_back({&state, version});
      return put(cursor, key, tables_.value(table, key, version));
    }
    state.removable = true;
    changes->push_back({&state, 0});
    cursor->set_key(cursor, static_cast<uint64_t>(key));
    const int result = cursor->remove(cursor);
    return result == WT_NOTFOUND ? 0 : result;
  }

  void write() {
    WT_SESSION* const session = session_.get();
    if (!tables_.check(session->begin_transaction(session, nullptr), "begin_transaction")) return;
    std::vector<Change> changes;
    int result = 0;
    for (uint64_t i = 1 + random_.below(4); i > 0 && result == 0; --i) result = change(&changes);
    if (result != 0 || random_.below(100) < load_.roll_back_percent) {
      if (result != WT_ROLLBACK) tables_.check(result, "write");
      tables_.check(session->rollback_transaction(session, nullptr), "rollback_transaction");
      return;
    }
    result = session->commit_transaction(session, nullptr);
    if (result == WT_ROLLBACK) return;
    if (!tables_.check(result, "commit_transaction")) return;
    for (const Change& change : changes) change.key->committed = change.version;
  }

  void read() {
    const auto table = static_cast<uint32_t>(random_.below(tables_.shape_.tables));
    const uint32_t key = random_.below(2) == 0
                             ? own_key()
                             : static_cast<uint32_t>(random_.below(tables_.shape_.keys));
    const bool own = key % load_.threads == number_;
    Key& state = tables_.at(table, key);
    const uint32_t before = state.committed;
    WT_CURSOR* const cursor = cursors_[table]->get();
    cursor->set_key(cursor, static_cast<uint64_t>(key));
    const int result = cursor->search(cursor);
    if (result == WT_ROLLBACK) return;
    uint32_t version = 0;
    if (result == 0) {
      WT_ITEM item{};
      tables_.check(cursor->get_value(cursor, &item), "get_value");
      version = tables_.version_in(table, key, item);
      if (version == 0) tables_.complain(fmt::format("table {} key {}: damaged", table, key));
    } else if (result != WT_NOTFOUND) {
      tables_.check(result, "search");
    }
    cursor->reset(cursor);
    const bool right = own ? version == before
                           : (version == 0 ? before == 0 || state.removable
                                           : version >= before && version <= state.newest);
    if (!right) {
      tables_.complain(fmt::format("table {} key {}: version {} when {} was committed, own {}",
                                   table, key, version, before, own));
    }
  }

  VersionedTables& tables_;
  const LoadShape& load_;
  const uint32_t number_;
  Prng random_;
  Session session_;
  std::vector<std::unique_ptr<Cursor>> cursors_;  // go before their session
};

// How far the threads of run() have come. Thread-safe.
class VersionedTables::Progress {
 public:
  explicit Progress(uint32_t threads) : running_(threads) {}

  // The number of operations that are done, this one included.
  uint64_t add_operation() {
    MutexLock lock(mutex_);
    moved_.notify_all();
    return ++done_;
  }
  void end_thread() {
    MutexLock lock(mutex_);
    moved_.notify_all();
    --running_;
  }
  // False: all threads have ended.
  bool wait_for_operations(uint64_t more) {
    MutexLock lock(mutex_);
    const uint64_t wanted = done_ + more;
    while (done_ < wanted && running_ != 0) moved_.wait(mutex_);
    return running_ != 0;
  }

 private:
  Mutex mutex_;
  CondVar moved_;
  uint64_t done_ NVCACHE_GUARDED_BY(mutex_) = 0;
  uint32_t running_ NVCACHE_GUARDED_BY(mutex_);
};

void VersionedTables::run(WT_CONNECTION* connection, const LoadShape& load) {
  const uint64_t total = uint64_t{load.threads} * load.operations;
  const uint64_t step = total / (load.steps + 1);
  Progress progress(load.threads);
  std::vector<std::thread> threads;
  for (uint32_t number = 0; number < load.threads; ++number) {
    threads.emplace_back([&, number] {
      Worker worker(*this, load, number, connection);
      for (uint32_t i = 0; i < load.operations && good(); ++i) {
        worker.one_operation();
        const uint64_t count = progress.add_operation();
        if (load.at_step && count % step == 0 && count / step <= load.steps) {
          load.at_step(static_cast<int>(count / step));
        }
      }
      progress.end_thread();
    });
  }
  if (load.checkpoints) {
    Session session(connection);
    while (good() && progress.wait_for_operations(kOperationsPerCheckpoint)) {
      check(session->checkpoint(session.get(), nullptr), "checkpoint");
    }
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace nvcache::wt_test
