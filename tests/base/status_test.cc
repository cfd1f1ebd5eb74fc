#include "nvcache/status.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <functional>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "base/errno_status.h"
#include "nvcache/function_ref.h"
#include "nvcache/status_or.h"

namespace nvcache {
namespace {

TEST(Status, IsOkUnlessItSaysWhy) {
  const Status ok;
  EXPECT_TRUE(ok.ok());
  EXPECT_EQ(ok.code(), StatusCode::kOk);
  EXPECT_EQ(ok.message(), "");
  EXPECT_EQ(ok.to_string(), "OK");
  EXPECT_EQ(ok, ok_status());
  EXPECT_EQ(Status(StatusCode::kOk, "is dropped"), ok);

  const Status missing = not_found_error("no such file");
  EXPECT_FALSE(missing.ok());
  EXPECT_TRUE(is_not_found(missing));
  EXPECT_FALSE(is_not_found(ok));
  EXPECT_FALSE(is_data_loss(missing));
  EXPECT_EQ(missing.message(), "no such file");
  EXPECT_EQ(missing.to_string(), "NOT_FOUND: no such file");
  EXPECT_NE(missing, not_found_error("another"));
  EXPECT_NE(missing, internal_error("no such file"));
  std::ostringstream text;
  text << missing;
  EXPECT_TRUE(ok.ok()) << "a message" << ok << missing;
  EXPECT_EQ(text.str(), missing.to_string());
}

TEST(Status, ACopyKeepsItsMessage) {
  Status copy;
  {
    const Status error = data_loss_error(std::string(1000, 'x'));
    copy = error;
    EXPECT_EQ(copy.message().data(), error.message().data()) << "it was copied";
  }
  EXPECT_EQ(copy.message(), std::string(1000, 'x'));
  const Status moved = std::move(copy);
  EXPECT_EQ(moved.code(), StatusCode::kDataLoss);
}

// gRPC's: a program passes them on.
TEST(Status, HasTheNumbersAndNamesThatOthersKnow) {
  EXPECT_EQ(static_cast<int>(StatusCode::kCancelled), 1);
  EXPECT_EQ(static_cast<int>(StatusCode::kInvalidArgument), 3);
  EXPECT_EQ(static_cast<int>(StatusCode::kResourceExhausted), 8);
  EXPECT_EQ(static_cast<int>(StatusCode::kDataLoss), 15);
  EXPECT_EQ(name_of(StatusCode::kDataLoss), "DATA_LOSS");
  EXPECT_EQ(name_of(static_cast<StatusCode>(99)), "");
}

TEST(Status, OfErrno) {
  EXPECT_TRUE(errno_status(0, "open").ok());
  const Status status = errno_status(ENOENT, "open /x");
  EXPECT_EQ(status.to_string(), "NOT_FOUND: open /x: No such file or directory");
  EXPECT_TRUE(is_resource_exhausted(errno_status(ENOSPC, "")));
  EXPECT_TRUE(is_permission_denied(errno_status(EACCES, "")));
  EXPECT_TRUE(is_unknown(errno_status(EIO, "")));
}

TEST(StatusOr, HasAValueOrSaysWhyNot) {
  StatusOr<std::string> value = std::string("here");
  ASSERT_TRUE(value.ok());
  EXPECT_TRUE(value.status().ok());
  EXPECT_EQ(*value, "here");
  EXPECT_EQ(value->size(), 4u);
  EXPECT_EQ(value.value_or("other"), "here");
  value = unavailable_error("later");
  EXPECT_FALSE(value.ok());
  EXPECT_TRUE(is_unavailable(value.status()));
  EXPECT_EQ(value.value_or("other"), "other");
  value = "again";
  EXPECT_EQ(*std::move(value), "again");
  EXPECT_FALSE(StatusOr<int>().ok());
  EXPECT_TRUE(is_internal(StatusOr<int>(ok_status()).status()));
}

TEST(StatusOr, TakesWhatItsValueCanBeMadeOf) {
  struct Base {
    virtual ~Base() = default;
  };
  struct Derived : Base {};
  const auto make = [](bool good) -> StatusOr<std::unique_ptr<Derived>> {
    if (!good) return aborted_error("no");
    return std::make_unique<Derived>();
  };
  const StatusOr<std::unique_ptr<Base>> good = make(true);
  ASSERT_TRUE(good.ok());
  EXPECT_NE(dynamic_cast<const Derived*>(good->get()), nullptr);
  const StatusOr<std::unique_ptr<Base>> bad = make(false);
  EXPECT_EQ(bad.status(), aborted_error("no"));
  const StatusOr<std::optional<int>> nothing = std::nullopt;
  ASSERT_TRUE(nothing.ok()) << "an empty optional is a value, too";
  EXPECT_EQ(*nothing, std::nullopt);
  const StatusOr<std::vector<int>> three = std::vector<int>{1, 2, 3};
  const StatusOr<std::vector<int>> copy = three;
  EXPECT_EQ(*copy, *three);
}

TEST(StatusOrDeathTest, AValueThatIsNotThereEndsTheProcessWithTheReason) {
  const StatusOr<int> none = data_loss_error("it is damaged");
  EXPECT_DEATH((void)*none, "DATA_LOSS: it is damaged");
}

int twice(int number) { return 2 * number; }

TEST(FunctionRef, CallsWhatItRefersTo) {
  const auto apply = [](FunctionRef<int(int)> function) { return function(21); };
  EXPECT_EQ(apply(twice), 42);
  EXPECT_EQ(apply(&twice), 42);
  int calls = 0;
  const auto counts = [&calls](int number) {
    ++calls;
    return number;
  };
  EXPECT_EQ(apply(counts), 21);
  EXPECT_EQ(apply([state = 1](int number) mutable { return number + state++; }), 22);
  EXPECT_EQ(apply(std::function<int(int)>(twice)), 42);
  EXPECT_EQ(calls, 1);
  const auto take = [](FunctionRef<void(std::unique_ptr<int>)> function) {
    function(std::make_unique<int>(7));
  };
  int taken = 0;
  take([&taken](std::unique_ptr<int> number) { taken = *number; });
  EXPECT_EQ(taken, 7);
}

}  // namespace
}  // namespace nvcache
