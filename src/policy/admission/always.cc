// always: admits every block. The baseline for other policies.
// Thread-safe: no state.
#include "policy/admission/table.h"

namespace nvcache {
namespace {

class Always final : public AdmissionPolicy {
 public:
  Verdict admit(const Candidate&, const Traffic&) override { return Verdict::admit(); }
  std::string describe() const override { return "always"; }
};

}  // namespace

AdmissionOr make_always(const SpecMember& member, const AdmissionContext&) {
  const Status arguments = check_no_arguments(kAdmission, member);
  if (!arguments.ok()) return arguments;
  return std::make_unique<Always>();
}

}  // namespace nvcache
