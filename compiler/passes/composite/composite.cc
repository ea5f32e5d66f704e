#include "compiler/passes/composite/composite.h"

#include <algorithm>

#include "compiler/passes/composite/composites.h"

namespace aicf {
namespace {

struct Row {
  std::string_view op;
  ExpandComposite expand;
};

constexpr Row kRows[] = {
#define AICF_COMPOSITE(op, expand) {#op, expand},
#include "compiler/passes/composite/composites.def"
#undef AICF_COMPOSITE
};

}  // namespace

ExpandComposite FindComposite(std::string_view op) {
  const Row* row = std::ranges::find(kRows, op, &Row::op);
  return row != std::end(kRows) ? row->expand : nullptr;
}

}  // namespace aicf
