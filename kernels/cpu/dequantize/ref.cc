/// cpu.dequantize.ref: row by row, each decoded as a whole.
#include <vector>

#include "kernels/cpu/common/reference.h"
#include "kernels/cpu/functions.h"

namespace aicf::cpu {
namespace {

void DequantizeRow(const abi::ArgBlock& args, const int64_t* row) {
  const abi::TensorArg &x = Input(args, 0), &out = Output(args, 0);
  const int axis = out.rank - 1;
  std::vector<float> values(static_cast<size_t>(out.shape[axis]));
  const std::span bytes(static_cast<const std::byte*>(ElementAt(x, row)),
                        static_cast<size_t>(x.shape[axis]));
  DecodeBlocks(args.problem->as<abi::DequantizeAttrs>().format, bytes, values);
  int64_t at[kMaxRank];
  std::copy(row, row + kMaxRank, at);
  for (size_t k = 0; k < values.size(); ++k) {
    at[axis] = static_cast<int64_t>(k);
    StoreEpilogue(args, at, FloatScalar(values[k]));
  }
}

}  // namespace

template <>
void Reference<abi::Family::kDequantize>(const abi::ArgBlock& args) {
  Dims rows = ShapeOf(Output(args, 0));
  if (rows.back() == 0) return;
  rows[rows.rank() - 1] = 1;
  ParallelIndices(args, rows, [&](const int64_t* row) { DequantizeRow(args, row); });
}

}  // namespace aicf::cpu
