/// cpu.blockgemm.ref: one column of the result after the other, each from its decoded row of
/// blocks, sums in double. A is taken as it is in every math mode.
#include <vector>

#include "kernels/cpu/common/reference.h"
#include "kernels/cpu/functions.h"

namespace aicf::cpu {
namespace {

// Column n of every row of A.
void BlockGemmColumn(const abi::ArgBlock& args, int64_t n, std::vector<float>& column) {
  const abi::TensorArg &a = Input(args, 0), &b = Input(args, 1);
  const int k_axis = a.rank - 1;
  const int64_t first[kMaxRank] = {n};
  const std::span bytes(static_cast<const std::byte*>(ElementAt(b, first)),
                        static_cast<size_t>(b.shape[1]));
  DecodeBlocks(args.problem->as<abi::BlockGemmAttrs>().format, bytes, column);
  Dims rows = ShapeOf(a);
  rows[k_axis] = 1;
  ForEachIndex(rows, [&](const int64_t* row) {
    int64_t at[kMaxRank];
    std::copy(row, row + kMaxRank, at);
    double sum = 0;
    for (size_t k = 0; k < column.size(); ++k) {
      at[k_axis] = static_cast<int64_t>(k);
      sum += LoadAt(a, at).f * column[k];
    }
    at[k_axis] = n;
    StoreEpilogue(args, at, ScalarFromDouble(sum, DType::kF32));
  });
}

}  // namespace

template <>
void Reference<abi::Family::kBlockGemm>(const abi::ArgBlock& args) {
  const abi::TensorArg &a = Input(args, 0), &out = Output(args, 0);
  ParallelRanges(args, out.shape[out.rank - 1], 1, [&](int64_t begin, int64_t end) {
    std::vector<float> column(static_cast<size_t>(a.shape[a.rank - 1]));
    for (int64_t n = begin; n < end; ++n) BlockGemmColumn(args, n, column);
  });
}

}  // namespace aicf::cpu
