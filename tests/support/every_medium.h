// Every kind of medium, each open in a test's own place: what the contracts of media run on.
#pragma once

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/prng.h"
#include "base/virtual_clock.h"
#include "gtest/gtest.h"
#include "medium/medium.h"
#include "medium/table.h"
#include "support/failing_medium.h"
#include "support/loop_device.h"
#include "support/temp_dir.h"

namespace nvcache::test {

inline constexpr uint64_t kSizeBytes = 1 << 20;
inline constexpr uint64_t kMaxSizeBytes = 2 << 20;
inline constexpr uint64_t kPiece = 8192;  // a multiple of every granularity we meet

struct NamedMedium {
  std::string name;
  std::string spec;  // PATH stands for a file in the test's directory, DEVICE for a loop device
  bool failing = false;
  bool may_be_refused = false;  // not every system has it or allows it
};

// Bytes whose start suits every granularity.
class Block {
 public:
  explicit Block(size_t size_bytes = kPiece)
      : bytes_(static_cast<std::byte*>(std::aligned_alloc(kPiece, size_bytes)), &std::free),
        size_bytes_(size_bytes) {}
  Block(uint64_t seed, size_t size_bytes) : Block(size_bytes) {
    Prng random(seed);
    for (std::byte& byte : mutable_view()) byte = static_cast<std::byte>(random());
  }
  MutableBytes mutable_view() { return {bytes_.get(), size_bytes_}; }
  ByteView view() const { return {bytes_.get(), size_bytes_}; }

 private:
  std::unique_ptr<std::byte, void (*)(void*)> bytes_;
  size_t size_bytes_;
};

inline bool same(ByteView a, ByteView b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

inline bool all_zero(ByteView bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{0}; });
}

inline void PrintTo(const NamedMedium& medium, std::ostream* out) { *out << medium.name; }

// A medium of a kind, open; the test is skipped where the system has none.
class EveryMedium : public testing::TestWithParam<NamedMedium> {
 protected:
  void SetUp() override {
    std::string spec = GetParam().spec;
    if (const size_t at = spec.find("PATH"); at != spec.npos) {
      spec.replace(at, 4, directory_.file("blocks"));
    }
    if (const size_t at = spec.find("DEVICE"); at != spec.npos) {
      device_ = std::make_unique<LoopDevice>(kMaxSizeBytes + (2 << 20));
      if (device_->path().empty()) GTEST_SKIP() << "no loop device here: " << device_->why();
      spec.replace(at, 6, device_->path());
    }
    auto opened =
        open_medium(spec, {.size_bytes = kSizeBytes, .max_size_bytes = kMaxSizeBytes}, clock_);
    if (GetParam().may_be_refused &&
        (is_permission_denied(opened.status()) || is_unimplemented(opened.status()))) {
      GTEST_SKIP() << opened.status().message();
    }
    ASSERT_TRUE(opened.ok()) << opened.status();
    medium_ = *std::move(opened);
    if (GetParam().failing) medium_ = std::make_unique<FailingMedium>(std::move(medium_));
  }

  Block read_piece(uint64_t offset) {
    Block into;
    EXPECT_EQ(medium_->read(offset, into.mutable_view()), ok_status());
    return into;
  }

  TempDir directory_{TempDir::on_disk()};
  std::unique_ptr<LoopDevice> device_;
  VirtualClock clock_;
  std::unique_ptr<Medium> medium_;
};

// Every example of every row of the table of media, and a decorator that never fails.
inline std::vector<NamedMedium> all_media() {
  std::vector<NamedMedium> media = {{.name = "failing_never", .spec = "dram", .failing = true}};
  for (const MediumRow& row : kMedia) {
    for (const std::string_view example : row.examples) {
      NamedMedium medium{.name = std::string(example), .spec = std::string(example)};
      std::replace_if(
          medium.name.begin(), medium.name.end(),
          [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
      for (const MediumRow& part : kMedia) {
        medium.may_be_refused |= part.may_be_refused && example.find(part.prefix) != example.npos;
      }
      media.push_back(std::move(medium));
    }
  }
  return media;
}

// Those that read side by side. A file does where it is not mapped.
inline std::vector<NamedMedium> media_with_read_queues() {
  std::vector<NamedMedium> media = all_media();
  std::erase_if(media, [](const NamedMedium& medium) {
    const auto names = [&](std::string_view part) {
      return medium.spec.find(part) != std::string::npos;
    };
    const bool by_copy = names("io=direct") || names("nvme:") || names("flash") || names("on=file");
    return medium.failing || !by_copy || names("async=off");
  });
  return media;
}

}  // namespace nvcache::test
