#include "kernels/cpu/gemm/ref.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/cpu/common/reference.h"
#include "kernels/cpu/gemm/dot.h"

namespace aicf::cpu {
namespace {

// Sets the coordinates of row `row` of the output, counted along all axes but the last.
void RowCoords(const abi::TensorArg& out, int64_t row, int64_t* coords) {
  for (int axis = out.rank - 2; axis >= 0; --axis) {
    coords[axis] = row % out.shape[axis];
    row /= out.shape[axis];
  }
}

double DataAt(const abi::TensorArg& t, const int64_t* at) {
  return ScalarToDouble(LoadAt(t, at), abi::ComputeDType(t.dtype));
}

}  // namespace

std::vector<float> NormalizedRow(const abi::ArgBlock& args, int64_t* at) {
  const abi::TensorArg &a = Input(args, 0), &gain = Input(args, 2);
  const int k_axis = a.rank - 1;
  const int64_t depth = a.shape[k_axis];
  double squares = 0;
  for (at[k_axis] = 0; at[k_axis] < depth; ++at[k_axis]) {
    const double x = DataAt(a, at);
    squares += x * x;
  }
  const double epsilon = RowNormEpsilon(*args.problem);
  const double factor = 1 / std::sqrt(squares / static_cast<double>(depth) + epsilon);
  std::vector<float> row;
  for (at[k_axis] = 0; at[k_axis] < depth; ++at[k_axis]) {
    row.push_back(static_cast<float>(DataAt(a, at) * factor * DataAt(gain, at)));
  }
  at[k_axis] = 0;
  return row;
}

namespace {

// Adds the products of the row of A at a_at and the column of B at b_at where the operands have a
// scale for every block (abi::GemmAttrs). Leaves 0 in the axis of k of both.
void AddScaledProducts(const abi::ArgBlock& args, int64_t* a_at, int64_t* b_at, RefSum* sum) {
  const auto& attrs = args.problem->as<abi::GemmAttrs>();
  const abi::TensorArg &a = Input(args, 0), &b = Input(args, 1);
  const int k_of_a = a.rank - 1, k_of_b = a.rank - 2, n_axis = a.rank - 1;
  const int64_t depth = a.shape[k_of_a], n = b_at[n_axis], terms = attrs.scale_terms;
  for (int64_t first = 0; first < depth; first += terms) {
    const int64_t count = std::min(terms, depth - first);
    RefSum part;
    a_at[k_of_a] = b_at[k_of_b] = first;
    AddProducts({a.dtype, ElementAt(a, a_at), a.strides[k_of_a]},
                {b.dtype, ElementAt(b, b_at), b.strides[k_of_b]}, count, &part);
    a_at[k_of_a] = b_at[k_of_b] = first / terms;
    b_at[n_axis] = n / attrs.scale_columns;
    sum->f += part.f * DataAt(Input(args, 2), a_at) * DataAt(Input(args, 3), b_at);
    b_at[n_axis] = n;
  }
  a_at[k_of_a] = b_at[k_of_b] = 0;
}

struct Moments {
  double mean = 0;
  double squares = 0;  ///< sum of the squares of the differences from the mean
};

// The moments of `count` neighbours along the last axis, of which the first one is at `at`. Leaves
// `at` as it was.
Moments MomentsOf(const abi::TensorArg& t, int64_t* at, int64_t count) {
  int64_t& k = at[t.rank - 1];
  const int64_t first = k;
  Moments m;
  for (k = first; k < first + count; ++k) m.mean += DataAt(t, at);
  m.mean /= static_cast<double>(count);
  for (k = first; k < first + count; ++k) {
    const double apart = DataAt(t, at) - m.mean;
    m.squares += apart * apart;
  }
  k = first;
  return m;
}

// The moments of a row from the moments of its parts, which have `terms` terms each.
Moments MomentsOfParts(const abi::TensorArg& parts, int64_t* at, int64_t terms) {
  int64_t& p = at[parts.rank - 1];
  const int64_t numbers = parts.shape[parts.rank - 1];
  Moments m;
  for (p = 0; p < numbers; p += 2) m.mean += DataAt(parts, at);
  m.mean /= static_cast<double>(numbers / 2);
  for (p = 0; p < numbers; p += 2) {
    const double apart = DataAt(parts, at) - m.mean;
    m.squares += static_cast<double>(terms) * apart * apart;
  }
  for (p = 1; p < numbers; p += 2) m.squares += DataAt(parts, at);
  p = 0;
  return m;
}

// Computes the moments of A's row at a_at (abi::SeesMoments). They go to the raw inputs that follow
// the sums and, where they are stored, to their output. Leaves 0 in the axis of k.
void RowMoments(const abi::ArgBlock& args, int64_t* a_at, Scalar* raws) {
  const abi::Problem& problem = *args.problem;
  const abi::TensorArg& a = Input(args, 0);
  const int k_axis = a.rank - 1;
  const int64_t depth = a.shape[k_axis];
  const auto& attrs = problem.as<abi::GemmAttrs>();
  int64_t& k = a_at[k_axis];
  k = 0;
  const Moments row = ReadsParts(problem) ? MomentsOfParts(Input(args, 2), a_at, attrs.part_terms)
                                          : MomentsOf(a, a_at, depth);
  const double variance = row.squares / static_cast<double>(depth);
  RefSum moments[2];
  moments[0].f = row.mean;
  moments[1].f = 1 / std::sqrt(variance + attrs.moments_epsilon);
  for (int m = 0; m < 2; ++m) {
    raws[m] = RawScalar(moments[m], RawDType(problem));
    if (!abi::StoresMoments(problem)) continue;
    a_at[k_axis] = m;
    StoreAt(Output(args, static_cast<int>(abi::ResultCount(problem))), a_at, raws[m]);
  }
  k = 0;
}

// Stores the moments of parts of the first result's row at `coords` (abi::StoresParts) in their
// output. REQUIRES: the row itself has been stored, since it is read back.
void StoreParts(const abi::ArgBlock& args, int64_t* coords) {
  const abi::TensorArg& result = Output(args, 0);
  const abi::TensorArg& parts = Output(args, static_cast<int>(abi::ResultCount(*args.problem)));
  const int64_t each = args.problem->as<abi::GemmAttrs>().part_columns;
  int64_t& n = coords[result.rank - 1];
  for (int64_t p = 0; p < result.shape[result.rank - 1] / each; ++p) {
    n = p * each;
    const Moments m = MomentsOf(result, coords, each);
    const double numbers[2] = {m.mean, m.squares};
    for (int i = 0; i < 2; ++i) {
      n = 2 * p + i;
      RefSum sum;
      sum.f = numbers[i];
      StoreAt(parts, coords, RawScalar(sum, DType::kF32));
    }
  }
}

void GemmRow(void* context, int64_t row) {
  const auto& args = *static_cast<const abi::ArgBlock*>(context);
  const abi::TensorArg &a = Input(args, 0), &b = Input(args, 1), &out = Output(args, 0);
  const int m_axis = out.rank - 2, n_axis = out.rank - 1;
  const DType raw = RawDType(*args.problem);
  const int64_t depth = a.shape[n_axis], columns = out.shape[n_axis];
  const int halves = SumInputs(*args.problem);
  int64_t coords[kMaxRank] = {};
  RowCoords(out, row, coords);

  int64_t at[kMaxRank] = {};
  for (int axis = 0; axis < n_axis; ++axis) at[axis] = coords[axis];
  const void* a_row = ElementAt(a, at);
  const bool normalizes = NormalizesRows(*args.problem);
  const std::vector<float> normalized = normalizes ? NormalizedRow(args, at) : std::vector<float>();
  const bool scaled = HasBlockScales(*args.problem);
  int64_t a_at[kMaxRank] = {};
  std::copy_n(at, n_axis, a_at);
  Scalar raws[4];
  if (SeesMoments(*args.problem)) RowMoments(args, a_at, raws + halves);
  at[m_axis] = 0;
  for (int64_t n = 0; n < columns; ++n) {
    coords[n_axis] = n;
    for (int half = 0; half < halves; ++half) {
      at[n_axis] = n + half * columns;
      RefSum sum;
      const RefLine column = {b.dtype, depth > 0 ? ElementAt(b, at) : nullptr, b.strides[m_axis]};
      if (scaled) {
        AddScaledProducts(args, a_at, at, &sum);
      } else if (normalizes) {
        AddRowProducts(normalized.data(), column, depth, &sum);
      } else if (depth > 0) {
        AddProducts({a.dtype, a_row, a.strides[n_axis]}, column, depth, &sum);
      }
      raws[half] = RawScalar(sum, raw);
    }
    StoreEpilogue(args, coords, raws);
  }
  if (StoresParts(*args.problem)) StoreParts(args, coords);
}

}  // namespace

void GemmRef(const abi::ArgBlock& args) {
  const abi::TensorArg& out = Output(args, 0);
  int64_t rows = 1;
  for (int axis = 0; axis + 1 < out.rank; ++axis) rows *= out.shape[axis];
  if (out.shape[out.rank - 1] == 0 && !abi::StoresMoments(*args.problem)) return;
  args.parallel_for(args.stream, rows, GemmRow, const_cast<abi::ArgBlock*>(&args));
}

}  // namespace aicf::cpu
