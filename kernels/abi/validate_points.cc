// The rules of the families that compute every result from its own point, line or window of values.
#include "base/checked.h"
#include "kernels/abi/validate_rules.h"

namespace aicf::abi {
namespace {

Status CheckAxes(const Problem& p, const Dims& axes, int rank) {
  for (int i = 0; i < axes.rank(); ++i) {
    if (axes[i] < 0 || axes[i] >= rank) return Bad(p, "axis ", axes[i], " outside rank ", rank);
    if (i > 0 && axes[i] <= axes[i - 1])
      return Bad(p, "axes ", ToListString(axes), " not ascending");
  }
  return OkStatus();
}

Dims ReducedShape(const Dims& shape, const Dims& axes) {
  Dims out = shape;
  for (int64_t a : axes) out[static_cast<int>(a)] = 1;
  return out;
}

Status CheckCoreShapes(const Problem& p) {
  if (p.core_inputs < 1) return Bad(p, "needs a core input");
  for (int i = 1; i < p.core_inputs; ++i) {
    AICF_RETURN_IF_ERROR(CheckSameShape(p, p.inputs[i], p.inputs[0].shape, "a core input"));
  }
  if (p.prologue.empty() && p.core_inputs != 1)
    return Bad(p, "several core inputs need a prologue");
  return OkStatus();
}

}  // namespace

template <>
Status CheckRules<Family::kElementwise>(const Problem& p) {
  if (p.core_inputs != static_cast<int>(p.inputs.size()))
    return Bad(p, "every input is a core input");
  if (p.epilogue.empty()) return Bad(p, "needs an expression");
  for (const View& v : p.inputs) {
    AICF_RETURN_IF_ERROR(CheckSameShape(p, v, p.outputs[0].shape, "an input"));
  }
  return OkStatus();
}

template <>
Status CheckRules<Family::kCopy>(const Problem& p) {
  const auto& a = p.as<CopyAttrs>();
  const View& out = p.outputs[0];
  if (a.starts.size() != p.inputs.size() || p.extra_inputs() != 0) {
    return Bad(p, a.starts.size(), " starts for ", p.inputs.size(), " pieces");
  }
  const bool converts = !p.epilogue.empty();
  if (converts && p.inputs.empty()) return Bad(p, "an epilogue without a piece");
  const DType dtype = converts ? p.inputs[0].dtype : out.dtype;
  const std::string_view of = converts ? "the first" : "the output";
  int64_t covered = 0;
  for (size_t i = 0; i < p.inputs.size(); ++i) {
    const View& in = p.inputs[i];
    if (in.dtype != dtype) return Bad(p, "piece ", i, " has another dtype than ", of);
    if (in.shape.rank() != out.shape.rank() || a.starts[i].rank() != out.shape.rank()) {
      return Bad(p, "piece ", i, " has another rank than the output");
    }
    for (int d = 0; d < out.shape.rank(); ++d) {
      // InRange takes a negative start as a huge one, and so refuses it.
      if (!InRange(a.starts[i][d], in.shape[d], out.shape[d])) {
        return Bad(p, "piece ", i, " leaves the output along axis ", d);
      }
    }
    if (!CheckedAdd(covered, ElementsOf(in), &covered)) return Bad(p, "pieces overflow");
  }
  for (size_t i = 0; i < p.inputs.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      bool apart = ElementsOf(p.inputs[i]) == 0 || ElementsOf(p.inputs[j]) == 0;
      for (int d = 0; d < out.shape.rank(); ++d) {
        apart |= a.starts[i][d] + p.inputs[i].shape[d] <= a.starts[j][d] ||
                 a.starts[j][d] + p.inputs[j].shape[d] <= a.starts[i][d];
      }
      if (!apart) return Bad(p, "pieces ", j, " and ", i, " overlap");
    }
  }
  if (!a.has_fill && covered != ElementsOf(out)) {
    return Bad(p, "pieces cover ", covered, " of ", ElementsOf(out), " elements without a fill");
  }
  // Any fill is legal for floats: masks, for one, use infinities.
  return IsFloat(dtype) ? OkStatus() : CheckReal(p, "fill", a.fill, kIntegerFill);
}

