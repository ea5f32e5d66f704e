// Random problems of the recurrent family: every cell, direction, activation and option.
#include "kernels/abi/recurrent.h"
#include "tests/conformance/case_maker.h"

namespace aicf::conformance {
namespace {

abi::RecurrentAttrs RandomCell(Random& random) {
  abi::RecurrentAttrs a;
  a.cell = static_cast<abi::CellKind>(random.Int(0, 2));
  a.direction = static_cast<abi::Direction>(random.Int(0, 2));
  const int directions = a.direction == abi::Direction::kBidirectional ? 2 : 1;
  const bool usual = random.OneIn(2);
  for (int i = 0; i < directions * abi::ActivationsOf(a.cell); ++i) {
    const auto last = static_cast<int64_t>(abi::CellActivation::kCount) - 1;
    const int64_t sigmoid_first = i % abi::ActivationsOf(a.cell) == 0 ? 1 : 0;
    a.activations.push_back(usual ? sigmoid_first : random.Int(0, last));
    a.alpha.push_back(random.Real(0.1, 0.9));
    a.beta.push_back(random.Real(0.1, 0.5));
  }
  const bool lstm = a.cell == abi::CellKind::kLstm;
  if (random.OneIn(3)) a.clip = random.Real(0.2, 1.5);
  a.linear_before_reset = a.cell == abi::CellKind::kGru && random.OneIn(2);
  a.input_forget = lstm && random.OneIn(3);
  a.peepholes = lstm && random.OneIn(2);
  a.lengths = random.OneIn(3);
  return a;
}

}  // namespace

template <>
void CaseMaker::Fresh<abi::Family::kRecurrent>() {
  const abi::RecurrentAttrs a = RandomCell(random_);
  p_.attrs = a;
  const DType dtype = random_.Pick(kFloatDType);
  const int64_t d = a.direction == abi::Direction::kBidirectional ? 2 : 1;
  const int64_t t = random_.Int(0, 5), b = random_.Int(1, random_.OneIn(4) ? 20 : 3);
  // Some hidden sizes are so large that several blocks share the units.
  const int64_t h = random_.OneIn(3) ? random_.Int(65, 170) : random_.Int(1, 40);
  const int64_t width = abi::GatesOf(a.cell) * h;
  p_.inputs = {In(dtype, {t, d, b, width}), In(dtype, {d, width, h}), In(dtype, {d, b, h})};
  if (a.cell == abi::CellKind::kLstm) p_.inputs.push_back(In(dtype, {d, b, h}));
  if (a.peepholes) p_.inputs.push_back(In(dtype, {d, 3 * h}));
  if (a.linear_before_reset) p_.inputs.push_back(In(dtype, {d, h}));
  if (a.lengths) p_.inputs.push_back(In(DType::kI32, {b}));
  p_.core_inputs = static_cast<int>(p_.inputs.size());
  p_.outputs = {Out(dtype, {t, d, b, h}), Out(dtype, {d, b, h})};
  if (a.cell == abi::CellKind::kLstm) p_.outputs.push_back(Out(dtype, {d, b, h}));
  Fill();
  // Weights are so small that unbounded activations do not make the states grow from step to step.
  for (size_t k = 0; k < p_.inputs.size(); ++k) FillSteps(k, -16, 16, k == 1 ? 16 * h : 16);
  if (a.lengths) FillSteps(p_.inputs.size() - 1, -1, t + 1);
  case_.tolerance = {64, dtype == DType::kF64 ? 1e-12 : 2e-5};
}

}  // namespace aicf::conformance
