/// cpu.scan.ref: line by line; floats in double, integers modulo their width.
#include "kernels/cpu/common/indices.h"
#include "kernels/cpu/common/reference.h"
#include "kernels/cpu/expr/scalar_ops.h"
#include "kernels/cpu/scan/scan.h"

namespace aicf::cpu {
namespace {

Scalar Accumulate(Scalar total, Scalar x, bool product, DType dtype) {
  if (IsFloat(dtype)) return FloatScalar(product ? total.f * x.f : total.f + x.f);
  return IntScalar(
      IntegerBinary(product ? abi::ExprOp::kMul : abi::ExprOp::kAdd, total.i, x.i, dtype));
}

}  // namespace

void ScanRef(const abi::ArgBlock& args) {
  const auto& attrs = args.problem->as<abi::ScanAttrs>();
  const int axis = static_cast<int>(attrs.axis);
  const bool product = attrs.kind == abi::ScanKind::kProd;
  const abi::TensorArg &x = Input(args, 0), &out = Output(args, 0);
  const DType dtype = abi::ComputeDType(x.dtype);
  const int64_t extent = x.shape[axis];
  if (extent == 0) return;
  Dims lines = ShapeOf(x);
  lines[axis] = 1;
  ParallelIndices(args, lines, [&](const int64_t* line) {
    int64_t at[kMaxRank] = {};
    for (int d = 0; d < x.rank; ++d) at[d] = line[d];
    Scalar total = IsFloat(dtype) ? FloatScalar(product ? 1 : 0) : IntScalar(product ? 1 : 0);
    for (int64_t i = 0; i < extent; ++i) {
      at[axis] = attrs.reverse ? extent - 1 - i : i;
      const Scalar before = total;
      total = Accumulate(total, LoadAt(x, at), product, dtype);
      const Scalar value = attrs.exclusive ? before : total;
      StoreAt(out, at, IsFloat(dtype) ? ScalarFromDouble(value.f, dtype) : value);
    }
  });
}

}  // namespace aicf::cpu
