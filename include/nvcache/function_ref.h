// A reference to something that can be called, for parameters: two words, nothing is allocated or
// copied. The callable must live as long as the call that takes it.
#pragma once

#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

namespace nvcache {

template <typename Signature>
class FunctionRef;

template <typename Result, typename... Args>
class FunctionRef<Result(Args...)> {
 public:
  template <typename F>
    requires(!std::is_same_v<std::remove_cvref_t<F>, FunctionRef> &&
             std::is_invocable_r_v<Result, F&, Args...>)
  FunctionRef(F&& function) noexcept  // NOLINT: what is called is given as it is
      : call_(&call<std::remove_reference_t<F>>) {
    if constexpr (std::is_function_v<std::remove_reference_t<F>>) {
      target_.function = reinterpret_cast<void (*)()>(&function);
    } else {
      target_.object = const_cast<void*>(static_cast<const void*>(std::addressof(function)));
    }
  }

  Result operator()(Args... args) const { return call_(target_, std::forward<Args>(args)...); }

 private:
  union Target {
    void* object;
    void (*function)();
  };

  template <typename F>
  static Result call(Target target, Args&&... args) {
    if constexpr (std::is_function_v<F>) {
      return static_cast<Result>(
          reinterpret_cast<F*>(target.function)(std::forward<Args>(args)...));
    } else {
      return static_cast<Result>(
          std::invoke(*static_cast<F*>(target.object), std::forward<Args>(args)...));
    }
  }

  Target target_;
  Result (*call_)(Target, Args&&...);
};

}  // namespace nvcache
