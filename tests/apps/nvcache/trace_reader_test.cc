// Traces of every format, packed and not, and what is said of files that are none or end too early.
#include "apps/trace/trace_reader.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "support/temp_dir.h"

namespace nvcache {
namespace {

using KeyList = std::vector<uint64_t>;

// A trace as far as it can be read.
struct WholeTrace {
  KeyList keys;
  std::vector<uint32_t> sizes;
  std::string cut_short;
  Decoder::Skipped skipped;
};

StatusOr<WholeTrace> read_whole(const std::string& path, const TraceOptions& options = {}) {
  const auto trace = TraceReader::open(path, options);
  if (!trace.ok()) return trace.status();
  WholeTrace whole;
  std::vector<Access> accesses;
  for (bool more = true; more;) {
    accesses.clear();
    const auto read = (*trace)->read(&accesses);
    if (!read.ok()) return read.status();
    more = *read;
    for (const Access& access : accesses) {
      whole.keys.push_back(access.key);
      whole.sizes.push_back(access.size_bytes);
    }
  }
  whole.cut_short = (*trace)->cut_short();
  whole.skipped = (*trace)->skipped();
  return whole;
}

class TraceReaderTest : public ::testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& bytes) {
    const std::string path = dir_.file(name);
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }
  // The keys of a trace that is whole.
  KeyList keys_of(const std::string& name, const std::string& bytes,
                  const TraceOptions& options = {}) {
    const auto trace = read_whole(write(name, bytes), options);
    EXPECT_TRUE(trace.ok()) << trace.status();
    if (!trace.ok()) return {};
    EXPECT_EQ(trace->cut_short, "") << name;
    return trace->keys;
  }
  std::vector<uint32_t> sizes_of(const std::string& name, const std::string& bytes,
                                 const TraceOptions& options = {}) {
    const auto trace = read_whole(write(name, bytes), options);
    EXPECT_TRUE(trace.ok()) << trace.status();
    return trace.ok() ? trace->sizes : std::vector<uint32_t>{};
  }
  // The message about bytes that are no trace.
  std::string problem_of(const std::string& name, const std::string& bytes) {
    return std::string(read_whole(write(name, bytes)).status().message());
  }

  TempDir dir_;
};

std::string oracle_general(const KeyList& keys) {
  std::string bytes;
  for (const uint64_t key : keys) {
    char record[24] = {};
    std::memcpy(record + 4, &key, sizeof key);
    bytes.append(record, sizeof record);
  }
  return bytes;
}

TEST_F(TraceReaderTest, ReadsEachFormat) {
  EXPECT_EQ(keys_of("a.lis", "7 1 0 0\n100 3 0 1\n"), (KeyList{7, 100, 101, 102}));
  EXPECT_EQ(keys_of("a.txt", "5\n18446744073709551615\r\n\n6"), (KeyList{5, ~uint64_t{0}, 6}));
  EXPECT_EQ(keys_of("a.trace", std::string("\0\0\1\2\xff\0\0\1", 8)), (KeyList{258, 0xff000001}));
  EXPECT_EQ(keys_of("a.u32", std::string("\2\1\0\0\1\0\0\xff", 8)), (KeyList{258, 0xff000001}));
  EXPECT_EQ(keys_of("a.u64", std::string("\2\1\0\0\0\0\0\1", 8)), KeyList{(1ull << 56) + 258});
  EXPECT_EQ(keys_of("a.oracleGeneral", oracle_general({1, ~uint64_t{0}, 3})),
            (KeyList{1, ~uint64_t{0}, 3}));
  EXPECT_EQ(keys_of("a.oracleGeneral.bin", oracle_general({4})), KeyList{4});
  EXPECT_EQ(keys_of("any.name", "5\n", {.format = "text", .columns = ""}), KeyList{5});
  for (const char* name : {"e.lis", "e.txt", "e.csv", "e.trace", "e.oracleGeneral"}) {
    EXPECT_EQ(keys_of(name, ""), KeyList{}) << name;
  }
}

