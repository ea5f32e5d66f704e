#include "compiler/passes/composite/composite.h"

#include <algorithm>

#include "compiler/passes/composite/composites.h"

namespace aicf {
namespace {

struct Expansion {
  std::string_view op;
  ExpandComposite expand;
};

constexpr Expansion kExpansions[] = {
#define AICF_COMPOSITE(op, expand) {#op, expand},
#include "compiler/passes/composite/composites.def"
#undef AICF_COMPOSITE
};

}  // namespace

ExpandComposite FindComposite(std::string_view op) {
  const Expansion* row = std::ranges::find(kExpansions, op, &Expansion::op);
  return row != std::end(kExpansions) ? row->expand : nullptr;
}

}  // namespace aicf
