/// Host functions of the roi kernels: what the rows of list.inc are made from.
#pragma once

#include "kernels/cpu/common/host.h"
#include "kernels/cpu/roi/roi.h"

namespace aicf::cpu::roi_hosts {

struct AlignHost : CpuHostBase {
  static constexpr double kFlopsShare = 0.05;
  static constexpr double kBytesShare = 0.4;
  static std::string Refusal(const abi::Problem& p) {
    if (p.as<abi::RoiAttrs>().kind != abi::RoiKind::kAlignAverage) return "averages only";
    if (p.inputs[0].dtype != DType::kF32 || p.inputs[1].dtype == DType::kF64) {
      return "needs x of f32 and boxes of at most 32 bits";
    }
    return {};
  }
};

struct ReferenceHost : CpuHostBase {
  static constexpr double kFlopsShare = 0.001;
  static constexpr double kBytesShare = 0.02;
};

}  // namespace aicf::cpu::roi_hosts
