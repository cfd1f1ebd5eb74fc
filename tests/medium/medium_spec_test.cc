// The grammar of medium specifications: what is accepted, and what a mistake is told.
#include <filesystem>
#include <string>
#include <vector>

#include "base/text.h"
#include "base/virtual_clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "medium/medium.h"
#include "medium/table.h"
#include "support/temp_dir.h"

namespace nvcache {
namespace {

using testing::HasSubstr;

class MediumSpec : public testing::Test {
 protected:
  StatusOr<std::unique_ptr<Medium>> open(const std::string& spec) {
    return open_medium(spec, {.size_bytes = 1 << 20}, clock_);
  }
  std::string name_of(const std::string& spec) {
    const auto medium = open(spec);
    return medium.ok() ? (*medium)->traits().name : medium.status().to_string();
  }

  TempDir directory_;
  VirtualClock clock_;
};

TEST_F(MediumSpec, OpensWhatItNames) {
  const std::string file = "file:" + directory_.file("blocks");
  EXPECT_EQ(name_of("dram"), "dram");
  EXPECT_EQ(name_of(file), "file");
  EXPECT_EQ(name_of(file + ",io=mmap"), "file");
  EXPECT_EQ(name_of(file + ",io=direct"), "file");
  EXPECT_EQ(name_of(file + ",io=direct,async=off"), "file");
  EXPECT_EQ(name_of(file + ",async=threads,io=direct"), "file");
  EXPECT_EQ(name_of("file:" + directory_.path()), "file");
  EXPECT_EQ(name_of("emulated:cxl,load=4,on=dram"), "emulated:cxl,load=4");
  for (const std::string profile : {"optane", "dram", "cxl", "flash"}) {
    EXPECT_EQ(name_of("modelled:" + profile), "emulated:" + profile);  // the alias
    EXPECT_EQ(name_of("emulated:" + profile), "emulated:" + profile);
    EXPECT_EQ(name_of("emulated:" + profile + ",on=dram"), "emulated:" + profile);
    EXPECT_EQ(name_of("emulated:" + profile + ",on=" + file + ",io=direct"), "emulated:" + profile);
  }
}

TEST_F(MediumSpec, EverythingBehindOnBelongsToTheInnerMedium) {
  const std::string inner = "file:" + directory_.file("blocks") + ",io=direct";
  const auto medium = open("emulated:optane,on=" + inner);
  ASSERT_TRUE(medium.ok()) << medium.status();
  EXPECT_TRUE((*medium)->traits().is_device) << "io=direct reached the file";
  EXPECT_GT((*medium)->traits().io_granularity_bytes, 1u);
  EXPECT_TRUE(std::filesystem::exists(directory_.file("blocks")));
}

TEST(MediumPlace, IsTheFileOrDeviceWhateverComesBehind) {
  EXPECT_EQ(place_of_medium("dram"), "");
  EXPECT_EQ(place_of_medium("numa:0"), "");
  EXPECT_EQ(place_of_medium("file:/x/y"), "/x/y");
  EXPECT_EQ(place_of_medium("file:/x/y,io=direct"), "/x/y");
  EXPECT_EQ(place_of_medium("nvme:/dev/z,format=yes"), "/dev/z");
  EXPECT_EQ(place_of_medium("emulated:optane"), "");
  EXPECT_EQ(place_of_medium("emulated:optane,load=4,on=dram"), "");
  EXPECT_EQ(place_of_medium("modelled:flash,on=file:/x/y,io=direct"), "/x/y");
}

struct Mistake {
  std::string spec;
  std::string problem;
  std::string allowed;
};

void PrintTo(const Mistake& mistake, std::ostream* out) { *out << '\'' << mistake.spec << '\''; }

class MediumMistake : public MediumSpec, public testing::WithParamInterface<Mistake> {};

TEST_P(MediumMistake, IsNamedTogetherWithWhatIsAllowed) {
  const auto medium = open(GetParam().spec);
  ASSERT_FALSE(medium.ok());
  EXPECT_TRUE(is_invalid_argument(medium.status())) << medium.status();
  const std::string message(medium.status().message());
  EXPECT_THAT(message, HasSubstr(GetParam().problem));
  EXPECT_THAT(message, HasSubstr("allowed: "));
  EXPECT_THAT(message.substr(message.find("allowed: ")), HasSubstr(GetParam().allowed));
}

INSTANTIATE_TEST_SUITE_P(
    Specs, MediumMistake,
    testing::Values(
        Mistake{"", "medium '': empty", "dram, file:PATH"},
        Mistake{"pmem", "medium 'pmem': unknown", "optane, dram, cxl, flash"},
        Mistake{"DRAM", "medium 'DRAM': unknown", "dram"},
        Mistake{" dram", "medium ' dram': unknown", "dram"},
        Mistake{"dram:", "dram takes no options", "dram"},
        Mistake{"dram,io=mmap", "dram takes no options", "dram"},
        Mistake{"file", "medium 'file': unknown", "file:PATH"},
        Mistake{"file:", "no path given", "file:PATH[,io=mmap|direct]"},
        Mistake{"file:,io=direct", "no path given", "file:PATH[,io=mmap|direct]"},
        Mistake{"file:/x,", "option '' is unknown", "io=mmap, io=direct"},
        Mistake{"file:/x,io=", "option 'io=' is unknown", "io=mmap, io=direct"},
        Mistake{"file:/x,io=aio", "option 'io=aio' is unknown", "io=mmap, io=direct"},
        Mistake{"file:/x,direct", "option 'direct' is unknown", "io=mmap, io=direct"},
        Mistake{"file:/a,b", "option 'b' is unknown", "cannot contain a comma"},
        Mistake{"file:/x,io=mmap,io=mmap", "option 'io' is given twice", "io once"},
        Mistake{"file:/x,io=direct,async=aio", "option 'async=aio' is unknown", "async=threads"},
        Mistake{"file:/x,io=direct,", "option '' is unknown", "async=off"},
        Mistake{"file:/x,async=ring", "async= is for reads of a device", "io=direct,async="},
        Mistake{"nvme:/x,format=yes,format=yes", "option 'format' is given twice", "format once"},
        Mistake{"emulated", "medium 'emulated': unknown", "emulated:PROFILE"},
        Mistake{"emulated:", "profile '' is unknown", "optane, dram, cxl, flash"},
        Mistake{"emulated:tape", "profile 'tape' is unknown", "optane, dram, cxl, flash"},
        Mistake{"emulated:,on=dram", "profile '' is unknown", "optane"},
        Mistake{"emulated:optane,", "option '' is unknown", "on=dram"},
        Mistake{"emulated:optane,load=", "load: '' given", "a number from 1 to 1000"},
        Mistake{"emulated:optane,load=0.5", "load: '0.5' given", "a number from 1 to 1000"},
        Mistake{"emulated:optane,load=2,", "option '' is unknown", "on=dram"},
        Mistake{"emulated:optane,on=dram,load=2", "dram takes no options", "dram"},
        Mistake{"emulated:optane,off=dram", "option 'off=dram' is unknown", "on=dram"},
        Mistake{"emulated:optane,on=", "medium '': empty", "dram"},
        Mistake{"emulated:optane,on=disk", "medium 'disk': unknown", "dram"},
        Mistake{"emulated:optane,on=file:", "no path given", "file:PATH"},
        Mistake{"emulated:optane,on=emulated:cxl", "cannot lie on another", "on=dram"},
        Mistake{"emulated:optane,on=modelled:cxl", "cannot lie on another", "on=dram"}));

TEST_F(MediumSpec, ASizeOfZeroIsRefused) {
  for (const std::string spec : {"dram", "emulated:cxl"}) {
    const auto medium = open_medium(spec, {}, clock_);
    EXPECT_TRUE(is_invalid_argument(medium.status())) << spec;
    EXPECT_THAT(std::string(medium.status().message()), HasSubstr("size is 0"));
  }
}

TEST_F(MediumSpec, AddressSpaceThatIsNotThereIsResourceExhausted) {
  const auto medium = open_medium("dram", {.size_bytes = uint64_t{1} << 60}, clock_);
  EXPECT_TRUE(is_resource_exhausted(medium.status())) << medium.status();
}

}  // namespace
}  // namespace nvcache
