// The C API, function by function; examples/c_quickstart.c uses it from C.
#include <cstring>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nvcache/nvcache.h"

namespace {

class CApi : public testing::Test {
 protected:
  void SetUp() override {
    char* error = nullptr;
    ASSERT_EQ(nvcache_open("nvcache://?size=1MiB&max_size=2MiB&admission=always&eviction=clock",
                           &cache_, &error),
              NVCACHE_OK)
        << error;
    ASSERT_EQ(error, nullptr);
  }
  void TearDown() override { nvcache_close(cache_); }

  int put(nvcache_key_t key, char fill, size_t size_bytes = 4096) {
    const std::string block(size_bytes, fill);
    return nvcache_put(cache_, key, block.data(), block.size(), NVCACHE_READ);
  }

  nvcache_t* cache_ = nullptr;
};

TEST_F(CApi, PinsWhatWasPut) {
  EXPECT_EQ(put({1, 2}, 'a'), 0);
  nvcache_pin_t pin;
  ASSERT_EQ(nvcache_get(cache_, {1, 2}, &pin), 1);
  EXPECT_EQ(pin.size_bytes, 4096u);
  EXPECT_EQ(std::memcmp(pin.data, std::string(4096, 'a').data(), 4096), 0);
  nvcache_unpin(&pin);
  nvcache_unpin(&pin);  // harmless once released
  EXPECT_EQ(nvcache_get(cache_, {1, 3}, &pin), 0);
  nvcache_unpin(&pin);  // and after a miss
}

TEST_F(CApi, CopiesIntoABufferThatIsLargeEnough) {
  put({1, 2}, 'b', 100);
  std::vector<char> buffer(100);
  EXPECT_EQ(nvcache_get_copy(cache_, {1, 2}, buffer.data(), 99), 0u);
  EXPECT_EQ(nvcache_get_copy(cache_, {1, 2}, buffer.data(), 100), 100u);
  EXPECT_EQ(std::string(buffer.begin(), buffer.end()), std::string(100, 'b'));
  EXPECT_EQ(nvcache_get_copy(cache_, {9, 9}, buffer.data(), 100), 0u);
}

TEST_F(CApi, RefusalsHaveNames) {
  EXPECT_STREQ(nvcache_reason_name(0), "admitted");
  EXPECT_STREQ(nvcache_reason_name(put({1, 1}, 'x', 0)), "bad_size");
  EXPECT_STREQ(nvcache_reason_name(nvcache_put(cache_, {1, 1}, nullptr, 10, NVCACHE_READ)),
               "bad_size");
  EXPECT_EQ(put({1, 1}, 'x'), 0);
  EXPECT_STREQ(nvcache_reason_name(put({1, 1}, 'x')), "duplicate");
  EXPECT_STREQ(nvcache_reason_name(-1), "unknown");
  EXPECT_STREQ(nvcache_reason_name(1000), "unknown");
}

TEST_F(CApi, APutAfterAMissIsRefusedOnceTheKeyWasErased) {
  nvcache_pin_t miss;
  ASSERT_EQ(nvcache_get(cache_, {1, 1}, &miss), 0);
  EXPECT_EQ(nvcache_erase(cache_, {1, 1}), 0);
  EXPECT_STREQ(
      nvcache_reason_name(nvcache_put_after_miss(cache_, {1, 1}, "old", 3, NVCACHE_READ, &miss)),
      "stale_token");
  ASSERT_EQ(nvcache_get(cache_, {1, 1}, &miss), 0);
  EXPECT_EQ(nvcache_put_after_miss(cache_, {1, 1}, "new", 3, NVCACHE_READ, &miss), 0);
  EXPECT_EQ(nvcache_erase(cache_, {1, 1}), 1);
}

TEST_F(CApi, ErasesFilesAndResizes) {
  for (uint64_t i = 0; i < 10; ++i) put({i % 2, i}, 'f');
  const uint64_t file = 1;
  uint64_t erased = 0;
  EXPECT_EQ(nvcache_erase_blocks(cache_, nullptr, 0, &file, 1, NVCACHE_FOR_GOOD, &erased),
            NVCACHE_OK);
  EXPECT_EQ(erased, 5u);
  EXPECT_EQ(nvcache_resize(cache_, 512 << 10), NVCACHE_OK);
  EXPECT_EQ(nvcache_resize(cache_, 2 << 20), NVCACHE_OK);
  EXPECT_EQ(nvcache_resize(cache_, 3 << 20), NVCACHE_INVALID_ARGUMENT) << "beyond max_size";
}

TEST_F(CApi, TellsItsStatistics) {
  put({1, 1}, 's');
  nvcache_set_dataset_size(cache_, 12345);
  nvcache_note_storage_read(cache_, 100'000);
  nvcache_drain(cache_);
  char* json = nvcache_stats_json(cache_);
  char* prometheus = nvcache_stats_prometheus(cache_);
  EXPECT_THAT(json, testing::HasSubstr("\"dataset_size_bytes\": 12345"));
  EXPECT_THAT(prometheus, testing::HasSubstr("nvcache_inserts_total 1\n"));
  nvcache_free(json);
  nvcache_free(prometheus);
  nvcache_free(nullptr);
}

TEST(CApiOpen, SaysWhatIsWrong) {
  nvcache_t* cache = nullptr;
  char* error = nullptr;
  EXPECT_EQ(nvcache_open("nvcache://?size=1MiB&colour=red", &cache, &error),
            NVCACHE_INVALID_ARGUMENT);
  EXPECT_EQ(cache, nullptr);
  EXPECT_THAT(error, testing::HasSubstr("colour"));
  nvcache_free(error);
  EXPECT_EQ(nvcache_open(nullptr, &cache, nullptr), NVCACHE_INVALID_ARGUMENT);
  EXPECT_NE(nvcache_open("nvcache://?size=1MiB&medium=file:/no/such/folder/x", &cache, nullptr),
            NVCACHE_OK);
  nvcache_close(nullptr);
}

}  // namespace
