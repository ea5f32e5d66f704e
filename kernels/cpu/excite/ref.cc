/// cpu.excite.ref: one image after the other, sums in double.
#include <vector>

#include "kernels/abi/excite.h"
#include "kernels/cpu/common/reference.h"
#include "kernels/cpu/functions.h"

namespace aicf::cpu {
namespace {

using abi::ExciteShape;

// The means of all channels of image n. Where the step runs in place, the image is overwritten only
// after all means are known.
std::vector<double> MeansOf(const abi::ArgBlock& args, const ExciteShape& s, int64_t n) {
  const abi::TensorArg& x = Input(args, s.x);
  std::vector<double> means(static_cast<size_t>(s.channels), 0.0);
  Dims image = ShapeOf(x);
  image[0] = 1;
  ForEachIndex(image, [&](const int64_t* coords) {
    int64_t at[kMaxRank];
    std::copy(coords, coords + kMaxRank, at);
    at[0] = n;
    means[static_cast<size_t>(coords[1])] += LoadAt(x, at).f;
  });
  for (double& mean : means) mean /= static_cast<double>(s.positions);
  return means;
}

// A layer of units: sum_k weights[row, k] * values[k] for every row, to which an expression with
// the operands [first, end) at [n, row] is applied.
struct Unit {
  const abi::Expr& expr;
  int weights, first, end;

  double At(const abi::ArgBlock& args, const std::vector<double>& values, int64_t n,
            int64_t row) const {
    const abi::TensorArg& w = Input(args, weights);
    double sum = 0;
    for (size_t k = 0; k < values.size(); ++k) {
      const int64_t at[kMaxRank] = {row, static_cast<int64_t>(k)};
      sum += LoadAt(w, at).f * values[k];
    }
    const Scalar product = ScalarFromDouble(sum, DType::kF32);
    if (expr.empty()) return product.f;
    const int64_t at[kMaxRank] = {n, row};
    Scalar inputs[abi::kMaxExprInputs], results[abi::kMaxExprResults];
    inputs[0] = product;
    for (int k = first; k < end; ++k) inputs[1 + k - first] = LoadAt(Input(args, k), at);
    EvalScalar(expr, inputs, at, results);
    return results[0].f;
  }
  std::vector<double> All(const abi::ArgBlock& args, const std::vector<double>& values, int64_t n,
                          int64_t rows) const {
    std::vector<double> all;
    for (int64_t row = 0; row < rows; ++row) all.push_back(At(args, values, n, row));
    return all;
  }
};

void ExciteImage(const abi::ArgBlock& args, const ExciteShape& s, int64_t n) {
  const Unit hidden = {args.problem->prologue, 0, s.hidden_first, s.gate_first};
  const Unit gate = {args.problem->score, 1, s.gate_first, s.gate_end};
  const std::vector<double> gates =
      gate.All(args, hidden.All(args, MeansOf(args, s, n), n, s.hidden), n, s.channels);
  Dims image = ShapeOf(Output(args, 0));
  image[0] = 1;
  ForEachIndex(image, [&](const int64_t* coords) {
    int64_t at[kMaxRank];
    std::copy(coords, coords + kMaxRank, at);
    at[0] = n;
    const double value = gates[static_cast<size_t>(coords[1])];
    StoreEpilogue(args, at, ScalarFromDouble(value, DType::kF32));
  });
}

}  // namespace

template <>
void Reference<abi::Family::kExcite>(const abi::ArgBlock& args) {
  const ExciteShape s = abi::ExciteShapeOf(*args.problem);
  ParallelRanges(args, s.images, 1, [&](int64_t begin, int64_t end) {
    for (int64_t n = begin; n < end; ++n) ExciteImage(args, s, n);
  });
}

}  // namespace aicf::cpu
