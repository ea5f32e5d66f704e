/// Host functions of the sample kernels: what the rows of list.inc are made from.
#pragma once

#include "kernels/cpu/common/host.h"
#include "kernels/cpu/sample/sample.h"

namespace aicf::cpu::sample_hosts {

struct TapsHost : CpuHostBase {
  static constexpr double kFlopsShare = 0.02;
  static constexpr double kBytesShare = 0.3;
  static std::string Refusal(const abi::Problem& p) {
    for (int k = 0; k < 2; ++k) {
      const DType dtype = p.inputs[static_cast<size_t>(k)].dtype;
      if (dtype != DType::kF32) return StrCat("samples f32 only, not ", DTypeName(dtype));
    }
    return abi::ElementsOf(p.inputs[0]) == 0 ? "needs an element to read" : "";
  }
};

struct ReferenceHost : CpuHostBase {
  static constexpr double kFlopsShare = 0.001;
  static constexpr double kBytesShare = 0.02;
};

}  // namespace aicf::cpu::sample_hosts
