// Policies that an application brings: how they are named, and that their mistakes harm no cache.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "nvcache/block_cache.h"
#include "nvcache/policies.h"
#include "policy/admission/make_admission.h"
#include "policy/eviction/make_eviction.h"
#include "policy/outside/policy_guard.h"

namespace nvcache {
namespace {

// Refuses blocks of odd offsets. With an argument, it says so.
class EvenOnly final : public AdmissionPolicy {
 public:
  explicit EvenOnly(std::string arguments) : arguments_(std::move(arguments)) {}
  Verdict admit(const Candidate& block, const Traffic&) override {
    return block.key.offset % 2 == 0 ? Verdict::admit() : Verdict::refuse(Reason::kOutsidePolicy);
  }
  std::string describe() const override { return "even_only(" + arguments_ + ")"; }

 private:
  std::string arguments_;
};

// Evicts the block that came last.
class LastIn final : public EvictionPolicy {
 public:
  void on_insert(uint32_t slot, uint64_t) override { slots_.push_back(slot); }
  void on_hit(uint32_t) override {}
  void on_remove(uint32_t slot, uint64_t, bool) override { std::erase(slots_, slot); }
  std::optional<uint32_t> next_victim(const Residents& residents) override {
    const auto last = std::find_if(slots_.rbegin(), slots_.rend(),
                                   [&](uint32_t slot) { return residents.evictable(slot); });
    if (last == slots_.rend()) return std::nullopt;
    return *last;
  }
  uint64_t metadata_bytes() const override { return slots_.size() * sizeof(uint32_t); }

 private:
  std::vector<uint32_t> slots_;
};

// The registry lives as long as the process: the tests of a run share what they added.
const bool added = [] {
  PolicyRegistry& registry = policy_registry();
  const Status even = registry.add(AdmissionKind{
      .name = "even_only",
      .usage = "even_only(ANYTHING)",
      .make = [](PolicyArguments arguments,
                 const AdmissionContext&) -> StatusOr<std::unique_ptr<AdmissionPolicy>> {
        std::string joined;
        for (const std::string_view argument : arguments) {
          if (argument == "wrong") return invalid_argument_error("'wrong' given");
          if (argument == "throw") throw std::runtime_error("did \x01 not work");
          if (argument == "null") return nullptr;
          joined.append(joined.empty() ? "" : ",").append(argument);
        }
        return std::make_unique<EvenOnly>(joined);
      }});
  const Status last = registry.add(EvictionKind{
      .name = "last_in",
      .usage = "last_in",
      .make = [](PolicyArguments, uint32_t) -> StatusOr<std::unique_ptr<EvictionPolicy>> {
        return std::make_unique<LastIn>();
      }});
  return even.ok() && last.ok();
}();

TEST(OutsidePolicies, AreNamedInSpecificationsLikeOthers) {
  ASSERT_TRUE(added);
  const auto composed = make_admission("second_touch + even_only( a , b )", {});
  ASSERT_TRUE(composed.ok()) << composed.status();
  EXPECT_EQ((*composed)->describe(), "second_touch+even_only(a,b)");
  EXPECT_TRUE(make_admission((*composed)->describe(), {}).ok());
  EXPECT_TRUE(make_eviction(" last_in ", {.max_slots = 10}).ok());
}

TEST(OutsidePolicies, ServeACache) {
  const auto cache =
      open_block_cache("nvcache://?size=1MiB&shards=1&admission=always+even_only&eviction=last_in");
  ASSERT_TRUE(cache.ok()) << cache.status();
  const std::vector<std::byte> block(16 << 10);
  for (uint64_t i = 0; i < 1000; ++i) (*cache)->put({7, i}, block, Origin::kRead);
  const Stats stats = (*cache)->stats();
  EXPECT_EQ(stats.refused[static_cast<size_t>(Reason::kOutsidePolicy)], 500u);
  EXPECT_GT(stats.evictions, 0u);
  EXPECT_EQ(stats.admission, "always+even_only()");
  EXPECT_TRUE((*cache)->lookup({7, 0}).hit()) << "the last one leaves, never the first";
  EXPECT_FALSE((*cache)->lookup({7, 1}).hit());
}

TEST(OutsidePolicies, AreListedWhereAnUnknownOneIsNamed) {
  for (const Status& status :
       {make_admission("never_heard", {}).status(), make_eviction("never_heard", {}).status()}) {
    const std::string message(status.message());
    EXPECT_NE(message.find(message.starts_with("admission") ? "even_only(ANYTHING)" : "last_in"),
              std::string::npos)
        << message;
  }
}

std::string refusal_of(std::string_view spec) {
  return std::string(make_admission(spec, {}).status().message());
}

TEST(OutsidePolicies, WhatTheirFactorySaysIsTheMessage) {
  EXPECT_EQ(refusal_of("even_only(wrong)"), "admission member 'even_only(wrong)': 'wrong' given");
  EXPECT_EQ(refusal_of("even_only(null)"),
            "admission member 'even_only(null)': its factory made nothing");
  EXPECT_EQ(refusal_of("even_only(throw)"),
            "admission member 'even_only(throw)': did \\x01 not work");
  EXPECT_EQ(refusal_of("even_only+even_only"),
            "admission member 'even_only': even_only given twice; allowed: each member once");
}

TEST(OutsidePolicies, ANameIsTakenOnce) {
  PolicyRegistry& registry = policy_registry();
  const auto status_of = [&](const std::string& name) {
    return registry.add(EvictionKind{
        .name = name, .usage = "", .make = [](auto, auto) { return std::make_unique<LastIn>(); }});
  };
  EXPECT_EQ(status_of("lru").code(), StatusCode::kAlreadyExists);
  EXPECT_EQ(status_of("last_in").code(), StatusCode::kAlreadyExists);
  for (const std::string name : {"", "Lru", "1st", "a-b", "a(b)", "a+b", " a"}) {
    EXPECT_EQ(status_of(name).code(), StatusCode::kInvalidArgument) << name;
  }
  EXPECT_EQ(registry.add(EvictionKind{.name = "unmade", .usage = "", .make = nullptr}).code(),
            StatusCode::kInvalidArgument);
}

// Breaks every promise.
class Wrong final : public EvictionPolicy, public Contest, public AdmissionPolicy {
 public:
  void on_insert(uint32_t, uint64_t) override { throw 1; }
  void on_hit(uint32_t) override { throw 2; }
  void on_remove(uint32_t, uint64_t, bool) override { throw 3; }
  std::optional<uint32_t> next_victim(const Residents&) override {
    if (victim == kThrows) throw 4;
    return victim;
  }
  bool evicts() const override { throw 12; }
  bool keeps(uint32_t) override { throw 13; }
  Contest* contest() override { return this; }
  void offer(uint64_t) override { throw 5; }
  bool outranks_victim(uint64_t, const Residents&) override { throw 6; }
  Verdict admit(const Candidate&, const Traffic&) override {
    return Verdict::refuse(static_cast<Reason>(200));
  }
  bool may_evict(const Traffic&) override { throw 7; }
  uint32_t totals_interval() const override { throw 8; }
  bool weighs_costs() const override { throw 11; }
  std::string describe() const override { throw 9; }
  uint64_t metadata_bytes() const override { throw 10; }

