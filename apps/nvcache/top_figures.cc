#include "apps/nvcache/top_figures.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/text.h"
#include "base/units.h"

namespace nvcache {
namespace {

constexpr double kSecondsPerDay = 86400;
constexpr double kFewSamples = 100;    // fewer tell little of one in a hundred
constexpr double kSilentSeconds = 60;  // longer than any default interval between two writes

// How each kind of statistics names what is shown. Empty: it has no such number.
struct Names {
  std::string_view lookups;
  std::string_view hits;
  std::string_view misses;
  std::string_view inserts;
  std::string_view evictions;
  std::string_view read_bytes;
  std::string_view written_bytes;
  std::string_view used_bytes;
};
constexpr Names kCacheNames = {.lookups = "",
                               .hits = "hits",
                               .misses = "misses",
                               .inserts = "inserts",
                               .evictions = "evictions",
                               .read_bytes = "medium_read_bytes",
                               .written_bytes = "medium_written_bytes",
                               .used_bytes = "used_bytes"};
constexpr Names kTieredNames = {.lookups = "lookups",
                                .hits = "",
                                .misses = "misses",
                                .inserts = "",
                                .evictions = "",
                                .read_bytes = "",
                                .written_bytes = "",
                                .used_bytes = ""};
constexpr Names kTierNames = {.lookups = "",
                              .hits = "hits",
                              .misses = "",
                              .inserts = "inserts",
                              .evictions = "dropped",
                              .read_bytes = "",
                              .written_bytes = "",
                              .used_bytes = "used_bytes"};
constexpr Names kStoreNames = {.lookups = "gets",
                               .hits = "hits",
                               .misses = "",
                               .inserts = "puts",
                               .evictions = "evicted",
                               .read_bytes = "",
                               .written_bytes = "medium_written_bytes",
                               .used_bytes = "data_bytes"};
constexpr Names kServerNames = {.lookups = "cmd_get",
                                .hits = "get_hits",
                                .misses = "get_misses",
                                .inserts = "cmd_set",
                                .evictions = "evictions",
                                .read_bytes = "",
                                .written_bytes = "store_medium_written_bytes",
                                .used_bytes = "data_bytes"};

const Names& names_of(StatsKind kind) {
  switch (kind) {
    case StatsKind::kTieredCache:
      return kTieredNames;
    case StatsKind::kStore:
      return kStoreNames;
    case StatsKind::kServer:
      return kServerNames;
    case StatsKind::kBlockCache:
      break;
  }
  return kCacheNames;
}

// A group as it is, and as it was a while ago; null: not known.
struct Change {
  const StatsGroup* now;
  const StatsGroup* before;
  double seconds;

