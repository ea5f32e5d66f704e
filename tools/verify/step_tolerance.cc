#include "tools/verify/step_tolerance.h"

#include <algorithm>
#include <cmath>

#include "base/float8.h"
#include "kernels/abi/append.h"
#include "kernels/abi/attention.h"
#include "kernels/abi/excite.h"

namespace aicf::tools {
namespace {

using abi::Family;
using abi::MathMode;
using abi::Problem;

constexpr double kSafety = 16;

/// The assumed magnitude of attention's scores. Attention's weights are exponentials of the scores,
/// so a relative error of a score is multiplied by the score's magnitude, which stays within some
/// units in models.
constexpr double kScoreSize = 8;

double UnitRoundoff(DType dtype) {
  if (!IsFloat(dtype)) return 0;
  if (dtype == DType::kF64) return 0x1p-53;
  if (dtype == DType::kF32) return 0x1p-24;
  if (dtype == DType::kF16) return 0x1p-11;
  if (dtype == DType::kBF16) return 0x1p-8;
  return std::ldexp(1.0, -1 - Float8FormatOf(dtype).mantissa);
}

double UnitRoundoff(MathMode mode) {
  switch (mode) {
    case MathMode::kTf32:
    case MathMode::kFp16:
      return 0x1p-11;
    case MathMode::kBf16:
      return 0x1p-8;
    case MathMode::kFp8:
      return 0x1p-4;
    case MathMode::kInt8:  // half a quantisation step, relative to the largest of 32 elements
      return 1.0 / 254;
    default:
      return 0;
  }
}

double Product(const Dims& shape, int first) {
  double product = 1;
  for (int axis = first; axis < shape.rank(); ++axis) product *= static_cast<double>(shape[axis]);
  return product;
}

double Product(const Dims& shape, const Dims& axes) {
  double product = 1;
  for (int64_t axis : axes) product *= static_cast<double>(shape[static_cast<int>(axis)]);
  return product;
}

double ConvLength(const Problem& p) {
  const abi::View& w = p.inputs[1];
  const auto& attrs = p.as<abi::ConvAttrs>();
  const auto group = static_cast<double>(std::max<int64_t>(attrs.group, 1));
  const double channels = static_cast<double>(attrs.transposed ? w.shape[0] : w.shape[1]);
  return Product(w.shape, 2) * (attrs.transposed ? channels / group : channels);
}

bool Adds(const Problem& p) {
  switch (p.family) {
    case Family::kReduce: {
      const auto kind = p.as<abi::ReduceAttrs>().kind;
      return kind == abi::ReduceKind::kSum || kind == abi::ReduceKind::kProd ||
             kind == abi::ReduceKind::kMean;
    }
    case Family::kPool:
      return p.as<abi::PoolAttrs>().kind != abi::PoolKind::kMax;
    case Family::kScatter:
      return p.as<abi::ScatterAttrs>().reduction == abi::ScatterReduction::kAdd ||
             p.as<abi::ScatterAttrs>().reduction == abi::ScatterReduction::kMul;
    case Family::kAppend:
      return p.as<abi::AppendAttrs>().pairs > 0;
    case Family::kGemm:
    case Family::kConv:
    case Family::kNormalize:
    case Family::kScan:
    case Family::kRecurrent:
    case Family::kAttention:
    case Family::kExcite:
    case Family::kBlockGemm:
      return true;
    default:
      return false;
  }
}

/// Whether the step interpolates at positions that it computes.
bool Interpolates(const Problem& p) {
  if (p.family == Family::kResize) {
    return p.as<abi::ResizeAttrs>().mode != abi::ResizeMode::kNearest;
  }
  if (p.family == Family::kSample) {
    return p.as<abi::SampleAttrs>().mode != abi::ResizeMode::kNearest;
  }
  return p.family == Family::kRoi && p.as<abi::RoiAttrs>().kind != abi::RoiKind::kPoolMax;
}

/// The error from rounding coordinates. An interpolated value changes by the error of its
/// coordinate times the slope, and that error is proportional to the length of the longest axis.
double CoordinateError(const Problem& p) {
  if (!Interpolates(p)) return 0;
  int64_t longest = 1;
  for (int axis = 2; axis < p.inputs[0].shape.rank(); ++axis) {
    longest = std::max(longest, p.inputs[0].shape[axis]);
  }
  return 4 * 0x1p-24 * static_cast<double>(longest);
}

/// False for operators that have the same exact result however they are computed.
bool IsArithmetic(const abi::ExprNode& node) {
  switch (node.op) {
    case abi::ExprOp::kInput:
    case abi::ExprOp::kConst:
    case abi::ExprOp::kIndex:
    case abi::ExprOp::kSelect:
    case abi::ExprOp::kMin:
    case abi::ExprOp::kMax:
    case abi::ExprOp::kNeg:
    case abi::ExprOp::kAbs:
    case abi::ExprOp::kSign:
    case abi::ExprOp::kEq:
    case abi::ExprOp::kLt:
    case abi::ExprOp::kLe:
      return false;
    default:
      return true;
  }
}

double ArithmeticNodes(const Problem& p, bool* floats) {
  double count = 0;
  for (const abi::Expr* expr : {&p.prologue, &p.epilogue, &p.score}) {
    for (const abi::ExprNode& node : expr->nodes) {
      if (!IsArithmetic(node)) continue;
      ++count;
      bool is_float = IsFloat(node.dtype);
      for (int a = 0; a < abi::ExprOpArity(node.op); ++a) {
        is_float = is_float || IsFloat(expr->nodes[node.args[a]].dtype);
      }
      *floats = *floats || is_float;
    }
  }
  return count;
}

bool CoreIsFloat(const Problem& p) {
  if (!Adds(p) && !Interpolates(p)) return false;
  return std::ranges::any_of(p.inputs, [](const abi::View& v) { return IsFloat(v.dtype); });
}

/// u(math): the roundoff of the operands of products. Operands that are as narrow as the math mode
/// lose nothing.
double MathRoundoff(const Problem& p) {
  // This holds even if q, k and v are as narrow as the mode, since attention's weights are rounded
  // to it.
  if (p.family == Family::kAttention) return kScoreSize * UnitRoundoff(p.math);
  if (p.family == Family::kBlockGemm) return UnitRoundoff(p.math);
  if (p.family != Family::kGemm && p.family != Family::kConv) return 0;
  double most = 0;
  for (int k = 0; k < 2; ++k) {
    const DType dtype = p.inputs[static_cast<size_t>(k)].dtype;
    const double mode = UnitRoundoff(p.math);
    if (IsFloat(dtype) && UnitRoundoff(dtype) < mode) most = std::max(most, mode);
  }
  return most;
}

bool ConvertsFloats(const Problem& p) {
  return IsFloat(p.inputs.empty() ? DType::kI64 : p.inputs[0].dtype) &&
         std::ranges::any_of(p.outputs, [&](const abi::View& v) {
           return IsFloat(v.dtype) && v.dtype != p.inputs[0].dtype;
         });
}

}  // namespace

double ReductionLength(const Problem& p) {
  if (!Adds(p)) return Interpolates(p) ? 16 : 1;
  switch (p.family) {
    case Family::kGemm:
    case Family::kBlockGemm:
      return static_cast<double>(p.inputs[0].shape.back());
    case Family::kConv:
      return ConvLength(p);
    case Family::kReduce:
      return Product(p.inputs[0].shape, p.as<abi::ReduceAttrs>().axes);
    case Family::kNormalize:
      return Product(p.inputs[0].shape, p.as<abi::NormalizeAttrs>().axes);
    case Family::kPool:
      return Product(p.as<abi::PoolAttrs>().kernel, 0);
    case Family::kScan:
      return static_cast<double>(p.inputs[0].shape[static_cast<int>(p.as<abi::ScanAttrs>().axis)]);
    case Family::kRecurrent:  // one product per position, each of the previous one's results
      return static_cast<double>(p.inputs[1].shape.back()) *
             static_cast<double>(p.inputs[0].shape[0]);
    case Family::kAttention: {
      const abi::AttentionShape s = abi::AttentionShapeOf(p);
      return kScoreSize * kScoreSize * static_cast<double>(s.head) + static_cast<double>(s.keys);
    }
    case Family::kAppend:
      return 2;
    case Family::kExcite: {  // three sums, each over the results of the previous one
      const abi::ExciteShape s = abi::ExciteShapeOf(p);
      return static_cast<double>(s.positions + s.channels + s.hidden);
    }
    default:
      return 1;
  }
}

namespace {

/// c of the formula. Where blocks have scales, the sums of a block alone are the tensor cores'.
double CoreSumRoundoff(const Problem& p) {
  constexpr double kTermsAtOnce = 32;
  const bool products = p.family == Family::kGemm || p.family == Family::kConv;
  if (!products || p.math != MathMode::kFp8) return 0;
  for (int k = 0; k < 2; ++k) {
    const DType dtype = p.inputs[static_cast<size_t>(k)].dtype;
    if (!IsFloat(dtype) || DTypeBytes(dtype) != 1) return 0;
  }
  double terms = ReductionLength(p);
  if (abi::HasBlockScales(p)) {
    terms = std::min(terms, static_cast<double>(p.as<abi::GemmAttrs>().scale_terms.value));
  }
  return 0x1p-14 * std::sqrt(std::max(terms / kTermsAtOnce, 1.0));
}

/// u(added) sqrt(K + n) + c.
double SumRoundoff(const Problem& p, double nodes) {
  const bool wide =
      std::ranges::all_of(p.outputs, [](const abi::View& v) { return v.dtype == DType::kF64; });
  const double added = wide ? 0x1p-53 : 0x1p-24;
  return added * std::sqrt(std::max(ReductionLength(p), 1.0) + nodes) + CoreSumRoundoff(p);
}

}  // namespace

double TermFactor(const Problem& p) {
  bool floats = false;
  return 4 * SumRoundoff(p, ArithmeticNodes(p, &floats)) + 2 * MathRoundoff(p);
}

StepTolerance ToleranceOf(const Problem& p) {
  bool floats = CoreIsFloat(p) || ConvertsFloats(p);
  const double nodes = ArithmeticNodes(p, &floats);
  if (!floats) return {0, true};
  double stored = 0;
  for (const abi::View& v : p.outputs) stored = std::max(stored, UnitRoundoff(v.dtype));
  const double products = SumRoundoff(p, nodes) + 2 * MathRoundoff(p);
  return {2 * stored + kSafety * products + CoordinateError(p), false};
}

}  // namespace aicf::tools
