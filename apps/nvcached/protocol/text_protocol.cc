#include "apps/nvcached/protocol/text_protocol.h"

#include <cstring>

#include "apps/nvcached/protocol/key_parser.h"
#include "apps/nvcached/protocol/words.h"

namespace nvcache::server {
namespace {

constexpr std::string_view kUnknownCommand = "ERROR";
constexpr uint64_t kMostSlabClasses = 63;
constexpr std::string_view kBadExptime = "CLIENT_ERROR invalid exptime argument";

struct Command {
  std::string_view name;
  TextOp op;
};
constexpr Command kCommands[] = {
    {"get", TextOp::kGet},
    {"set", TextOp::kSet},
    {"gets", TextOp::kGets},
    {"bget", TextOp::kGet},  // an ancient name, which memcached kept
    {"gat", TextOp::kGat},
    {"gats", TextOp::kGats},
    {"add", TextOp::kAdd},
    {"replace", TextOp::kReplace},
    {"append", TextOp::kAppend},
    {"prepend", TextOp::kPrepend},
    {"cas", TextOp::kCas},
    {"delete", TextOp::kDelete},
    {"incr", TextOp::kIncr},
    {"decr", TextOp::kDecr},
    {"touch", TextOp::kTouch},
    {"flush_all", TextOp::kFlushAll},
    {"version", TextOp::kVersion},
    {"verbosity", TextOp::kVerbosity},
    {"stats", TextOp::kStats},
    {"quit", TextOp::kQuit},
    {"shutdown", TextOp::kShutdown},
    {"refresh_certs", TextOp::kRefreshCerts},
    {"cache_memlimit", TextOp::kMemoryLimit},
    {"slabs", TextOp::kTuning},
    {"lru", TextOp::kTuning},
    {"lru_crawler", TextOp::kTuning},
    {"watch", TextOp::kWatch},
};

// The arguments of memcached's tuning commands: the word after the command, and how many follow.
struct TuningForm {
  std::string_view command;
  std::string_view what;
  int least_arguments;
};
constexpr TuningForm kTuningForms[] = {
    {"slabs", "automove", 1},     {"slabs", "reassign", 2},      {"lru", "tune", 4},
    {"lru", "mode", 1},           {"lru", "temp_ttl", 1},        {"lru_crawler", "crawl", 1},
    {"lru_crawler", "sleep", 1},  {"lru_crawler", "tocrawl", 1}, {"lru_crawler", "metadump", 1},
    {"lru_crawler", "enable", 0}, {"lru_crawler", "disable", 0},
};

TextOp op_of(std::string_view name) {
  if (name.size() == 2 && name[0] == 'm' && std::strchr("gsdaen", name[1]) != nullptr) {
    return TextOp::kMeta;
  }
  for (const Command& command : kCommands) {
    if (command.name == name) return command.op;
  }
  return TextOp::kUnknown;
}

// memcached takes the last word of a line for it, whatever stands before: a line with another word
// there wants its answer, also if it is an error.
bool ends_in_noreply(std::string_view rest) { return last_word(rest) == "noreply"; }

// <key> <flags> <exptime> <bytes> [<cas>] [noreply]
void parse_storage(std::string_view rest, TextRequest& request) {
  request.noreply = ends_in_noreply(rest);
  const Key key = next_key(rest);
  request.key = key.bytes;
  const std::string_view flags = next_word(rest);
  const std::string_view exptime = next_word(rest);
  const std::string_view bytes = next_word(rest);
  const std::string_view cas = request.op == TextOp::kCas ? next_word(rest) : "0";
  // Where the length can be read, the value follows, whatever else is wrong: it must never be taken
  // for requests.
  request.has_value = parse_length(bytes, request.value_bytes);
  next_word(rest);  // noreply, or one that is ignored
  if (bytes.empty() || cas.empty() || !next_word(rest).empty()) {
    request.error = kUnknownCommand;
    return;
  }
  if (!key.good() || !parse_u32(flags, request.flags) || !parse_i64(exptime, request.exptime) ||
      !request.has_value || request.value_bytes > kMostValueBytes || !parse_u64(cas, request.cas)) {
    request.error = kBadFormat;
  }
}

// <key> [0] [noreply]. Older clients send a time of 0.
void parse_delete(std::string_view rest, TextRequest& request) {
  const Key key = next_key(rest);
  request.key = key.bytes;
  request.noreply = ends_in_noreply(rest);
  const std::string_view second = next_word(rest);
  const std::string_view third = next_word(rest);
  const bool good = third.empty() ? second.empty() || second == "0" || request.noreply
                                  : second == "0" && request.noreply;
  if (key.fault == KeyFault::kMissing || !next_word(rest).empty()) {
    request.error = kUnknownCommand;
  } else if (!good) {
    request.error = "CLIENT_ERROR bad command line format.  Usage: delete <key> [noreply]";
  } else if (!key.good()) {
    request.error = kBadFormat;
  }
}

// <key> <number> [noreply]
void parse_change(std::string_view rest, TextRequest& request) {
  const Key key = next_key(rest);
  request.key = key.bytes;
  request.noreply = ends_in_noreply(rest);
  const std::string_view number = next_word(rest);
  next_word(rest);  // noreply, or one that is ignored
  if (number.empty() || !next_word(rest).empty()) {
    request.error = kUnknownCommand;
  } else if (!key.good()) {
    request.error = kBadFormat;
  } else if (request.op == TextOp::kTouch) {
    if (!parse_i64(number, request.exptime)) request.error = kBadExptime;
  } else if (!parse_u64(number, request.delta)) {
    request.error = "CLIENT_ERROR invalid numeric delta argument";
  }
}

void parse_get(std::string_view rest, TextRequest& request) {
  if (request.op == TextOp::kGat || request.op == TextOp::kGats) {
    const std::string_view exptime = next_word(rest);
    if (exptime.empty()) {
      request.error = kUnknownCommand;
      return;
    }
    if (!parse_i64(exptime, request.exptime)) {
      request.error = kBadExptime;
      return;
    }
  } else if (rest.find_first_not_of(' ') == std::string_view::npos) {
    request.error = kUnknownCommand;
    return;
  }
  request.arguments = rest;
  while (!rest.empty()) {
    if (next_key(rest).fault == KeyFault::kTooLong) {
      request.error = kBadFormat;
      return;
    }
  }
}

// flush_all [exptime] [noreply]
void parse_flush(std::string_view rest, TextRequest& request) {
  request.noreply = ends_in_noreply(rest);
  const std::string_view first = next_word(rest);
  const std::string_view second = next_word(rest);
  const bool has_time = request.noreply ? !second.empty() : !first.empty();
  if (!next_word(rest).empty()) {
    request.error = kUnknownCommand;
  } else if (has_time && !parse_i64(first, request.exptime)) {
    request.error = kBadExptime;
  }
}

void parse_tuning(std::string_view command, std::string_view rest, TextRequest& request) {
  const std::string_view what = next_word(rest);
  const std::string_view first = next_word(rest);
  int arguments = first.empty() ? 0 : 1;
  while (!next_word(rest).empty()) ++arguments;
  request.error = kUnknownCommand;
  for (const TuningForm& form : kTuningForms) {
    if (form.command != command || form.what != what || arguments < form.least_arguments) continue;
    if (command == "lru" && what == "mode" && first != "flat" && first != "segmented") continue;
    if (what == "automove" && (first.size() != 1 || first[0] < '0' || first[0] > '2')) {
      request.error = kBadFormat;
      return;
    }
    if (what == "metadump") request.op = TextOp::kMetadump;
    request.error = {};
  }
}

// stats cachedump <class> <items>. There is one class; 0 items means all.
void parse_stats(std::string_view rest, TextRequest& request) {
  if (next_word(rest) != "cachedump") return;
  uint64_t slab_class = 0;
  const std::string_view first = next_word(rest);
  const std::string_view second = next_word(rest);
  request.op = TextOp::kCachedump;
  if (second.empty()) {
    request.error = "CLIENT_ERROR bad command line";
  } else if (!parse_u64(first, slab_class) || !parse_u64(second, request.delta)) {
    request.error = kBadFormat;
  } else if (slab_class > kMostSlabClasses) {
    request.error = "CLIENT_ERROR Illegal slab id";
  }
}

bool is_http(std::string_view line) {
  const size_t last = line.find_last_of(' ');
  return last != std::string_view::npos && line.substr(last + 1).starts_with("HTTP/");
}

// verbosity <level> [noreply], cache_memlimit <MB> [noreply]
void parse_level(std::string_view rest, TextRequest& request) {
  request.noreply = ends_in_noreply(rest);
  const std::string_view level = next_word(rest);
  next_word(rest);  // noreply, or one that is ignored
  if (level.empty() || !next_word(rest).empty()) {
    request.error = kUnknownCommand;
  } else if (!parse_u64(level, request.delta)) {
    request.error = kBadFormat;
  }
}

}  // namespace

std::optional<Line> find_line(std::string_view in, size_t scanned) {
  if (scanned >= in.size()) return std::nullopt;
  const void* found = std::memchr(in.data() + scanned, '\n', in.size() - scanned);
  if (found == nullptr) return std::nullopt;
  const size_t at = static_cast<size_t>(static_cast<const char*>(found) - in.data());
  const bool carriage = at > 0 && in[at - 1] == '\r';
  return Line{in.substr(0, carriage ? at - 1 : at), at + 1};
}

TextRequest parse_text_line(std::string_view line) {
  TextRequest request;
  std::string_view rest = line;
  const std::string_view command = next_word(rest);
  request.op = op_of(command);
  request.arguments = rest;
  switch (request.op) {
    case TextOp::kUnknown:
      // Web pages can make a browser send text to any port: the lines that follow are no requests.
      if (is_http(line)) request.op = TextOp::kHttp;
      request.error = kUnknownCommand;
      break;
    case TextOp::kGet:
    case TextOp::kGets:
    case TextOp::kGat:
    case TextOp::kGats:
      parse_get(rest, request);
      break;
    case TextOp::kSet:
    case TextOp::kAdd:
    case TextOp::kReplace:
    case TextOp::kAppend:
    case TextOp::kPrepend:
    case TextOp::kCas:
      parse_storage(rest, request);
      break;
    case TextOp::kDelete:
      parse_delete(rest, request);
      break;
    case TextOp::kIncr:
    case TextOp::kDecr:
    case TextOp::kTouch:
      parse_change(rest, request);
      break;
    case TextOp::kFlushAll:
      parse_flush(rest, request);
      break;
    case TextOp::kVerbosity:
    case TextOp::kMemoryLimit:
      parse_level(rest, request);
      break;
    case TextOp::kMeta:
      request.arguments = line;
      break;
    case TextOp::kTuning:
      parse_tuning(command, rest, request);
      break;
    case TextOp::kStats:
      parse_stats(rest, request);
      break;
    default:
      break;
  }
  return request;
}

}  // namespace nvcache::server
