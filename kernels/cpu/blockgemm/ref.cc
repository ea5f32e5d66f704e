/// cpu.blockgemm.ref: one column of the result after the other, each from its decoded rows of
/// blocks, sums in double. A is taken as it is in every math mode.
#include <vector>

#include "kernels/cpu/common/reference.h"
#include "kernels/cpu/functions.h"
#include "kernels/cpu/gemm/ref.h"

namespace aicf::cpu {
namespace {

// All rows of A, one after the other, in the order of ForEachIndex.
std::vector<float> RowsOfA(const abi::ArgBlock& args) {
  const abi::TensorArg& a = Input(args, 0);
  Dims rows = ShapeOf(a);
  rows[a.rank - 1] = 1;
  std::vector<float> all;
  ForEachIndex(rows, [&](const int64_t* row) {
    int64_t at[kMaxRank];
    std::copy(row, row + kMaxRank, at);
    if (NormalizesRows(*args.problem)) {
      const std::vector<float> normalized = NormalizedRow(args, at);
      all.insert(all.end(), normalized.begin(), normalized.end());
      return;
    }
    for (at[a.rank - 1] = 0; at[a.rank - 1] < a.shape[a.rank - 1]; ++at[a.rank - 1]) {
      all.push_back(LoadAt(a, at).f);
    }
  });
  return all;
}

// The rows of blocks of column n, one for each half, decoded.
using Columns = std::vector<std::vector<float>>;
void DecodeColumns(const abi::ArgBlock& args, int64_t n, Columns& columns) {
  const abi::TensorArg& b = Input(args, 1);
  for (size_t half = 0; half < columns.size(); ++half) {
    const int64_t first[kMaxRank] = {n + static_cast<int64_t>(half) *
                                             Output(args, 0).shape[Output(args, 0).rank - 1]};
    const std::span bytes(static_cast<const std::byte*>(ElementAt(b, first)),
                          static_cast<size_t>(b.shape[1]));
    DecodeBlocks(args.problem->as<abi::BlockGemmAttrs>().format, bytes, columns[half]);
  }
}

// Column n of every row of A.
void BlockGemmColumn(const abi::ArgBlock& args, int64_t n, const float* x, const Columns& columns) {
  const int k_axis = Input(args, 0).rank - 1;
  Dims rows = ShapeOf(Input(args, 0));
  rows[k_axis] = 1;
  ForEachIndex(rows, [&](const int64_t* row) {
    int64_t at[kMaxRank];
    std::copy(row, row + kMaxRank, at);
    at[k_axis] = n;
    Scalar sums[2];
    for (size_t half = 0; half < columns.size(); ++half) {
      double sum = 0;
      for (size_t k = 0; k < columns[half].size(); ++k) {
        sum += static_cast<double>(x[k]) * static_cast<double>(columns[half][k]);
      }
      sums[half] = ScalarFromDouble(sum, DType::kF32);
    }
    StoreEpilogue(args, at, sums);
    x += columns[0].size();
  });
}

}  // namespace

template <>
void Reference<abi::Family::kBlockGemm>(const abi::ArgBlock& args) {
  const abi::TensorArg &a = Input(args, 0), &out = Output(args, 0);
  const std::vector<float> rows = RowsOfA(args);
  ParallelRanges(args, out.shape[out.rank - 1], 1, [&](int64_t begin, int64_t end) {
    Columns columns(static_cast<size_t>(RawInputs(*args.problem)),
                    std::vector<float>(static_cast<size_t>(a.shape[a.rank - 1])));
    for (int64_t n = begin; n < end; ++n) {
      DecodeColumns(args, n, columns);
      BlockGemmColumn(args, n, rows.data(), columns);
    }
  });
}

}  // namespace aicf::cpu
