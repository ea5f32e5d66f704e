/// cpu.normalize.ref: one group of elements (the normalised axes) at a time, statistics in double.
#include <cmath>
#include <limits>

#include "kernels/cpu/common/reference.h"
#include "kernels/cpu/normalize/normalize.h"

namespace aicf::cpu {
namespace {

using abi::NormalizeKind;

/// y = (x - shift) * scale, or its exponential.
struct Statistics {
  double shift = 0;
  double scale = 1;
};

/// Visits x of one group: visit(coords, value).
template <class F>
void ForGroup(const abi::ArgBlock& args, const Dims& group, const int64_t* base, F&& visit) {
  const DType dtype = RawDType(*args.problem);
  ForEachIndex(group, [&](const int64_t* inner) {
    int64_t coords[kMaxRank] = {};
    for (int axis = 0; axis < group.rank(); ++axis) coords[axis] = base[axis] + inner[axis];
    visit(static_cast<const int64_t*>(coords), ScalarToDouble(PrologueAt(args, coords), dtype));
  });
}

Statistics SoftmaxStatistics(const abi::ArgBlock& args, const Dims& group, const int64_t* base) {
  Statistics s;
  s.shift = -std::numeric_limits<double>::infinity();
  ForGroup(args, group, base, [&](const int64_t*, double x) {
    if (!(x <= s.shift)) s.shift = x;  // a NaN is taken and then kept by x - shift
  });
  double sum = 0;
  ForGroup(args, group, base, [&](const int64_t*, double x) { sum += std::exp(x - s.shift); });
  s.scale = sum;
  return s;
}

Statistics MomentStatistics(const abi::ArgBlock& args, const Dims& group, const int64_t* base) {
  const auto& attrs = args.problem->as<abi::NormalizeAttrs>();
  const double count = static_cast<double>(ElementCount(group).value_or(0));
  Statistics s;
  if (attrs.kind == NormalizeKind::kLayerNorm) {
    double sum = 0;
    ForGroup(args, group, base, [&](const int64_t*, double x) { sum += x; });
    s.shift = sum / count;
  }
  double squares = 0;
  ForGroup(args, group, base,
           [&](const int64_t*, double x) { squares += (x - s.shift) * (x - s.shift); });
  s.scale = std::sqrt(squares / count + attrs.epsilon);
  return s;
}

double Normalised(NormalizeKind kind, double x, const Statistics& s) {
  if (kind == NormalizeKind::kSoftmax) return std::exp(x - s.shift) / s.scale;
  if (kind == NormalizeKind::kLogSoftmax) return x - s.shift - std::log(s.scale);
  return (x - s.shift) / s.scale;
}

}  // namespace

void NormalizeRef(const abi::ArgBlock& args) {
  const auto& attrs = args.problem->as<abi::NormalizeAttrs>();
  const DType raw = RawDType(*args.problem);
  const bool softmax =
      attrs.kind == NormalizeKind::kSoftmax || attrs.kind == NormalizeKind::kLogSoftmax;
  Dims kept = ShapeOf(Output(args, 0));
  Dims group = Dims::Filled(kept.rank(), 1);
  for (int64_t axis : attrs.axes) {
    group[static_cast<int>(axis)] = kept[static_cast<int>(axis)];
    kept[static_cast<int>(axis)] = 1;
  }
  ParallelIndices(args, kept, [&](const int64_t* base) {
    const Statistics s =
        softmax ? SoftmaxStatistics(args, group, base) : MomentStatistics(args, group, base);
    ForGroup(args, group, base, [&](const int64_t* coords, double x) {
      StoreEpilogue(args, coords, ScalarFromDouble(Normalised(attrs.kind, x, s), raw));
    });
  });
}

}  // namespace aicf::cpu
