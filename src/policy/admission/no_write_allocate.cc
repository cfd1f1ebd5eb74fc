// no_write_allocate: refuses blocks from the write path; a block is admitted when it is read.
// (*Writes Hurt*, section 3.2.3, found that the overhead bypass ratio works better.)
// Thread-safe: no state.
#include "policy/admission/table.h"

namespace nvcache {
namespace {

class NoWriteAllocate final : public AdmissionPolicy {
 public:
  Verdict admit(const Candidate& candidate, const Traffic&) override {
    if (candidate.origin == Origin::kWrite) return Verdict::refuse(Reason::kWriteOrigin);
    return Verdict::admit();
  }
  std::string describe() const override { return "no_write_allocate"; }
};

}  // namespace

AdmissionOr make_no_write_allocate(const SpecMember& member, const AdmissionContext&) {
  const Status arguments = check_no_arguments(kAdmission, member);
  if (!arguments.ok()) return arguments;
  return std::make_unique<NoWriteAllocate>();
}

}  // namespace nvcache
