#include "compiler/import/onnx_gaps.h"

#include <algorithm>

namespace aicf {
namespace {

std::string Sentence(const ImportGap& gap) { return StrCat(gap.label, ": ", gap.problem); }

}  // namespace

Status RefuseGaps(const std::vector<ImportGap>& gaps) {
  if (gaps.size() == 1) return Status(Code::kUnsupported, Sentence(gaps[0]));
  constexpr size_t kListed = 100;
  std::string list;
  for (size_t i = 0; i < gaps.size() && i < kListed; ++i) {
    list += StrCat(i > 0 ? "; " : "", Sentence(gaps[i]));
  }
  if (gaps.size() > kListed) list += StrCat("; and ", gaps.size() - kListed, " more");
  const bool nodes = std::ranges::all_of(
      gaps, [](const ImportGap& gap) { return gap.where == ImportGap::Where::kNode; });
  // Error() would abridge the list as if it were a long name.
  return Status(Code::kUnsupported, StrCat(gaps.size(), nodes ? " nodes" : " parts of the model",
                                           " are not supported: ", list));
}

}  // namespace aicf
