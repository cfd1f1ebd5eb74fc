#include "experiments/engines/wiredtiger_table.h"

#include <cerrno>
#include <utility>

#include "apps/command/interrupt.h"

namespace nvcache {
namespace {

constexpr char kTable[] = "table:ycsb";
constexpr char kTableConfig[] = "key_format=u,value_format=u";
constexpr int kMostRetries = 1000;

WT_ITEM item(std::string_view text) {
  WT_ITEM made = {};
  made.data = text.data();
  made.size = text.size();
  return made;
}

std::string_view view(const WT_ITEM& text) {
  return {static_cast<const char*>(text.data), text.size};
}

}  // namespace

StatusOr<std::unique_ptr<WiredtigerTable>> WiredtigerTable::open(
    const WiredtigerConnection& connection) {
  auto session = WiredtigerSession::open(connection);
  if (!session.ok()) return session.status();
  const int error = (*session)->open_cursor(kTable, nullptr);
  if (error == ENOENT) {
    return failed_precondition_error("wiredtiger: the database holds no benchmark table");
  }
  if (error != 0) return connection.status("open the table", error);
  return std::unique_ptr<WiredtigerTable>(new WiredtigerTable(connection, *std::move(session)));
}

WiredtigerTable::WiredtigerTable(const WiredtigerConnection& connection,
                                 std::unique_ptr<WiredtigerSession> session)
    : connection_(connection), session_(std::move(session)), cursor_(session_->cursor()) {}

template <typename Call>
Status WiredtigerTable::retried(const char* what, Call&& call) {
  int error = WT_ROLLBACK;
  for (int i = 0; i < kMostRetries && error == WT_ROLLBACK; ++i) {
    error = call();
    const int reset = cursor_->reset(cursor_);  // lets go of the page
    if (error == 0) error = reset;
  }
  return connection_.status(what, error);
}

Status WiredtigerTable::put(std::string_view key, std::string_view value) {
  const WT_ITEM key_item = item(key);
  const WT_ITEM value_item = item(value);
  return retried("put", [&] {
    cursor_->set_key(cursor_, &key_item);
    cursor_->set_value(cursor_, &value_item);
    return cursor_->insert(cursor_);  // replaces what is there
  });
}

Status WiredtigerTable::read(std::string_view key, std::string* value) {
  const WT_ITEM key_item = item(key);
  return retried("get", [&] {
    cursor_->set_key(cursor_, &key_item);
    WT_ITEM found = {};
    int error = cursor_->search(cursor_);
    if (error == 0) error = cursor_->get_value(cursor_, &found);
    if (error == 0) value->assign(view(found));
    return error;
  });
}

// To the first row at or, if `past`, behind `key`.
int WiredtigerTable::seek(const std::string& key, bool past) {
  const WT_ITEM key_item = item(key);
  int compared = 0;
  cursor_->set_key(cursor_, &key_item);
  const int error = cursor_->search_near(cursor_, &compared);
  if (error != 0) return error;
  return compared < 0 || (past && compared == 0) ? cursor_->next(cursor_) : 0;
}

Status WiredtigerTable::scan(std::string_view first_key, uint32_t rows,
                             const KvEngine::RowVisitor& visit) {
  std::string from(first_key);
  bool from_seen = false;
  Status visited;
  Status status = retried("scan", [&] {
    int error = rows == 0 ? 0 : seek(from, from_seen);
    while (error == 0 && rows > 0) {
      WT_ITEM key = {};
      WT_ITEM value = {};
      error = cursor_->get_key(cursor_, &key);
      if (error == 0) error = cursor_->get_value(cursor_, &value);
      if (error != 0) break;
      visited = visit(view(key), view(value));
      if (!visited.ok() || --rows == 0) break;
      // Where to continue if WiredTiger rolls the scan back.
      from.assign(view(key));
      from_seen = true;
      error = cursor_->next(cursor_);
    }
    return error == WT_NOTFOUND ? 0 : error;
  });
  return visited.ok() ? status : visited;
}

Status fill_wiredtiger_table(const WiredtigerConnection& connection, WiredtigerSession& session,
                             uint64_t count, const SortedPair& pair,
                             const std::function<void(uint64_t loaded)>& progress) {
  WT_SESSION* opened = session.get();
  int error = opened->create(opened, kTable, kTableConfig);
  if (error == 0) error = session.open_cursor(kTable, "bulk");
  WT_CURSOR* cursor = session.cursor();
  std::string key;
  std::string value;
  for (uint64_t i = 0; error == 0 && i < count; ++i) {
    pair(0, i, &key, &value);
    const WT_ITEM key_item = item(key);
    const WT_ITEM value_item = item(value);
    cursor->set_key(cursor, &key_item);
    cursor->set_value(cursor, &value_item);
    error = cursor->insert(cursor);
    if (i % 4096 != 4095) continue;
    if (Status status = check_not_interrupted(); !status.ok()) return status;
    progress(i + 1);
  }
  if (error == 0) error = session.close_cursor();
  if (error == 0) error = opened->checkpoint(opened, nullptr);
  return connection.status("load", error);
}

}  // namespace nvcache
