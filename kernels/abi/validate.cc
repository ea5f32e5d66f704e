// ValidateProblem, from first principles: what holds of every step. The rules of single families
// are in the files validate_*.cc, one CheckRules each.
#include <iterator>
#include <span>

#include "base/checked.h"
#include "kernels/abi/raw_dtype.h"
#include "kernels/abi/validate_rules.h"

namespace aicf::abi {
namespace {

Status CheckView(const Problem& p, std::string_view role, size_t i, const View& v) {
  if (!IsValid(v.dtype)) return Bad(p, role, " ", i, " has an unknown dtype");
  Result<Extent> extent = ExtentOf(v);
  if (!extent.ok()) return extent.status().WithContext(StrCat(role, " ", i));
  return OkStatus();
}

// Whether no two elements of an output share an address. The test is that, with axes sorted by
// |stride|, the stride of each axis is larger than the distance that all axes before it span. This
// is a sufficient condition, and every layout that the compiler makes meets it.
bool IsInjective(const View& v) {
  int64_t strides[kMaxRank], extents[kMaxRank];
  int count = 0;
  for (int i = 0; i < v.shape.rank(); ++i) {
    if (v.shape[i] == 0) return true;
    if (v.shape[i] == 1) continue;
    const int64_t stride = v.strides[i] < 0 ? -v.strides[i] : v.strides[i];
    int at = count++;
    for (; at > 0 && strides[at - 1] > stride; --at) {
      strides[at] = strides[at - 1];
      extents[at] = extents[at - 1];
    }
    strides[at] = stride;
    extents[at] = v.shape[i];
  }
  int64_t reach = 0;
  for (int i = 0; i < count; ++i) {
    if (strides[i] <= reach) return false;
    reach += strides[i] * (extents[i] - 1);
  }
  return true;
}

Status CheckFamily(const Problem& p) {
  switch (p.family) {
#define AICF_FAMILY(id, text, attrs, core, slots) \
  case Family::id:                                \
    return CheckRules<Family::id>(p);
#include "kernels/abi/family.def"
#undef AICF_FAMILY
  }
  return Bad(p, "unknown family");
}

Status CheckExpressions(const Problem& p) {
  const bool has_prologue = HasPrologue(p.family);
  if (!has_prologue && !HasHidden(p.family) && !p.prologue.empty()) {
    return Bad(p, "this family has no prologue");
  }
  if (!HasScore(p.family) && !p.score.empty()) return Bad(p, "this family has no score expression");
  if (has_prologue && (!p.prologue.empty() || !p.prologue.results.empty())) {
    InputDTypes operands;
    operands.Add(std::span(p.inputs).first(static_cast<size_t>(p.core_inputs)));
    AICF_RETURN_IF_ERROR(ValidateExpr(p.prologue, operands.all(), p.inputs[0].shape.rank()));
    if (p.prologue.results.size() > 1) return Bad(p, "a prologue has one result");
  }
  if (!HasEpilogue(p.family)) {
    return p.epilogue.empty() ? OkStatus() : Bad(p, "this family has no epilogue");
  }
  const bool elementwise = p.family == Family::kElementwise;
  InputDTypes inputs;
  const int raw = RawInputs(p);
  for (int i = 0; i < raw; ++i) inputs.Add(RawDType(p));
  inputs.Add(std::span(p.inputs).subspan(elementwise ? 0 : static_cast<size_t>(p.core_inputs)));
  AICF_RETURN_IF_ERROR(ValidateExpr(p.epilogue, inputs.all(), p.outputs[0].shape.rank()));
  const size_t results = p.epilogue.empty() ? 1 : p.epilogue.results.size();
  if (results != ResultCount(p))
    return Bad(p, results, " results for ", ResultCount(p), " outputs");
  for (size_t r = 0; r < results; ++r) {
    const DType value =
        p.epilogue.empty() ? inputs[0] : p.epilogue.nodes[p.epilogue.results[r]].dtype;
    if (ComputeDType(p.outputs[r].dtype) != value) {
      return Bad(p, "result ", r, " is ", DTypeName(value), " but its output is ",
                 DTypeName(p.outputs[r].dtype));
    }
  }
  return OkStatus();
}

Status CheckCounts(const Problem& p) {
  if (p.attrs.index() != static_cast<size_t>(p.family)) {
    return Error(Code::kBadArtifact, "step: attributes do not belong to the family");
  }
  if (p.math >= MathMode::kCount) return Bad(p, "unknown math mode");
  if (p.math == MathMode::kInt8 && p.family != Family::kBlockGemm) {
    return Bad(p, "math mode int8, which only products with blocks have");
  }
  const int core = CoreInputs(p.family) + (NormalizesRows(p) ? 1 : 0) +
                   (HasBlockScales(p) ? 2 : 0) + (ReadsParts(p) ? 1 : 0) + (StoresDraws(p) ? 2 : 0);
  const int inputs = static_cast<int>(p.inputs.size());
  if (p.core_inputs < 0 || p.core_inputs > inputs || (core >= 0 && p.core_inputs != core)) {
    return Bad(p, p.core_inputs, " core inputs of ", inputs, ", expected ", core);
  }
  if (p.outputs.empty() || p.outputs.size() > kMaxExprResults) {
    return Bad(p, p.outputs.size(), " outputs");
  }
  if (inputs > kMaxInputs) return Bad(p, inputs, " inputs, limit ", kMaxInputs);
  return OkStatus();
}

}  // namespace

Status ValidateProblem(const Problem& p) {
  AICF_RETURN_IF_ERROR(CheckCounts(p));
  for (size_t i = 0; i < p.inputs.size(); ++i) {
    AICF_RETURN_IF_ERROR(CheckView(p, "input", i, p.inputs[i]));
  }
  for (size_t i = 0; i < p.outputs.size(); ++i) {
    AICF_RETURN_IF_ERROR(CheckView(p, "output", i, p.outputs[i]));
    if (!IsInjective(p.outputs[i])) return Bad(p, "output ", i, " writes one address twice");
    if (HasEpilogue(p.family) && i < ResultCount(p) && p.outputs[i].shape != p.outputs[0].shape) {
      return Bad(p, "outputs have different shapes");
    }
  }
  AICF_RETURN_IF_ERROR(CheckFamily(p));
  for (size_t i = p.core_inputs; i < p.inputs.size() && HasEpilogue(p.family); ++i) {
    AICF_RETURN_IF_ERROR(CheckSameShape(p, p.inputs[i], p.outputs[0].shape, "an epilogue operand"));
  }
  return CheckExpressions(p);
}

}  // namespace aicf::abi
