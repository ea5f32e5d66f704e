#include "compiler/ir/op_table.h"

#include <algorithm>

#include "compiler/ir/infer/infer.h"

namespace aicf {

// The lowerings' definitions are in compiler/passes/lower/; naming them here keeps one table.
#define AICF_OP(op, min_inputs, max_inputs, outputs, infer, lower) \
  Status lower(LowerContext&, const ir::Node&);
#include "compiler/ir/ops.def"
#undef AICF_OP

namespace ir {
namespace {

constexpr OpInfo kOps[] = {
#define AICF_OP(op, min_inputs, max_inputs, outputs, infer, lower) \
  {#op, min_inputs, max_inputs, outputs, infer, lower},
#include "compiler/ir/ops.def"
#undef AICF_OP
};

constexpr bool NameLess(const OpInfo* a, const OpInfo* b) { return a->name < b->name; }

}  // namespace

std::span<const OpInfo> AllOps() { return kOps; }

const OpInfo* FindOp(std::string_view name) {
  static const std::vector<const OpInfo*> sorted = [] {
    std::vector<const OpInfo*> rows;
    for (const OpInfo& op : kOps) rows.push_back(&op);
    std::sort(rows.begin(), rows.end(), NameLess);
    return rows;
  }();
  const auto it =
      std::lower_bound(sorted.begin(), sorted.end(), name,
                       [](const OpInfo* op, std::string_view n) { return op->name < n; });
  return it != sorted.end() && (*it)->name == name ? *it : nullptr;
}

}  // namespace ir
}  // namespace aicf