  static constexpr uint32_t kThrows = 99;
  uint32_t victim = kThrows;
};

// A shard of two slots, of which the second may not leave.
class TwoSlots final : public Residents {
 public:
  uint32_t slot_limit() const override { return 2; }
  bool evictable(uint32_t slot) const override { return slot == 0; }
  uint64_t key_hash(uint32_t) const override { return 1; }
};

TEST(PolicyGuard, CatchesWhatAPolicyThrows) {
  const auto eviction = guard(std::unique_ptr<EvictionPolicy>(std::make_unique<Wrong>()));
  const TwoSlots shard;
  eviction->on_insert(0, 1);
  eviction->on_hit(0);
  eviction->on_remove(0, 1, true);
  EXPECT_EQ(eviction->next_victim(shard), std::nullopt);
  ASSERT_NE(eviction->contest(), nullptr);
  eviction->contest()->offer(1);
  EXPECT_FALSE(eviction->contest()->outranks_victim(1, shard));
  EXPECT_TRUE(eviction->evicts());
  EXPECT_FALSE(eviction->keeps(0));
  EXPECT_EQ(eviction->passes(), nullptr);
  EXPECT_EQ(eviction->metadata_bytes(), 0u);

  const auto admission = guard(std::unique_ptr<AdmissionPolicy>(std::make_unique<Wrong>()));
  EXPECT_EQ(admission->admit({}, {}), Verdict::refuse(Reason::kOutsidePolicy));
  EXPECT_TRUE(admission->may_evict({}));
  EXPECT_EQ(admission->totals_interval(), 1u);
  EXPECT_FALSE(admission->weighs_costs());
  EXPECT_EQ(admission->describe(), "");
  EXPECT_EQ(admission->metadata_bytes(), 0u);
}

TEST(PolicyGuard, NamesNoVictimThatMayNotLeave) {
  auto made = std::make_unique<Wrong>();
  Wrong& wrong = *made;
  const auto guarded = guard(std::unique_ptr<EvictionPolicy>(std::move(made)));
  const TwoSlots shard;
  wrong.victim = 1;
  EXPECT_EQ(guarded->next_victim(shard), std::nullopt) << "pinned";
  wrong.victim = 2;
  EXPECT_EQ(guarded->next_victim(shard), std::nullopt) << "no slot";
  wrong.victim = 0;
  EXPECT_EQ(guarded->next_victim(shard), 0u);
}

}  // namespace
}  // namespace nvcache
