#include "adapters/jvm/far_cache.h"

#include <span>
#include <string>
#include <utility>

namespace nvcache::jvm {
namespace {

using Engine = std::shared_ptr<ObjectCodec>;

ObjectCodec& codec_in(void* engine) { return **static_cast<Engine*>(engine); }

Codec far_codec(std::shared_ptr<ObjectCodec> codec) {
  const uint64_t form = codec->form();
  return {.engine = new Engine(std::move(codec)),
          .saved_bytes = [](void* engine,
                            const Object& object) { return codec_in(engine).saved_bytes(object); },
          .save = [](void* engine, const Object& object,
                     PlainSpan<std::byte> into) { return codec_in(engine).save(object, into); },
          .destroy = [](void* engine, PlainText key,
                        const Object& object) { codec_in(engine).destroy(key, object); },
          .end = [](void* engine) { delete static_cast<Engine*>(engine); },
          .form = form};
}

Maker far_maker(const MakeObject& make) {
  return {.maker = &make,
          .make = [](const void* maker, PlainSpan<const std::byte> saved, Object* made) {
            return (*static_cast<const MakeObject*>(maker))(saved, made);
          }};
}

class FarCache final : public TieredCache, public TieredCacheControl {
 public:
  FarCache(const Boundary& boundary, Cache* cache) : far_(boundary), cache_(cache) {}
  ~FarCache() override { far_.close(cache_); }

  nvcache::Status insert(std::string_view key, const Object& object, Priority priority,
                         Handle** handle, bool* replaced, MissToken token) override {
    const int code = far_.insert(cache_, key, object, priority, handle, replaced, token);
    return {static_cast<StatusCode>(code), ""};
  }
  MissToken token(std::string_view key) const override { return far_.token(cache_, key); }
  Handle* standalone(std::string_view key, const Object& object, bool beyond_limit) override {
    return far_.standalone(cache_, key, object, beyond_limit);
  }
  Handle* lookup(std::string_view key, const MakeObject* make, Caller caller) override {
    if (make == nullptr) return far_.lookup(cache_, key, nullptr, caller);
    const Maker maker = far_maker(*make);
    return far_.lookup(cache_, key, &maker, caller);
  }
  const Object& object(const Handle* handle) const override { return *far_.object(cache_, handle); }
  void ref(Handle* handle) override { far_.ref(cache_, handle); }
  bool release(Handle* handle, bool erase_if_last) override {
    return far_.release(cache_, handle, erase_if_last);
  }
  void erase(std::string_view key) override { far_.erase(cache_, key); }
  void erase_gone_files(std::span<const uint64_t> files) override {
    far_.erase_gone_files(cache_, files);
  }
  TieredCacheControl* control() override { return this; }

  TieredStats stats() const override {
    const Description about = far_.describe(cache_);
    TieredStats stats;
    stats.policy = std::string_view(about.policy);
    for (const Description::Tier& tier : {about.first, about.all_lower}) {
      if (stats.tiers.size() > about.lower_tiers) break;
      stats.tiers.emplace_back();
      stats.tiers.back().medium = std::string_view(tier.medium);
      stats.tiers.back().size_bytes = tier.size_bytes;
    }
    return stats;
  }

  Limits limits() const override { return far_.limits(cache_); }
  void set_capacity(size_t bytes) override { far_.set_capacity(cache_, bytes); }
  void set_strict(bool strict) override { far_.set_strict(cache_, strict); }
  FirstTierUse use() const override { return far_.use(cache_); }
  TieredCacheControl::Held held(const Handle* handle) const override {
    const jvm::Held held = far_.held(cache_, handle);
    return {.key = held.key, .used_bytes = held.used_bytes};
  }
  void erase_unreferenced() override { far_.erase_unreferenced(cache_); }
  void drain() override { far_.drain(cache_); }

  void for_each(FunctionRef<void(std::string_view, const Object&)> visit) override {
    far_.for_each(cache_, {.visitor = &visit,
                           .visit = [](void* visitor, PlainText key, const Object& object) {
                             (*static_cast<decltype(visit)*>(visitor))(key, object);
                           }});
  }

 private:
  const Boundary& far_;
  Cache* const cache_;
};

}  // namespace

std::shared_ptr<TieredCache> open_far_cache(const Boundary& boundary, std::string_view spec,
                                            const rocksdb::ProgramCache& program,
                                            std::shared_ptr<ObjectCodec> codec) {
  Cache* const cache = boundary.open(spec, program, far_codec(std::move(codec)));
  if (cache == nullptr) return nullptr;
  return std::make_shared<FarCache>(boundary, cache);
}

std::shared_ptr<TieredCache> open_far_cache_by_spec(const Boundary& boundary, std::string_view spec,
                                                    std::shared_ptr<ObjectCodec> codec,
                                                    const Problem& problem) {
  Cache* const cache = boundary.open_by_spec(spec, far_codec(std::move(codec)), problem);
  if (cache == nullptr) return nullptr;
  return std::make_shared<FarCache>(boundary, cache);
}

}  // namespace nvcache::jvm
