#include "kernels/cpu/recurrent/activation.h"

#include <algorithm>
#include <cmath>

#include "kernels/abi/recurrent.h"

namespace aicf::cpu {

CellFunction CellFunctionOf(const abi::RecurrentAttrs& attrs, int64_t d, int index) {
  const int64_t at = d * abi::ActivationsOf(attrs.cell) + index;
  return {static_cast<abi::CellActivation>(attrs.activations[static_cast<int>(at)]),
          attrs.alpha[static_cast<size_t>(at)], attrs.beta[static_cast<size_t>(at)]};
}

double ApplyCellFunction(const CellFunction& f, double x) {
  using enum abi::CellActivation;
  if (std::isnan(x)) return x;
  switch (f.kind) {
    case kTanh:
      return std::tanh(x);
    case kSigmoid:
      return 1 / (1 + std::exp(-x));
    case kRelu:
      return std::max(x, 0.0);
    case kAffine:
      return f.alpha * x + f.beta;
    case kLeakyRelu:
      return x < 0 ? f.alpha * x : x;
    case kThresholdedRelu:
      return x > f.alpha ? x : 0;
    case kScaledTanh:
      return f.alpha * std::tanh(f.beta * x);
    case kHardSigmoid:
      return std::clamp(f.alpha * x + f.beta, 0.0, 1.0);
    case kElu:
      return x < 0 ? f.alpha * std::expm1(x) : x;
    case kSoftsign:
      return std::isinf(x) ? std::copysign(1.0, x) : x / (1 + std::fabs(x));
    case kSoftplus:
      return std::max(x, 0.0) + std::log1p(std::exp(-std::fabs(x)));
    case kCount:
      break;
  }
  return x;
}

}  // namespace aicf::cpu
