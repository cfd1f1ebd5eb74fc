#include "apps/manual/render.h"

#include "apps/manual/renderers.h"
#include "base/text.h"

namespace nvcache::manual {
namespace {

constexpr std::string_view kForms[] = {"man", "bash", "zsh", "fish"};

}  // namespace

std::span<const std::string_view> forms() { return kForms; }

StatusOr<std::string> render(const Page& page, std::string_view form) {
  if (form == "man") return man_page(page);
  if (form == "bash") return bash_completion(page);
  if (form == "zsh") return zsh_completion(page);
  if (form == "fish") return fish_completion(page);
  return invalid_argument("--{}: '{}' given; allowed: man, bash, zsh, fish", kGenerate, form);
}

}  // namespace nvcache::manual
