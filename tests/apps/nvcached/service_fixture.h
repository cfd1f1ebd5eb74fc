// A service over a store in memory, and the loop of a connection without its socket.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "apps/nvcached/memory_store.h"
#include "apps/nvcached/service/service.h"
#include "apps/nvcached/session/input.h"
#include "apps/nvcached/session/output.h"
#include "apps/nvcached/session/turn.h"

namespace nvcache::server {

class ServiceFixture {
 public:
  explicit ServiceFixture(const Settings& settings = make_settings())
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

 protected:
  // The answers of turn(unread, output) when it receives these parts. If it closes, they end with
  // <closed>.
  template <typename TurnFunction>
  static std::string converse(std::span<const std::string_view> parts, TurnFunction&& turn) {
    Input input;
    Output output;
    std::string answers;
    for (const std::string_view part : parts) {
      receive(input, part);
      for (;;) {
        const Turn next = turn(input.unread(), output);
        input.consume(next.used);
        if (next.next == Turn::kClose || next.next == Turn::kQuit)
          return answers + output.text() + "<closed>";
        if (next.next == Turn::kFull || output.size() > Turn::kFullOutputBytes) {
          answers += output.text();
          output.clear();
          continue;
        }
        if (next.next == Turn::kMore) break;
      }
    }
    return answers + output.text();
  }

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
