/// cpu.copy.ref: the fill value everywhere when there is one, then each piece at its start, all of
/// them through the epilogue when there is one.
#include "kernels/abi/raw_dtype.h"
#include "kernels/cpu/common/reference.h"
#include "kernels/cpu/copy/copy.h"

namespace aicf::cpu {

void CopyRef(const abi::ArgBlock& args) {
  const auto& attrs = args.problem->as<abi::CopyAttrs>();
  const abi::TensorArg& out = Output(args, 0);
  if (attrs.has_fill) {
    const Scalar fill = ScalarFromDouble(attrs.fill, abi::RawDType(*args.problem));
    ForEachIndex(ShapeOf(out), [&](const int64_t* coords) { StoreEpilogue(args, coords, fill); });
  }
  for (uint32_t p = 0; p < args.input_count; ++p) {
    const abi::TensorArg& piece = Input(args, p);
    ParallelIndices(args, ShapeOf(piece), [&](const int64_t* coords) {
      int64_t target[kMaxRank] = {};
      for (int axis = 0; axis < out.rank; ++axis)
        target[axis] = coords[axis] + attrs.starts[p][axis];
      StoreEpilogue(args, target, LoadAt(piece, coords));
    });
  }
}

}  // namespace aicf::cpu
