#include "compiler/ir/lowered_sizes.h"

#include "base/scanner.h"
#include "schema/magnitudes.h"

namespace aicf::ir {

Status CheckMagnitudes(const Lowered& lowered) {
  for (size_t s = 0; s < lowered.steps.size(); ++s) {
    const Status status = schema::CheckMagnitudes(lowered.steps[s].problem);
    if (status.ok()) continue;
    const auto& sources = lowered.steps[s].sources;
    return status.WithContext(
        StrCat("step ", s, sources.empty() ? "" : StrCat(" [", Quote(sources.front()), "]")));
  }
  return OkStatus();
}

}  // namespace aicf::ir