  Flow flow(std::optional<double> total, std::optional<double> was) const {
    Flow flow = {.total = total, .per_second = std::nullopt};
    if (total && before != nullptr && seconds > 0) {
      flow.per_second = std::max(0.0, *total - was.value_or(0)) / seconds;
    }
    return flow;
  }
  Flow flow(std::string_view name) const {
    return flow(now->number(name), before == nullptr ? std::nullopt : before->number(name));
  }
};

Flow sum_of(const Flow& a, const Flow& b) {
  const auto sum = [](std::optional<double> x, std::optional<double> y) {
    return x && y ? std::optional(*x + *y) : std::nullopt;
  };
  return {.total = sum(a.total, b.total), .per_second = sum(a.per_second, b.per_second)};
}

// `part` less `of`, not below 0: two counters are read one after the other.
Flow difference(const Flow& of, const Flow& part) {
  const auto less = [](std::optional<double> x, std::optional<double> y) {
    return x && y ? std::optional(std::max(0.0, *x - *y)) : std::nullopt;
  };
  return {.total = less(of.total, part.total), .per_second = less(of.per_second, part.per_second)};
}

std::optional<double> share(std::optional<double> part, std::optional<double> of) {
  if (!part || !of || *of <= 0) return std::nullopt;
  return std::min(1.0, *part / *of);
}

void set_ratios(PartFigures* part) {
  part->hit_ratio = share(part->hits.total, part->lookups.total);
  part->hit_ratio_now = share(part->hits.per_second, part->lookups.per_second);
}

void add_writes(const Change& change, PartFigures* part) {
  part->read_bytes = change.flow(kCacheNames.read_bytes);
  part->written_bytes = change.flow(kCacheNames.written_bytes);
  for (const auto& [reason, count] : change.now->refused) {
    if (count <= 0) continue;
    std::optional<double> was;
    if (change.before != nullptr) {
      const auto found = change.before->refused.find(reason);
      if (found != change.before->refused.end()) was = found->second;
    }
    part->refused[reason] = change.flow(count, was);
  }
  const double size_bytes = change.now->number("size_bytes").value_or(0);
  part->budget_bytes_per_second = budget_in(change.now->text("admission"), size_bytes);
}

void note_if(const StatsGroup& group, std::string_view name, std::string_view note,
             PartFigures* part) {
  const double value = group.number(name).value_or(0);
  if (value > 0) part->notes.push_back(fmt::format(fmt::runtime(note), value));
}

// Notes the health of a block cache, alone or in a tier.
void note_health(const StatsGroup& cache, PartFigures* part) {
  note_if(cache, "failed", "MEDIUM OFF: it fails too often, and is tried once a second", part);
  if (cache.number("recovering").value_or(0) > 0) {
    note_if(cache, "recovered_blocks", "coming back after a restart: {:.0f} blocks until now",
            part);
    if (part->notes.empty()) part->notes.push_back("coming back after a restart");
  } else {
    note_if(cache, "recovered_blocks", "{:.0f} blocks came back after the restart", part);
  }
  note_if(cache, "medium_errors", "the medium failed {:.0f} reads and writes", part);
  note_if(cache, "damaged_blocks", "{:.0f} blocks were damaged", part);
  note_if(cache, "damaged_regions", "{:.0f} regions were damaged at the start", part);
  if (const double bytes = cache.number("set_aside_bytes").value_or(0); bytes > 0) {
    part->notes.push_back(
        fmt::format("{} set aside, as writes there failed", format_bytes(whole_bytes(bytes))));
  }
}

void note_store(const StatsGroup& group, std::string_view prefix, PartFigures* part) {
  const auto with = [prefix](std::string_view name) { return fmt::format("{}{}", prefix, name); };
  note_if(group, with("failed"), "MEDIUM FAILED: changes are refused until a restart", part);
  note_if(group, with("file_lost"), "FILE LOST: the data file is not at its path", part);
  if (const double items = group.number("recovered_items").value_or(0); items > 0) {
    part->notes.push_back(fmt::format("{:.0f} items recovered at the start in {:.1f} s", items,
                                      group.number("recovery_seconds").value_or(0)));
  }
  note_if(group, prefix.empty() ? "damaged" : "store_damaged_items", "{:.0f} items were damaged",
          part);
  note_if(group, prefix.empty() ? "table_evicted" : "store_table_evictions",
          "{:.0f} items evicted because the table of items was full", part);
}

PartFigures whole_part(StatsKind kind, const Change& change) {
  const Names& names = names_of(kind);
  PartFigures part;
  part.name = name_of(kind);
  part.group = *change.now;
  part.hits = change.flow(names.hits);
  part.lookups = names.lookups.empty() ? sum_of(part.hits, change.flow(names.misses))
                                       : change.flow(names.lookups);
  if (names.hits.empty()) part.hits = difference(part.lookups, change.flow(names.misses));
  set_ratios(&part);
  part.inserts = change.flow(names.inserts);
  part.evictions = change.flow(names.evictions);
  part.used_bytes = change.now->number(names.used_bytes);
  part.size_bytes = change.now->number("size_bytes");
  if (kind == StatsKind::kBlockCache) {
    add_writes(change, &part);
    note_health(*change.now, &part);
  } else if (kind != StatsKind::kTieredCache) {
    part.written_bytes = change.flow(names.written_bytes);
    note_store(*change.now, kind == StatsKind::kServer ? "store_" : "", &part);
  }
  return part;
}

// `lookups`: those that no tier above served.
PartFigures tier_part(size_t number, const Change& tier, const Change& cache, const Flow& lookups) {
  PartFigures part;
  part.name = fmt::format("tier {}", number);
  part.group = *tier.now;
  part.hits = tier.flow(kTierNames.hits);
  part.lookups = lookups;
  set_ratios(&part);
  part.inserts = tier.flow(kTierNames.inserts);
  part.evictions = tier.flow(kTierNames.evictions);
  part.used_bytes = tier.now->number(kTierNames.used_bytes);
  part.size_bytes = tier.now->number("size_bytes");
  if (const std::string problem = tier.now->text("problem"); !problem.empty()) {
    part.notes.push_back("NOT OPEN: " + problem);
  }
  if (cache.now->empty()) return part;
  for (const char* const policy : {"admission", "eviction"}) {
    part.group.texts[policy] = cache.now->text(policy);
  }
  part.evictions = cache.flow(kCacheNames.evictions);
  add_writes(cache, &part);
  note_health(*cache.now, &part);
  return part;
}

// Until how many days from now `may_write` bytes are written.
void set_days(const StatsReading& first, const StatsReading& last, double may_write,
              const Flow& written, const std::optional<double>& was, PartFigures* part) {
  if (!written.total) return;
  const double seconds = last.written_seconds - first.written_seconds;
  if (seconds > 0) {
    part->mean_written_per_second = std::max(0.0, *written.total - was.value_or(0)) / seconds;
  } else if (const double uptime = part->group.number("uptime_seconds").value_or(0); uptime > 0) {
    part->mean_written_per_second = *written.total / uptime;
  }
  if (may_write <= 0 || part->mean_written_per_second.value_or(0) <= 0) return;
  part->days_left = may_write / *part->mean_written_per_second / kSecondsPerDay;
}

// A total that each kind has, and that is never less than before in one process.
double lookups_in(const StatsSnapshot& snapshot) {
  const Names& names = names_of(snapshot.kind);
  if (!names.lookups.empty()) return snapshot.whole.number(names.lookups).value_or(0);
  return snapshot.whole.number(names.hits).value_or(0) +
         snapshot.whole.number(names.misses).value_or(0);
}

}  // namespace

uint64_t whole_bytes(double bytes) {
  constexpr double kMost = 1e18;
  return static_cast<uint64_t>(std::clamp(bytes, 0.0, kMost));
}

std::optional<double> budget_in(std::string_view admission, double size_bytes) {
  constexpr std::string_view kBudget = "write_budget(";
  const size_t at = admission.find(kBudget);
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view rate = admission.substr(at + kBudget.size());
  rate = strip(rate.substr(0, rate.find_first_of(",)")));
  constexpr std::string_view kDriveWrites = "DWPD";
  if (rate.ends_with(kDriveWrites)) {
    rate.remove_suffix(kDriveWrites.size());
    const StatusOr<double> writes = parse_number("RATE", strip(rate), 0, 1e6);
    return writes.ok() ? std::optional(*writes * size_bytes / kSecondsPerDay) : std::nullopt;
  }
  const StatusOr<double> bytes = parse_bytes_per_second(rate);
  return bytes.ok() ? std::optional(*bytes) : std::nullopt;
}

void Watched::take(StatsReading reading) {
  error_.clear();
  if (last_ && !reading.is_live && reading.written_seconds == last_->written_seconds) return;
  const bool restarted = last_ && (reading.snapshot.kind != last_->snapshot.kind ||
                                   lookups_in(reading.snapshot) < lookups_in(last_->snapshot));
  if (restarted) {
    ratio_before_restart_ = figures(reading.written_seconds).whole.hit_ratio;
    restarted_seconds_ = reading.written_seconds;
    first_.reset();
    last_.reset();
  }
  before_ = std::exchange(last_, std::move(reading));
  if (!first_) first_ = last_;
}

TopFigures Watched::figures(double now_seconds) const {
  const StatsSnapshot& last = last_->snapshot;
  TopFigures figures;
  figures.source = source_;
  figures.kind = last.kind;
  figures.files = last.files;
  figures.age_seconds = std::max(0.0, now_seconds - last_->written_seconds);
  const double seconds = before_ ? last_->written_seconds - before_->written_seconds : 0;
  if (seconds > 0) figures.interval_seconds = seconds;
  const StatsSnapshot* const before = seconds > 0 ? &before_->snapshot : nullptr;
  const StatsSnapshot& first = first_->snapshot;

  const Change whole = {&last.whole, before == nullptr ? nullptr : &before->whole, seconds};
  figures.whole = whole_part(last.kind, whole);
  const std::string_view written = names_of(last.kind).written_bytes;
  set_days(*first_, *last_, drive_writes_bytes_, figures.whole.written_bytes,
           first.whole.number(written), &figures.whole);
  Flow lookups = figures.whole.lookups;
  for (size_t i = 0; i < last.tiers.size(); ++i) {
    const bool was = before != nullptr && i < before->tiers.size();
    const Change tier = {&last.tiers[i].tier, was ? &before->tiers[i].tier : nullptr, seconds};
    const Change cache = {&last.tiers[i].cache, was ? &before->tiers[i].cache : nullptr, seconds};
    figures.tiers.push_back(tier_part(i, tier, cache, lookups));
    PartFigures& part = figures.tiers.back();
    lookups = difference(lookups, part.hits);
    if (i < first.tiers.size()) {
      set_days(*first_, *last_, drive_writes_bytes_, part.written_bytes,
               first.tiers[i].cache.number(kCacheNames.written_bytes), &part);
    }
  }
  add_requests(&figures);
  add_notes(&figures);
  return figures;
}

void Watched::add_requests(TopFigures* figures) const {
  for (const auto& [command, all] : last_->snapshot.latencies) {
    LatencySteps steps = all;
    LatencyFigures added;
    added.command = command;
    if (figures->interval_seconds) {
      const auto was = before_->snapshot.latencies.find(command);
      LatencySteps recent =
          was == before_->snapshot.latencies.end() ? all : since(all, was->second);
      added.is_recent = recent.samples() >= kFewSamples;
      if (added.is_recent) steps = std::move(recent);
    }
    added.samples = steps.samples();
    added.half_seconds = quantile_seconds(steps, 0.5);
    if (added.samples >= kFewSamples) added.most_seconds = quantile_seconds(steps, 0.99);
    if (added.samples > 0) figures->latencies.push_back(std::move(added));
  }
  for (const PrefixSamples& each : last_->prefixes.most) {
    figures->prefixes.push_back({.prefix = each.prefix,
                                 .share = share(each.samples, last_->prefixes.samples).value_or(0),
                                 .hit_ratio = share(each.hits, each.hits + each.misses)});
  }
}

void Watched::add_notes(TopFigures* figures) const {
  if (!error_.empty()) figures->notes.push_back(error_);
  if (!last_->is_live && figures->age_seconds > kSilentSeconds) {
    figures->notes.push_back(
        "not written for a while: its program has ended, or writes it more rarely");
  }
  if (last_->snapshot.documents > 1) {
    figures->notes.push_back(fmt::format("the last of {} caches that were closed; each is there",
                                         last_->snapshot.documents));
  }
  if (restarted_seconds_) {
    figures->notes.push_back(fmt::format("its program was started again; hits before: {:.1f}%",
                                         100 * ratio_before_restart_.value_or(0)));
  }
}

}  // namespace nvcache