TEST_F(TraceReaderTest, MakesKeysOfTexts) {
  const KeyList keys = keys_of("a.txt", "/a/b\n12\n/a/c\n/a/b\n12 \n");
  ASSERT_EQ(keys.size(), 5u);
  EXPECT_EQ(keys[0], keys[3]);
  EXPECT_NE(keys[0], keys[2]);
  EXPECT_EQ(keys[1], 12u);
  EXPECT_NE(keys[4], 12u);
}

// From sector 8, 4 KiB: a block; 512 bytes in the middle of one; 8 KiB across three.
TEST_F(TraceReaderTest, ReadsTheSectorsOfCloudPhysics) {
  EXPECT_EQ(keys_of("a.csv",
                    "version,time,op,size,lbn\n1,0,28,4096,8\n1,1,2a,512,19\n"
                    "1,2,28,8192,28\n"),
            (KeyList{1, 2, 3, 4, 5}));
}

TEST_F(TraceReaderTest, FindsTheColumnsOfCsv) {
  EXPECT_EQ(keys_of("a.csv", "time, obj_id, obj_size\n1, 7, 300\n"), KeyList{7});
  EXPECT_EQ(sizes_of("a.csv", "time, obj_id, obj_size\n1, 7, 300\n"), std::vector<uint32_t>{300});
  EXPECT_EQ(keys_of("a.csv", "key\n7\n8\n"), (KeyList{7, 8}));
  EXPECT_EQ(keys_of("a.csv", "1,7,300\n2,8,400\n", {.format = "", .columns = "2,3"}),
            (KeyList{7, 8}));
  EXPECT_EQ(sizes_of("a.csv", "1,7,300\n2,8,400\n", {.format = "", .columns = "2,3"}),
            (std::vector<uint32_t>{300, 400}));
  EXPECT_EQ(keys_of("a.csv", "when,what\n2,8\n", {.format = "", .columns = "2"}), KeyList{8});
  EXPECT_EQ(keys_of("a.csv", "when,what\n2,8\n", {.format = "", .columns = "what"}), KeyList{8});
  const auto problem = [&](const std::string& text, const char* columns) {
    const auto trace = read_whole(write("bad.csv", text), {.format = "", .columns = columns});
    return std::string(trace.status().message());
  };
  for (const auto& [text, columns, named] :
       std::vector<std::tuple<std::string, const char*, std::string>>{
           {"a,b\n1,2\n", "", "line 1: no access: a,b; format csv: a heading"},
           {"a,b\n1,2\n", "c", "line 1"},
           {"a,b\n1,2\n", "a,c", "line 1"},
           {"id,size\n1,x\n", "", "line 2"},
           {"id,size\n1\n", "", "line 2"},
           {"1,2\n", "7", "line 1"},
           {"1,2\n", "0", "allowed: KEY or KEY,SIZE"},
           {"1,2\n", "1,", "allowed: KEY or KEY,SIZE"}}) {
    EXPECT_NE(problem(text, columns).find(named), std::string::npos) << problem(text, columns);
  }
}

