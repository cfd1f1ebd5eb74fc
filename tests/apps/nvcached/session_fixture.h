// A session over a store in memory. It gets text as it would from a connection.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "apps/nvcached/memory_store.h"
#include "apps/nvcached/session/input.h"
#include "apps/nvcached/session/output.h"
#include "apps/nvcached/session/session.h"
#include "apps/nvcached/session/turn.h"

namespace nvcache::server {

class SessionFixture {
 public:
  explicit SessionFixture(const Settings& settings = make_settings())
      : store([this] { return now_s; }),
        service(
            store, settings, [this] { return now_s; }, [this] { return now_s + wall_ahead_s; }),
        counters(service.new_counters()) {}

  static Settings make_settings() {
    Settings settings;
    settings.version = "1.6.18-test";
    settings.hint_bits = 10;
    return settings;
  }

  // What a new connection that sends this is answered.
  std::string ask(std::string_view request) { return ask_in_parts({&request, 1}); }

  // The same, received in these parts. If the session closes, the answer ends with <closed>.
  std::string ask_in_parts(std::span<const std::string_view> parts) {
    Session session(service, counters);
    Input input;
    Output output;
    std::string answers;
    for (const std::string_view part : parts) {
      receive(input, part);
      for (;;) {
        const Turn turn = session.turn(input.unread(), output);
        input.consume(turn.used);
        if (turn.next == Turn::kClose || turn.next == Turn::kQuit)
          return answers + output.text() + "<closed>";
        if (turn.next == Turn::kFull || output.size() > Turn::kFullOutputBytes) {
          answers += output.text();
          output.clear();
          continue;
        }
        if (turn.next == Turn::kMore) break;
      }
    }
    return answers + output.text();
  }

  uint64_t count(Count what) const { return service.totals()[static_cast<size_t>(what)]; }
  void pass_time(uint32_t seconds) {
    now_s += seconds;
    service.tick();
  }

  uint32_t now_s = 1'700'000'000;
  uint32_t wall_ahead_s = 0;  // the wall clock was set: to so much later
  MemoryStore store;
  Service service;
  Counters& counters;

 private:
  static void receive(Input& input, std::string_view part) {
    while (!part.empty()) {
      const auto [to, room] = input.room(0);
      const size_t bytes = std::min(room, part.size());
      part.copy(to, bytes);
      input.filled(bytes);
      part.remove_prefix(bytes);
    }
  }
};

}  // namespace nvcache::server
