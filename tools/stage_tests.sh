# Which tests a stage of test_stages.sh runs. Sourced, with `slow` set. The selection
# is words for ctest.
# shellcheck shell=bash

# Those of one thread that take long under tsan run in the other stages.
one_thread='MetadataBudget|/LargeBlocks|LargeObjects.OfAny|TableGrowth|KilledOpening|PresetAuto'
one_thread+='|RegionCrash|RegionDiscard.NoLoss'
# qemu-user cannot run these (docs/install.md has the reasons).
not_emulated='io_direct|DirectFileMedium|/[dD]irect|NoticesAFileCutShort|KeepsNoFile|DeathTest'
not_emulated+='|ForkedChildOfACache|AChildOfTheProcess|AddressSpaceThatIsRefused|AControlPasses'
not_emulated+='|TakesTheMemoryOfAPart|file_passes_for_dax'
# And these on a disk: direct I/O in memory is found by trial, and emulated.
not_emulated_on_disk='FileDirect|RegionsDirect|io=direct|FlippedBytesAreACounted|AShrinkOfADevice'
not_emulated_on_disk+='|EverythingBehindOn|MediumSpec.OpensWhatItNames|AFailedWriteWithoutMemory'
not_emulated_on_disk+='|TheSpaceOfAFileFalls|HoldsForACacheInAFile|AFileCutShort'
declare -A selection=([release]='' [asan]='-LE outside'
                      [tsan]='-L contract|unit|kv|server -E MetadataBudget'
                      [aarch64]="-L contract|unit|kv -E $not_emulated")
[[ $slow == yes ]] || selection=([release]='-LE slow' [asan]='-LE outside|slow'
                                 [tsan]="-L contract|unit|kv|server -LE slow -E $one_thread"
                                 [aarch64]="-L contract|unit|kv -LE slow -E $not_emulated")

