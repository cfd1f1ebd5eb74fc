// Whose the file of a store is, and whether it is still where it was.
#include <filesystem>
#include <fstream>
#include <string>

#include "gmock/gmock.h"
#include "kv_store/kv_fixture.h"
#include "nvcache/kv_store.h"
#include "support/temp_dir.h"

namespace nvcache {
namespace {

using test::get_text;
using test::put_text;
using ::testing::HasSubstr;

class KvFile : public ::testing::Test {
 protected:
  std::string spec() const { return "nvkv://?size=1MiB&zone=64KiB&medium=file:" + path_; }
  std::unique_ptr<KvStore> open() {
    auto store = open_kv_store(spec());
    EXPECT_TRUE(store.ok()) << store.status();
    return store.ok() ? *std::move(store) : nullptr;
  }
  void fill() { put_text(*open(), "key", "value"); }

  TempDir dir_;
  const std::string path_ = dir_.file("kv");
};

TEST_F(KvFile, RefusesAFileThatAllUsersMayWrite) {
  fill();
  std::filesystem::permissions(path_, std::filesystem::perms(0666));
  const auto refused = open_kv_store(spec());
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.status().code(), StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(refused.status().message()), HasSubstr("mode 666 lets every user write"));
  EXPECT_EQ(std::filesystem::status(path_).permissions(), std::filesystem::perms(0666));
  std::filesystem::permissions(path_, std::filesystem::perms(0600));
  EXPECT_TRUE(open_kv_store(spec()).ok());
  // Nothing in it is believed yet.
  std::ofstream(path_, std::ios::trunc).close();
  std::filesystem::permissions(path_, std::filesystem::perms(0666));
  EXPECT_TRUE(open_kv_store(spec()).ok());
}

TEST_F(KvFile, SeesThatItsFileIsNotAtItsPath) {
  fill();
  const auto store = open();
  EXPECT_EQ(store->stats().file, path_);
  EXPECT_FALSE(store->stats().file_lost);
  const std::string elsewhere = dir_.file("elsewhere");
  std::filesystem::rename(path_, elsewhere);
  EXPECT_TRUE(store->stats().file_lost);
  std::ofstream(path_) << "another";
  EXPECT_TRUE(store->stats().file_lost);
  std::filesystem::rename(elsewhere, path_);
  EXPECT_FALSE(store->stats().file_lost);
  std::filesystem::create_hard_link(path_, elsewhere);
  std::filesystem::remove(path_);
  std::filesystem::create_symlink(elsewhere, path_);
  EXPECT_TRUE(store->stats().file_lost) << "a start would refuse the link";
  std::filesystem::remove(path_);
  std::filesystem::remove(elsewhere);
  EXPECT_TRUE(store->stats().file_lost);
  put_text(*store, "still", "served");
  EXPECT_EQ(get_text(*store, "still"), "served");
  EXPECT_THAT(store->stats().to_prometheus(), HasSubstr("nvcache_kv_file_lost 1"));
}

TEST_F(KvFile, KnowsItsFileByARelativePathWhereverTheProcessGoes) {
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(dir_.path());
  const auto store = open_kv_store("nvkv://?size=1MiB&zone=64KiB&medium=file:here");
  std::filesystem::current_path("/");
  const bool lost = store.ok() && (*store)->stats().file_lost;
  std::filesystem::remove(dir_.file("here"));
  const bool lost_then = store.ok() && (*store)->stats().file_lost;
  std::filesystem::current_path(before);
  ASSERT_TRUE(store.ok()) << store.status();
  EXPECT_FALSE(lost);
  EXPECT_TRUE(lost_then);
}

}  // namespace
}  // namespace nvcache
