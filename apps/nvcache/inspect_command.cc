#include "apps/nvcache/inspect_command.h"

#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "apps/command/interrupt.h"
#include "apps/command/on_command.h"
#include "apps/command/output_file.h"
#include "apps/command/progress.h"
#include "apps/nvcache/inspect_report.h"
#include "base/clock.h"
#include "base/print.h"
#include "base/text.h"
#include "block_cache/region/inspect.h"
#include "kv_store/format/layout.h"
#include "medium/read_only_medium.h"
#include "nlohmann/json.hpp"

namespace nvcache {
namespace {

constexpr const char* kFooter = R"(Examples:
  nvcache inspect /mnt/nvme/cache
  nvcache inspect file:/mnt/nvme/cache,io=direct --blocks --json cache.json
  nvcache inspect /mnt/nvme/cache --regions --files 100
  nvcache inspect nvme:/dev/nvme1n1 --json - | jq .live

Shows what a cache with space=regions left on its file or device: superblock, regions, blocks by
engine and file, damage. Reads only, and takes no lock: it may run beside the cache that has the
medium open; what that writes at the same time shows as free. A key of RocksDB tells files apart by
a hash; the name of the file and the offset are not known. Without --blocks the indexes alone are
read, 32 bytes a block.
Exit codes: 0 whole, 1 damaged, or not the medium of such a cache, 2 wrong command line,
130 interrupted.)";

struct Arguments {
  std::string medium;
  std::string json_path;
  bool blocks = false;
  bool regions = false;
  uint32_t files = 10;
};

// A hint where the medium is another one of ours.
std::string_view other_kind(const ReadOnlyMedium& medium) {
  uint64_t magic = 0;
  std::byte bytes[sizeof magic];
  if (!medium.read(0, bytes).ok()) return "; it is too short for one";
  std::memcpy(&magic, bytes, sizeof magic);
  if (magic == kKvMagic || magic == kKvFormattingMagic) {
    return "; it holds a key-value store: nvcached serves it, with --medium file:PATH";
  }
  return "; a cache with space=in_place keeps nothing that could be read";
}

Status explain(const ReadOnlyMedium& medium, const Status& status) {
  if (is_cancelled(status)) return status;
  return Status(status.code(), fmt::format("{}: {}{}", medium.path(), status.message(),
                                           is_not_found(status) ? other_kind(medium) : ""));
}

StatusOr<Inspection> inspect(const ReadOnlyMedium& medium, bool blocks) {
  Progress progress(system_clock());
  const auto tell = [&progress](std::string_view step, uint64_t done, uint64_t of) {
    progress.update(static_cast<double>(done) / static_cast<double>(of),
                    fmt::format("inspect: {} {} of {}", step, done + 1, of));
    return check_not_interrupted();
  };
  return inspect_regions(
      [&medium](uint64_t offset, MutableBytes into) { return medium.read(offset, into); },
      medium.size_bytes(), {.read_blocks = blocks, .progress = tell});
}

Status run(const Arguments& arguments) {
  const bool to_stdout = arguments.json_path == "-";
  if (!to_stdout) {
    if (Status status = check_writable("--json", arguments.json_path); !status.ok()) {
      return status;
    }
  }
  const auto medium = ReadOnlyMedium::open(arguments.medium);
  if (!medium.ok()) return medium.status();
  InspectedMedium inspected{.path = (*medium)->path(), .users = (*medium)->users(), .found = {}};
  StatusOr<Inspection> found = inspect(**medium, arguments.blocks);
  if (!found.ok()) return explain(**medium, found.status());
  inspected.found = *std::move(found);
  if (to_stdout) {
    print_to(stdout, "{}\n", inspection_json(inspected).dump(2));
  } else {
    print_to(stdout, "{}", inspection_text(inspected, arguments.files, arguments.regions));
  }
  if (!to_stdout && !arguments.json_path.empty()) {
    const std::string text = inspection_json(inspected).dump(2) + "\n";
    if (Status status = write_file_whole(arguments.json_path, text); !status.ok()) {
      return status;
    }
  }
  if (inspected.found.is_whole()) return ok_status();
  return data_loss_error(
      fmt::format("{}: damaged: {}", inspected.path, damage_text(inspected.found)));
}

}  // namespace

void add_inspect_command(CLI::App& app) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand(
      "inspect", "Show what a cache in regions left on a file or a device; reads only");
  command->footer(kFooter);
  command
      ->add_option("medium", arguments->medium,
                   "The cache's file or block device: a path, file:PATH or nvme:DEVICE")
      ->required()
      ->type_name("FILE");
  command->add_flag("--blocks", arguments->blocks,
                    "Read every block, too, and compare its checksum");
  command->add_flag("--regions", arguments->regions, "A line for each region that holds something");
  command->add_option("--files", arguments->files, "How many of the largest files to list")
      ->capture_default_str();
  command
      ->add_option("--json", arguments->json_path,
                   "Also write all of it to this file; '-': to standard output, and no table")
      ->type_name("FILE");
  on_command(*command, "nvcache inspect", [arguments] { return run(*arguments); });
}

}  // namespace nvcache
