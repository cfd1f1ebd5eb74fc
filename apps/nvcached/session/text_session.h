// A client of the text protocol: a line a request, a value after those that store. Its answers are
// memcached's, to the letter. Gets, dumps of keys and meta commands, which are lines too, have
// classes of their own; TextSession serves the rest. Not thread-safe.
#pragma once

#include <memory>
#include <string_view>

#include "apps/nvcached/protocol/text_protocol.h"
#include "apps/nvcached/session/client.h"
#include "apps/nvcached/session/key_dump.h"
#include "apps/nvcached/session/meta_session.h"
#include "apps/nvcached/session/text_get.h"

namespace nvcache::server {

class TextSession {
 public:
  // `client` must outlive it.
  explicit TextSession(Client& client)
      : client_(client), items_(client.items()), get_(client), dump_(items_), meta_(client) {}

  // See Session::turn(). There is at least one byte.
  Turn turn(std::string_view in, Output& out);

  // After kWatch; else null.
  WatchLog::Watcher* watcher() const { return watcher_.get(); }

 private:
  Turn long_line(std::string_view in);
  Turn refuse(const TextRequest& request, size_t line_bytes, Output& out);
  Turn authenticate(const TextRequest& request, size_t line_bytes, std::string_view in,
                    Output& out);
  Turn watch(std::string_view words, size_t line_bytes, Output& out);

  Turn storage(const TextRequest& request, size_t line_bytes, std::string_view in, Output& out);
  void store(const TextRequest& request, std::string_view value, Output& out);

  void command(const TextRequest& request, Output& out);
  void erase(const TextRequest& request, Output& out);
  void arithmetic(const TextRequest& request, Output& out);
  void touch(const TextRequest& request, Output& out);
  void flush_all(const TextRequest& request, Output& out);
  void refresh_certs(Output& out);
  void shut_down(const TextRequest& request, Output& out);
  void stats(std::string_view arguments, Output& out);

  Client& client_;
  Items& items_;
  TextGet get_;
  KeyDump dump_;
  MetaSession meta_;
  size_t scanned_ = 0;  // bytes at the front without the end of a line
  std::unique_ptr<WatchLog::Watcher> watcher_;
};

}  // namespace nvcache::server
