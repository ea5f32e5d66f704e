#include <numeric>

#include "kernels/cuda/conv/hosts.h"

namespace aicf::cuda {

std::string RefuseConvTiles(const abi::Problem& p) {
  const auto& a = p.as<abi::ConvAttrs>();
  for (int d = 0; a.transposed && d < a.strides.rank(); ++d) {
    if (a.strides[d] > 16) return "the stride of a transposed convolution is above 16";
    if (std::gcd(a.strides[d], a.dilations[d]) != 1) {
      return "stride and dilation of a transposed convolution have a common divisor";
    }
  }
  return {};
}

}  // namespace aicf::cuda
