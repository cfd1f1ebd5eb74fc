// `-d`: the server runs in the background. The process that was started ends when the server
// serves, or cannot: with the server's exit code, and after what it said.
#pragma once

#include "nvcache/status_or.h"

namespace nvcache::server {

class Background {
 public:
  // Goes on in a child, with the same standard streams and in the same session, so that Ctrl-C ends
  // the start. Call it before there are threads and locks. The parent never returns.
  [[nodiscard]] static StatusOr<Background> begin();
  // Serves: leaves the session, and with `quiet` its standard streams. The parent ends with 0.
  void serve(bool quiet);

 private:
  explicit Background(int parent) : parent_(parent) {}

  int parent_;  // the end of a pipe
};

}  // namespace nvcache::server
