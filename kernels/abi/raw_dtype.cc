#include "kernels/abi/raw_dtype.h"

namespace aicf::abi {
namespace {

bool IsNarrowInteger(DType d) { return IsInteger(d) && DTypeBytes(d) < 4; }

bool IsArg(const Problem& p) {
  if (p.family != Family::kReduce) return false;
  const ReduceKind kind = p.as<ReduceAttrs>().kind;
  return kind == ReduceKind::kArgMin || kind == ReduceKind::kArgMax;
}

}  // namespace

DType RawDType(const Problem& p) {
  if (IsArg(p)) return DType::kI64;
  if (p.family == Family::kDequantize || p.family == Family::kBlockGemm) return DType::kF32;
  if (!p.prologue.empty()) return p.prologue.nodes[p.prologue.results[0]].dtype;
  // A copy may have no inputs: then its output holds nothing but the fill value.
  const DType data = p.inputs.empty() ? p.outputs[0].dtype : p.inputs[0].dtype;
  const bool product = p.family == Family::kGemm || p.family == Family::kConv;
  return product && IsNarrowInteger(data) ? DType::kI32 : ComputeDType(data);
}

bool CanMultiply(DType a, DType b) { return a == b || (IsNarrowInteger(a) && IsNarrowInteger(b)); }

}  // namespace aicf::abi
