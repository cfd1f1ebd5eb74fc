#include "apps/trace/trace_reader.h"

#include <utility>

#include "base/text.h"
#include "fmt/format.h"

namespace nvcache {
namespace {

constexpr size_t kReadBytes = 64 << 10;

}  // namespace

StatusOr<std::unique_ptr<TraceReader>> TraceReader::open(const std::string& path,
                                                         const TraceOptions& options) {
  const StatusOr<const TraceFormat*> format = find_trace_format(path, options);
  if (!format.ok()) return format.status();
  if (!options.columns.empty() && (*format)->name != "csv") {
    return invalid_argument("{}: the format {} has no columns; only csv has", path,
                            (*format)->name);
  }
  StatusOr<std::unique_ptr<Decoder>> decoder = (*format)->make(options);
  if (!decoder.ok()) return decoder.status();
  StatusOr<std::unique_ptr<Input>> input = Input::open(path);
  if (!input.ok()) return input.status();
  return std::unique_ptr<TraceReader>(
      new TraceReader(path, **format, *std::move(decoder), *std::move(input)));
}

TraceReader::TraceReader(std::string path, const TraceFormat& format,
                         std::unique_ptr<Decoder> decoder, std::unique_ptr<Input> input)
    : path_(std::move(path)),
      format_(format),
      decoder_(std::move(decoder)),
      input_(std::move(input)) {}

StatusOr<bool> TraceReader::read(std::vector<Access>* accesses) {
  if (!stopped_) {
    if (Status status = fill(); !status.ok()) return status;
  }
  const size_t before = accesses->size();
  const StatusOr<size_t> taken = decoder_->decode(bytes_, read_all_, accesses);
  if (!taken.ok()) return bad(taken.status().message());
  bytes_.erase(0, *taken);
  done_ += *taken;
  accesses_ += accesses->size() - before;
  stopped_ = accesses->size() - before >= Decoder::kEnoughAccesses;
  if (stopped_ || !read_all_) return true;
  if (Status status = end(); !status.ok()) return status;
  return false;
}

Status TraceReader::fill() {
  const size_t kept = bytes_.size();
  bytes_.resize(kept + kReadBytes);
  const StatusOr<size_t> got = input_->read({bytes_.data() + kept, kReadBytes});
  if (!got.ok()) {
    return Status(got.status().code(), fmt::format("{}: {}", path_, got.status().message()));
  }
  bytes_.resize(kept + *got);
  read_all_ = *got < kReadBytes;
  return ok_status();
}

Status TraceReader::end() {
  if (!bytes_.empty()) {
    cut_short_ = fmt::format("byte {}: it ends within an access", done_ + bytes_.size());
  }
  if (input_->is_cut_short()) {
    cut_short_ = fmt::format("byte {}: it cannot be unpacked any further{}", done_ + bytes_.size(),
                             input_->problem());
  }
  if (accesses_ > 0) return ok_status();
  if (!cut_short_.empty()) return bad(cut_short_);
  const Decoder::Skipped none = skipped();
  return none.lines == 0 ? ok_status() : bad(none.first);
}

Status TraceReader::bad(std::string_view what) const {
  return data_loss_error(
      fmt::format("{}: {}; format {}: {}", path_, what, format_.name, format_.understood));
}

}  // namespace nvcache
