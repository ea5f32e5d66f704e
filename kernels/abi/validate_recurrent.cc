// Rules of the recurrent family.
#include "kernels/abi/validate_rules.h"

namespace aicf::abi {
namespace {

int GatesOf(CellKind cell) { return cell == CellKind::kRnn ? 1 : cell == CellKind::kGru ? 3 : 4; }

Status CheckActivations(const Problem& p, int64_t directions) {
  const auto& a = p.as<RecurrentAttrs>();
  const int per = a.cell == CellKind::kRnn ? 1 : a.cell == CellKind::kGru ? 2 : 3;
  const auto expected = static_cast<size_t>(per * directions);
  if (static_cast<size_t>(a.activations.rank()) != expected || a.alpha.size() != expected ||
      a.beta.size() != expected) {
    return Bad(p, "expected ", expected, " activations with their alpha and beta");
  }
  for (int64_t v : a.activations) {
    if (v < 0 || v >= static_cast<int64_t>(CellActivation::kCount)) {
      return Bad(p, "unknown activation ", v);
    }
  }
  for (size_t i = 0; i < expected; ++i) {
    AICF_RETURN_IF_ERROR(CheckReal(p, "alpha", a.alpha[i], kFiniteReal));
    AICF_RETURN_IF_ERROR(CheckReal(p, "beta", a.beta[i], kFiniteReal));
  }
  return OkStatus();
}

}  // namespace

template <>
Status CheckRules<Family::kRecurrent>(const Problem& p) {
  const auto& a = p.as<RecurrentAttrs>();
  if (a.cell >= CellKind::kCount || a.direction >= Direction::kCount) return Bad(p, "unknown kind");
  AICF_RETURN_IF_ERROR(CheckReal(p, "clip", a.clip, {0, kFiniteReal.high}));
  const bool lstm = a.cell == CellKind::kLstm;
  if ((a.peepholes || a.input_forget) && !lstm) return Bad(p, "only an LSTM has peepholes");
  const int64_t directions = a.direction == Direction::kBidirectional ? 2 : 1;
  AICF_RETURN_IF_ERROR(CheckActivations(p, directions));
  const bool bias = a.cell == CellKind::kGru && a.linear_before_reset;
  const size_t inputs =
      3 + (lstm ? 1 : 0) + (a.peepholes ? 1 : 0) + (bias ? 1 : 0) + (a.lengths ? 1 : 0);
  if (p.inputs.size() != inputs || p.core_inputs != static_cast<int>(inputs)) {
    return Bad(p, p.inputs.size(), " operands, expected ", inputs);
  }
  if (p.outputs.size() != (lstm ? 3u : 2u)) return Bad(p, p.outputs.size(), " outputs");
  const Dims &gates = p.inputs[0].shape, &r = p.inputs[1].shape;
  if (gates.rank() != 4 || r.rank() != 3) return Bad(p, "expects gates of rank 4 and R of rank 3");
  const int64_t steps = gates[0], batch = gates[2], hidden = r[2];
  const int64_t width = GatesOf(a.cell) * hidden;
  if (gates[1] != directions || gates[3] != width) {
    return Bad(p, "gates ", ToString(gates), " do not fit ", directions, " directions of ", width);
  }
  AICF_RETURN_IF_ERROR(CheckSameShape(p, p.inputs[1], {directions, width, hidden}, "R"));
  const Dims state = {directions, batch, hidden};
  size_t next = 2;
  AICF_RETURN_IF_ERROR(CheckSameShape(p, p.inputs[next++], state, "h0"));
  if (lstm) AICF_RETURN_IF_ERROR(CheckSameShape(p, p.inputs[next++], state, "c0"));
  if (a.peepholes) {
    AICF_RETURN_IF_ERROR(CheckSameShape(p, p.inputs[next++], {directions, 3 * hidden}, "P"));
  }
  if (bias) {
    AICF_RETURN_IF_ERROR(CheckSameShape(p, p.inputs[next++], {directions, hidden}, "Rb_h"));
  }
  const size_t floats = next;
  if (a.lengths) {
    if (p.inputs[next].dtype != DType::kI32) return Bad(p, "lengths are not i32");
    AICF_RETURN_IF_ERROR(CheckSameShape(p, p.inputs[next], {batch}, "lengths"));
  }
  const DType dtype = p.inputs[0].dtype;
  if (!IsFloat(dtype) || IsStorageOnly(dtype)) return Bad(p, "computes floats only");
  for (size_t i = 0; i < floats; ++i) {
    if (p.inputs[i].dtype != dtype) return Bad(p, "operands differ in dtype");
  }
  for (const View& v : p.outputs) {
    if (v.dtype != dtype) return Bad(p, "an output's dtype is not the operands'");
  }
  AICF_RETURN_IF_ERROR(
      CheckSameShape(p, p.outputs[0], {steps, directions, batch, hidden}, "the first output"));
  for (size_t i = 1; i < p.outputs.size(); ++i) {
    AICF_RETURN_IF_ERROR(CheckSameShape(p, p.outputs[i], state, "a final state"));
  }
  return OkStatus();
}

}  // namespace aicf::abi
