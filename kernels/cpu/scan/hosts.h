/// Host functions of the scan kernels: what the rows of list.inc are made from.
#pragma once

#include "kernels/cpu/common/host.h"
#include "kernels/cpu/scan/scan.h"

namespace aicf::cpu::scan_hosts {

/// An element is read just before it is overwritten, and never again.
struct ScanHost : CpuHostBase {
  static bool InPlace(const abi::Problem& p, int input) {
    return input == 0 && SameElements(p, input);
  }
};

struct DenseHost : ScanHost {
  static constexpr double kFlopsShare = 0.05;
  static constexpr double kBytesShare = 0.4;
  static std::string Refusal(const abi::Problem& p) {
    const DType dtype = p.inputs[0].dtype;
    if (dtype != DType::kF32 && dtype != DType::kF64 && dtype != DType::kI32 &&
        dtype != DType::kI64) {
      return StrCat("does not add ", DTypeName(dtype));
    }
    if (!IsDense(p.inputs[0]) || !IsDense(p.outputs[0])) return "needs x and output dense";
    return {};
  }
};

struct ReferenceHost : ScanHost {
  static constexpr double kFlopsShare = 0.002;
  static constexpr double kBytesShare = 0.02;
};

}  // namespace aicf::cpu::scan_hosts
