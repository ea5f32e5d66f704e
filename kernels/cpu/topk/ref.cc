/// cpu.topk.ref: a full sort of each line along the axis, in the workspace.
#include <algorithm>
#include <cmath>

#include "kernels/cpu/common/reference.h"
#include "kernels/cpu/expr/scalar_ops.h"
#include "kernels/cpu/topk/topk.h"

namespace aicf::cpu {
namespace {

/// Strict order by value; NaN is the largest.
bool Less(const TopKItem& a, const TopKItem& b, DType dtype) {
  if (!IsFloat(dtype)) return IntegerBinary(abi::ExprOp::kLt, a.value.i, b.value.i, dtype) != 0;
  if (std::isnan(a.value.f)) return false;
  return std::isnan(b.value.f) || a.value.f < b.value.f;
}

}  // namespace

void TopKRef(const abi::ArgBlock& args) {
  const auto& attrs = args.problem->as<abi::TopKAttrs>();
  const int axis = static_cast<int>(attrs.axis);
  const abi::TensorArg& x = Input(args, 0);
  const DType dtype = abi::ComputeDType(x.dtype);
  TopKItem* const items = static_cast<TopKItem*>(args.workspace);
  Dims lines = ShapeOf(x);
  lines[axis] = 1;
  ForEachIndex(lines, [&](const int64_t* line) {
    int64_t coords[kMaxRank] = {};
    std::copy(line, line + kMaxRank, coords);
    for (coords[axis] = 0; coords[axis] < x.shape[axis]; ++coords[axis]) {
      items[coords[axis]] = {LoadAt(x, coords), coords[axis]};
    }
    std::sort(items, items + x.shape[axis], [&](const TopKItem& a, const TopKItem& b) {
      if (attrs.largest ? Less(b, a, dtype) : Less(a, b, dtype)) return true;
      if (attrs.largest ? Less(a, b, dtype) : Less(b, a, dtype)) return false;
      return a.index < b.index;
    });
    for (coords[axis] = 0; coords[axis] < attrs.k; ++coords[axis]) {
      const TopKItem& item = items[coords[axis]];
      StoreAt(Output(args, 0), coords, item.value);
      StoreAt(Output(args, 1), coords, IntScalar(item.index));
    }
  });
}

}  // namespace aicf::cpu
