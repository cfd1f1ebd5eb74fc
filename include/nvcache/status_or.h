// A value, or why there is none: nvcache/status.h. Thread-safe as its value is.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <type_traits>
#include <utility>

#include "nvcache/status.h"

namespace nvcache {

template <typename T>
class [[nodiscard]] StatusOr {
 public:
  using value_type = T;

  // UNKNOWN, for what is assigned later.
  StatusOr() : status_(StatusCode::kUnknown, "") {}
  // An error. One that is OK has no value, and is taken for an INTERNAL error.
  StatusOr(Status status) : status_(std::move(status)) {
    if (status_.ok()) status_ = internal_error("OK without a value");
  }
  template <typename U = T>
    requires(std::is_convertible_v<U &&, T> && !std::is_same_v<std::remove_cvref_t<U>, StatusOr> &&
             !std::is_same_v<std::remove_cvref_t<U>, Status>)
  StatusOr(U&& value) : value_(std::in_place, std::forward<U>(value)) {}
  template <typename U = T>
    requires(std::is_constructible_v<T, U &&> && !std::is_convertible_v<U &&, T> &&
             !std::is_same_v<std::remove_cvref_t<U>, StatusOr> &&
             !std::is_same_v<std::remove_cvref_t<U>, Status>)
  explicit StatusOr(U&& value) : value_(std::in_place, std::forward<U>(value)) {}
  // From a type that this one's can be made of: std::unique_ptr<Derived> for a
  // std::unique_ptr<Base>.
  template <typename U>
    requires(!std::is_same_v<T, U> && std::is_convertible_v<U &&, T> &&
             !std::is_convertible_v<StatusOr<U> &&, T>)
  StatusOr(StatusOr<U>&& other) : status_(other.status()) {
    if (other.ok()) value_.emplace(*std::move(other));
  }

  bool ok() const noexcept { return value_.has_value(); }
  // OK if there is a value.
  const Status& status() const& noexcept { return status_; }
  Status status() && noexcept { return std::move(status_); }

  // The value. One that asks for it where there is none ends the process with the reason.
  T& value() & { return checked().value_.operator*(); }
  const T& value() const& { return checked().value_.operator*(); }
  T&& value() && { return std::move(checked().value_.operator*()); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  template <typename U>
  T value_or(U&& instead) const& {
    return ok() ? *value_ : static_cast<T>(std::forward<U>(instead));
  }
  template <typename U>
  T value_or(U&& instead) && {
    return ok() ? *std::move(value_) : static_cast<T>(std::forward<U>(instead));
  }

 private:
  StatusOr& checked() {
    if (!ok()) [[unlikely]]
      fail();
    return *this;
  }
  const StatusOr& checked() const {
    if (!ok()) [[unlikely]]
      fail();
    return *this;
  }
  [[noreturn, gnu::cold, gnu::noinline]] void fail() const {
    const std::string_view name = name_of(status_.code());
    std::fprintf(stderr, "a value of a StatusOr was asked for, and there is none: %.*s: %.*s\n",
                 static_cast<int>(name.size()), name.data(),
                 static_cast<int>(status_.message().size()), status_.message().data());
    std::abort();
  }

  Status status_;
  std::optional<T> value_;  // if status_ is OK
};

}  // namespace nvcache