TEST_F(TraceReaderTest, LeavesOddLinesOutAndCountsThem) {
  const std::tuple<const char*, std::string, KeyList, std::string> cases[] = {
      {"odd.csv", "id,size\n1,2\nodd\n3,four\n5,6\n", {1, 5}, "line 3: no access: odd"},
      {"odd.lis", "1 1 0 0\n# a comment\n2 1 0 0\n", {1, 2}, "line 2: no access: # a comment"},
      {"long.csv", "id\n1\n" + std::string(200'000, 'x') + "\n2\n", {1, 2}, "line 3"},
      {"only just.lis", "1 1 0 0\n" + std::string(65'537, '1') + "\n2 1 0 0\n", {1, 2}, "line 2"},
  };
  for (const auto& [name, bytes, keys, first] : cases) {
    const auto trace = read_whole(write(name, bytes));
    ASSERT_TRUE(trace.ok()) << trace.status();
    EXPECT_EQ(trace->keys, keys) << name;
    EXPECT_EQ(trace->skipped.lines, name == std::string("odd.csv") ? 2u : 1u);
    EXPECT_TRUE(trace->skipped.first.starts_with(first)) << trace->skipped.first;
  }
  // One that is something else is no trace, and not read to its end.
  std::string text = "1 1 0 0\n";
  for (int i = 0; i < 1000; ++i) text += "none\n";
  EXPECT_NE(problem_of("other.lis", text).find("line 2: no access: none, and so are 101 of 102"),
            std::string::npos)
      << problem_of("other.lis", text);
}

TEST_F(TraceReaderTest, TakesLargeSizesQuotesAndAByteOrderMarkInCsv) {
  EXPECT_EQ(sizes_of("a.csv", "id,size\n1,4294967295\n2,4294967296\n3,99999999999\n"),
            (std::vector<uint32_t>{UINT32_MAX, UINT32_MAX, UINT32_MAX}));
  EXPECT_EQ(keys_of("a.csv", "\xef\xbb\xbfid,size\n1,2\n"), KeyList{1});
  EXPECT_EQ(keys_of("a.txt",
                    "\xef\xbb\xbf"
                    "7\n8\n"),
            (KeyList{7, 8}));
  EXPECT_EQ(keys_of("a.csv", "\"time\",\"id\",\"size\"\n\"1, and more\",\"7\",\"300\"\n"),
            KeyList{7});
  EXPECT_EQ(sizes_of("a.csv", "\"time\",\"id\",\"size\"\n\"1, and more\", \"7\" ,\"300\"\n"),
            std::vector<uint32_t>{300});
  const KeyList keys =
      keys_of("a.csv", "id,n\n\"a \"\"b\"\", c\",1\n\"a \"\"b\"\", d\",2\nit\"s,3\n");
  ASSERT_EQ(keys.size(), 3u);
  EXPECT_NE(keys[0], keys[1]);
}

TEST_F(TraceReaderTest, TellsTheSizeOfEachBlock) {
  EXPECT_EQ(sizes_of("a.lis", "7 2 0 0\n"), (std::vector<uint32_t>{512, 512}));
  EXPECT_EQ(sizes_of("a.txt", "5\n"), std::vector<uint32_t>{4096});
  EXPECT_EQ(sizes_of("a.trace", std::string(4, '\1')), std::vector<uint32_t>{4096});
  std::string record(24, '\0');
  record[13] = 3;
  EXPECT_EQ(sizes_of("a.oracleGeneral", record), std::vector<uint32_t>{768});
}

template <typename Number>
void append(std::string* bytes, Number value) {
  bytes->append(reinterpret_cast<const char*>(&value), sizeof value);
}

std::string rocksdb_frame(char type, const std::string& payload) {
  std::string bytes;
  append(&bytes, uint64_t{1'700'000'000});
  bytes += type;
  append(&bytes, static_cast<uint32_t>(payload.size()));
  return bytes + payload;
}

std::string rocksdb_begin() {
  std::string payload =
      "\x10"
      "feedcafedeadbeef";
  append(&payload, uint32_t{7});
  append(&payload, uint32_t{8});
  return rocksdb_frame(1, payload);
}

std::string rocksdb_access(const std::string& key, uint64_t size_bytes, bool no_insert = false) {
  std::string payload(1, static_cast<char>(key.size()));
  payload += key;
  append(&payload, size_bytes);
  append(&payload, uint64_t{0});
  payload +=
      "\x07"
      "default";
  append(&payload, uint32_t{2});
  append(&payload, uint64_t{40});
  payload += std::string{1, 0, static_cast<char>(no_insert)};
  append(&payload, uint64_t{1});  // the read, whether from a snapshot, its key, sizes
  payload += std::string(1, '\0') +
             "\x03"
             "abc" +
             std::string(17, '\1');
  return rocksdb_frame(9, payload);
}

TEST_F(TraceReaderTest, ReadsWhatRocksdbTraces) {
  const std::string a(16, 'a');
  const std::string b(16, 'b');
  std::string bytes = rocksdb_begin();
  for (int i = 0; i < 2000; ++i) {
    bytes += rocksdb_access(a, 4192) + rocksdb_access(b, 100) + rocksdb_access(b, 100, true);
  }
  const KeyList keys = keys_of("a.rocksdb", bytes);
  ASSERT_EQ(keys.size(), 4000u);  // without those that insert nothing
  EXPECT_NE(keys[0], keys[1]);
  EXPECT_EQ(keys[0], keys[3998]);
  const std::vector<uint32_t> sizes = sizes_of("a.rocksdb", bytes);
  EXPECT_EQ(sizes[0], 4192u);
  EXPECT_EQ(sizes[1], 100u);
  EXPECT_EQ(keys_of("b.rocksdb", rocksdb_begin()), KeyList{});
  EXPECT_EQ(keys_of("e.rocksdb", ""), KeyList{});
}

TEST_F(TraceReaderTest, NamesTheByteWhereARocksdbTraceIsNone) {
  const std::string begin = rocksdb_begin();
  const std::string access = rocksdb_access(std::string(16, 'a'), 4192);
  const std::pair<std::string, const char*> cases[] = {
      {access, "byte 0: no block cache trace"},
      {begin + rocksdb_frame(9, "\x10short"), "byte 38: no access"},
      {begin + rocksdb_frame(13, access.substr(13)), "byte 38: no access"},
      {begin + rocksdb_access("a", uint64_t{1} << 40), "byte 38: no access"},
      {begin + rocksdb_frame(9, std::string(2 << 20, 'x')), "byte 38: a frame longer"},
      {"plain text, which is no trace of anything", "byte 0: no block cache trace"},
  };
  for (const auto& [bytes, named] : cases) {
    EXPECT_NE(problem_of("bad.rocksdb", bytes).find(named), std::string::npos)
        << problem_of("bad.rocksdb", bytes) << ", not " << named;
  }
}

TEST_F(TraceReaderTest, AFileThatEndsTooEarlyIsReadAsFarAsItGoes) {
  const std::string begin = rocksdb_begin();
  const std::string access = rocksdb_access(std::string(16, 'a'), 4192);
  const std::tuple<const char*, std::string, size_t> cases[] = {
      {"cut.oracleGeneral", oracle_general({1, 2}).substr(0, 47), 1},
      {"cut.trace", std::string(7, '\1'), 1},
      {"cut.lis", "1 1 0 0\n7 ", 1},
      {"cut.csv", "id,size\n1,2\n3", 1},
      {"cut.rocksdb", begin + access + access.substr(0, access.size() - 1), 1},
  };
  for (const auto& [name, bytes, whole_accesses] : cases) {
    const auto trace = read_whole(write(name, bytes));
    ASSERT_TRUE(trace.ok()) << trace.status();
    EXPECT_EQ(trace->keys.size(), whole_accesses) << name;
    EXPECT_EQ(trace->cut_short,
              "byte " + std::to_string(bytes.size()) + ": it ends within an access");
  }
  // One without any access is no trace.
  EXPECT_NE(problem_of("none.trace", "123").find("byte 3: it ends within an access; format u32be"),
            std::string::npos);
}

TEST_F(TraceReaderTest, ReadsFilesOfManyBuffers) {
  KeyList expected;
  std::string text;
  for (uint64_t i = 0; i < 50'000; ++i) {
    expected.push_back(i * i);
    text += std::to_string(i * i) + "\n";
  }
  EXPECT_EQ(keys_of("long.txt", text), expected);
  EXPECT_EQ(keys_of("long.oracleGeneral", oracle_general(expected)), expected);
}

TEST_F(TraceReaderTest, GivesManyBlocksOfShortLinesAPartAtATime) {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += std::to_string(i) + " 60000 0 0\n";
  const auto trace = TraceReader::open(write("long.lis", text));
  ASSERT_TRUE(trace.ok()) << trace.status();
  uint64_t all = 0;
  std::vector<Access> accesses;
  for (bool more = true; more;) {
    accesses.clear();
    const auto read = (*trace)->read(&accesses);
    ASSERT_TRUE(read.ok()) << read.status();
    more = *read;
    EXPECT_LE(accesses.size(), 130'000u);
    all += accesses.size();
  }
  EXPECT_EQ(all, 60'000'000u);
}

TEST_F(TraceReaderTest, UnpacksByTheName) {
  const std::string path = write("with 'quote'.txt", "1\n2\n");
  ASSERT_EQ(std::system(("gzip -k \"" + path + "\" && xz -k \"" + path + "\"").c_str()), 0);
  for (const char* suffix : {".gz", ".xz"}) {
    const auto trace = read_whole(path + suffix);
    ASSERT_TRUE(trace.ok()) << trace.status();
    EXPECT_EQ(trace->keys, (KeyList{1, 2}));
    EXPECT_EQ(trace->cut_short, "");
  }
  const std::string problem = problem_of("bad.txt.gz", "no gzip");
  EXPECT_NE(problem.find("byte 0: it cannot be unpacked any further (gzip: "), std::string::npos)
      << problem;
}

TEST_F(TraceReaderTest, UnpacksZstandardWithALargeWindow) {
  if (std::system("zstd --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "no zstd";
  const std::string path = write("long.u64", std::string(8 << 20, '\1'));
  // A stream, whose size the file does not tell: it says the whole window.
  ASSERT_EQ(std::system(("zstd -q -1 --long=31 < '" + path + "' > '" + path + ".zst'").c_str()), 0);
  const auto trace = read_whole(path + ".zst");
  ASSERT_TRUE(trace.ok()) << trace.status();
  EXPECT_EQ(trace->cut_short, "");
  EXPECT_EQ(trace->keys.size(), (8u << 20) / sizeof(uint64_t));
}

TEST_F(TraceReaderTest, APackedFileThatIsCutShortIsReadAsFarAsItGoes) {
  std::string text;
  for (uint64_t i = 0; i < 100'000; ++i) text += std::to_string(i * 0x9e3779b97f4a7c15) + "\n";
  const std::string path = write("long.txt", text);
  ASSERT_EQ(std::system(("gzip -k " + path).c_str()), 0);
  std::filesystem::resize_file(path + ".gz", std::filesystem::file_size(path + ".gz") / 2);
  const auto trace = read_whole(path + ".gz");
  ASSERT_TRUE(trace.ok()) << trace.status();
  EXPECT_GT(trace->keys.size(), 10'000u);
  EXPECT_LT(trace->keys.size(), 90'000u);
  EXPECT_NE(trace->cut_short.find("it cannot be unpacked any further"), std::string::npos);
}

TEST_F(TraceReaderTest, NamesTheLineThatIsNoAccess) {
  const std::pair<const char*, const char*> cases[] = {
      {"\nx 1 0 1\n", "bad.lis: line 2: no access: x 1 0 1; format lis: the ARC paper's"},
      {"1 99999999 0 0\n", "line 1"},
      {"1\n", "line 1"},
      {"99999999999999999999 1\n", "line 1"},
  };
  for (const auto& [text, named] : cases) {
    const std::string problem = problem_of("bad.lis", text);
    EXPECT_NE(problem.find(named), std::string::npos) << problem;
  }
  EXPECT_NE(problem_of("bad.txt", std::string(200'000, '1')).find("line 1: no access: longer"),
            std::string::npos);
}

TEST_F(TraceReaderTest, SaysWhichNamesAreAllowed) {
  const auto unknown = TraceReader::open(write("a.log", ""));
  EXPECT_EQ(unknown.status().code(), StatusCode::kInvalidArgument);
  EXPECT_NE(unknown.status().message().find("allowed: --format (oracleGeneral, csv"),
            std::string::npos);
  EXPECT_EQ(TraceReader::open(dir_.file("none.lis")).status().code(), StatusCode::kNotFound);
  const TraceOptions best{.format = "best", .columns = ""};
  EXPECT_EQ(TraceReader::open(dir_.file("a.log"), best).status().code(),
            StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace nvcache
