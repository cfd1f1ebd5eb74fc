#include "nvcache/verdict.h"

namespace nvcache {

std::string_view reason_name(Reason reason) {
  switch (reason) {
    case Reason::kAdmitted:
      return "admitted";
    case Reason::kSmallDataset:
      return "small_dataset";
    case Reason::kOverhead:
      return "overhead";
    case Reason::kFirstTouch:
      return "first_touch";
    case Reason::kWriteOrigin:
      return "write_origin";
    case Reason::kProbability:
      return "probability";
    case Reason::kDuplicate:
      return "duplicate";
    case Reason::kStaleToken:
      return "stale_token";
    case Reason::kBadSize:
      return "bad_size";
    case Reason::kNoSpace:
      return "no_space";
    case Reason::kWriteQueueFull:
      return "write_queue_full";
    case Reason::kMediumFailed:
      return "medium_failed";
    case Reason::kLessUsed:
      return "less_used";
    case Reason::kWriteBudget:
      return "write_budget";
    case Reason::kOutsidePolicy:
      return "outside_policy";
  }
  return "unknown";
}

}  // namespace nvcache
