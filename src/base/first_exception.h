// Runs steps that must all run, whatever one of them throws, and throws the first exception
// after the last step.
#pragma once

#include <exception>
#include <utility>

namespace nvcache {

class FirstException {
 public:
  template <typename Step>
  void run(Step&& step) {
    try {
      std::forward<Step>(step)();
    } catch (...) {
      if (first_ == nullptr) first_ = std::current_exception();
    }
  }
  void rethrow() const {
    if (first_ != nullptr) std::rethrow_exception(first_);
  }

 private:
  std::exception_ptr first_;
};

}  // namespace nvcache
