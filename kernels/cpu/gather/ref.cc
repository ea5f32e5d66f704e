/// cpu.gather.ref: element by element.
#include <algorithm>

#include "kernels/cpu/common/indices.h"
#include "kernels/cpu/common/reference.h"
#include "kernels/cpu/gather/gather.h"

namespace aicf::cpu {
namespace {

/// Coordinates in the data of the element that goes to `out`; false when an index is out of range.
bool SourceOf(const abi::ArgBlock& args, const int64_t* out, int64_t* at) {
  const auto& attrs = args.problem->as<abi::GatherAttrs>();
  const abi::TensorArg& data = Input(args, 0);
  const abi::TensorArg& indices = Input(args, 1);
  if (attrs.kind == abi::GatherKind::kPoints) {
    const int leading = indices.rank - 1, batch = static_cast<int>(attrs.batch_axes);
    const int n = static_cast<int>(indices.shape[leading]);
    int64_t where[kMaxRank] = {};
    std::copy(out, out + leading, where);
    std::copy(out, out + batch, at);
    bool inside = true;
    for (int k = 0; k < n; ++k) {
      where[leading] = k;
      at[batch + k] = WrappedIndex(LoadAt(indices, where).i, data.shape[batch + k]);
      inside = inside && at[batch + k] >= 0;
    }
    std::copy(out + leading, out + leading + (data.rank - batch - n), at + batch + n);
    return inside;
  }
  const int axis = static_cast<int>(attrs.axis);
  const bool take = attrs.kind == abi::GatherKind::kTake;
  const int after = take ? indices.rank - 1 : 0;  // how far the output shifts the data's later axes
  // A single index has no axis in the output, where the data's later axes lie one further front.
  for (int d = 0; d < data.rank; ++d) {
    if (d != axis) at[d] = out[d < axis ? d : d + after];
  }
  at[axis] = WrappedIndex(LoadAt(indices, take ? out + axis : out).i, data.shape[axis]);
  return at[axis] >= 0;
}

}  // namespace

void GatherRef(const abi::ArgBlock& args) {
  const abi::TensorArg& data = Input(args, 0);
  const abi::TensorArg& out = Output(args, 0);
  const bool moves = args.problem->epilogue.empty() && data.dtype == out.dtype;
  const int64_t bytes = DTypeBytes(data.dtype);
  ParallelIndices(args, ShapeOf(out), [&](const int64_t* coords) {
    int64_t at[kMaxRank] = {};
    const bool inside = SourceOf(args, coords, at);
    if (moves && inside) return CopyElement(ElementAt(out, coords), ElementAt(data, at), bytes);
    const Scalar zero = ScalarFromDouble(0, abi::ComputeDType(data.dtype));
    StoreEpilogue(args, coords, inside ? LoadAt(data, at) : zero);
  });
}

}  // namespace aicf::cpu
