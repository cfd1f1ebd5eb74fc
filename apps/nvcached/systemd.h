// Messages to systemd from a service of Type=notify (sd_notify(3)).
#pragma once

#include <string_view>

namespace nvcache::server {

// Lines such as "READY=1". Does nothing without systemd. Thread-safe.
void notify_systemd(std::string_view state);

}  // namespace nvcache::server
