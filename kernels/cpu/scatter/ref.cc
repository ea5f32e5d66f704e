/// cpu.scatter.ref: update by update.
#include <algorithm>

#include "kernels/cpu/common/indices.h"
#include "kernels/cpu/common/reference.h"
#include "kernels/cpu/scatter/scatter.h"

namespace aicf::cpu {
namespace {

/// Coordinates of the element that the update at `position` meets; false when it is dropped.
bool TargetOf(const abi::ArgBlock& args, const int64_t* position, int64_t* at) {
  const auto& attrs = args.problem->as<abi::ScatterAttrs>();
  const abi::TensorArg& data = Input(args, 0);
  const abi::TensorArg& indices = Input(args, 1);
  if (attrs.kind == abi::ScatterKind::kElements) {
    const int axis = static_cast<int>(attrs.axis);
    std::copy(position, position + data.rank, at);
    at[axis] = WrappedIndex(LoadAt(indices, position).i, data.shape[axis]);
    return at[axis] >= 0;
  }
  const int leading = indices.rank - 1;
  const int n = static_cast<int>(indices.shape[leading]);
  int64_t where[kMaxRank] = {};
  std::copy(position, position + leading, where);
  bool inside = true;
  for (int k = 0; k < n; ++k) {
    where[leading] = k;
    at[k] = WrappedIndex(LoadAt(indices, where).i, data.shape[k]);
    inside = inside && at[k] >= 0;
  }
  std::copy(position + leading, position + leading + (data.rank - n), at + n);
  return inside;
}

abi::ExprNode Combiner(abi::ScatterReduction reduction, DType dtype) {
  abi::ExprNode node;
  node.dtype = dtype;
  switch (reduction) {
    case abi::ScatterReduction::kMul:
      node.op = abi::ExprOp::kMul;
      break;
    case abi::ScatterReduction::kMin:
      node.op = abi::ExprOp::kMin;
      break;
    case abi::ScatterReduction::kMax:
      node.op = abi::ExprOp::kMax;
      break;
    default:
      node.op = abi::ExprOp::kAdd;
      break;
  }
  return node;
}

}  // namespace

void ScatterRef(const abi::ArgBlock& args) {
  const abi::ScatterReduction reduction = args.problem->as<abi::ScatterAttrs>().reduction;
  const abi::TensorArg& data = Input(args, 0);
  const abi::TensorArg& updates = Input(args, 2);
  const abi::TensorArg& out = Output(args, 0);
  const int64_t bytes = DTypeBytes(data.dtype);
  const DType dtype = abi::ComputeDType(data.dtype);
  const abi::ExprNode combiner = Combiner(reduction, dtype);
  const int64_t first[kMaxRank] = {};
  if (ElementAt(data, first) != ElementAt(out, first)) {
    ParallelIndices(args, ShapeOf(out), [&](const int64_t* at) {
      CopyElement(ElementAt(out, at), ElementAt(data, at), bytes);
    });
  }
  ForEachIndex(ShapeOf(updates), [&](const int64_t* position) {
    int64_t at[kMaxRank] = {};
    if (!TargetOf(args, position, at)) return;
    if (reduction == abi::ScatterReduction::kNone) {
      return CopyElement(ElementAt(out, at), ElementAt(updates, position), bytes);
    }
    const Scalar old = LoadAt(out, at), update = LoadAt(updates, position);
    StoreAt(out, at, EvalOperator(combiner, dtype, old, update, Scalar{}));
  });
}

}  // namespace aicf::cpu