template <>
Status CheckRules<Family::kReduce>(const Problem& p) {
  AICF_RETURN_IF_ERROR(CheckCoreShapes(p));
  const auto& a = p.as<ReduceAttrs>();
  if (a.kind >= ReduceKind::kCount) return Bad(p, "unknown kind");
  const Dims& domain = p.inputs[0].shape;
  AICF_RETURN_IF_ERROR(CheckAxes(p, a.axes, domain.rank()));
  const bool arg = a.kind == ReduceKind::kArgMin || a.kind == ReduceKind::kArgMax;
  if (arg && a.axes.rank() != 1) return Bad(p, "argmin and argmax reduce one axis");
  if (arg) {
    if (domain[static_cast<int>(a.axes[0])] == 0 &&
        *ElementCount(ReducedShape(domain, a.axes)) != 0) {
      return Bad(p, "argmin and argmax of nothing");
    }
  }
  return CheckSameShape(p, p.outputs[0], ReducedShape(domain, a.axes), "the output");
}

template <>
Status CheckRules<Family::kNormalize>(const Problem& p) {
  AICF_RETURN_IF_ERROR(CheckCoreShapes(p));
  const auto& a = p.as<NormalizeAttrs>();
  if (a.kind >= NormalizeKind::kCount) return Bad(p, "unknown kind");
  if (a.axes.empty()) return Bad(p, "needs an axis");
  AICF_RETURN_IF_ERROR(CheckAxes(p, a.axes, p.inputs[0].shape.rank()));
  AICF_RETURN_IF_ERROR(CheckReal(p, "epsilon", a.epsilon, kFiniteReal));
  return CheckSameShape(p, p.outputs[0], p.inputs[0].shape, "the output");
}

template <>
Status CheckRules<Family::kResize>(const Problem& p) {
  const auto& a = p.as<ResizeAttrs>();
  const Dims &x = p.inputs[0].shape, &y = p.outputs[0].shape;
  if (a.mode >= ResizeMode::kCount || a.coordinates >= CoordinateMode::kCount ||
      a.nearest >= NearestMode::kCount) {
    return Bad(p, "unknown mode");
  }
  if (x.rank() != y.rank() || static_cast<int>(a.scales.size()) != x.rank()) {
    return Bad(p, "ranks of x, output and scales differ");
  }
  for (int d = 0; d < x.rank(); ++d) {
    AICF_RETURN_IF_ERROR(CheckReal(p, "scale", a.scales[static_cast<size_t>(d)], kResizeScale));
    if (x[d] == 0 && y[d] != 0) return Bad(p, "resizes nothing along axis ", d);
  }
  return CheckReal(p, "cubic coefficient", a.cubic_a, kFiniteReal);
}

template <>
Status CheckRules<Family::kTopK>(const Problem& p) {
  const auto& a = p.as<TopKAttrs>();
  if (p.outputs.size() != 2) return Bad(p, "needs two outputs");
  Dims expected = p.inputs[0].shape;
  if (a.axis < 0 || a.axis >= expected.rank()) return Bad(p, "axis ", a.axis);
  if (a.k < 0 || a.k > expected[static_cast<int>(a.axis)])
    return Bad(p, "k ", a.k, " above the extent");
  expected[static_cast<int>(a.axis)] = a.k;
  if (p.outputs[0].dtype != p.inputs[0].dtype) return Bad(p, "values have another dtype than x");
  if (p.outputs[1].dtype != DType::kI64) return Bad(p, "indices are not i64");
  AICF_RETURN_IF_ERROR(CheckSameShape(p, p.outputs[0], expected, "the first output"));
  return CheckSameShape(p, p.outputs[1], expected, "the second output");
}

}  // namespace aicf::abi
