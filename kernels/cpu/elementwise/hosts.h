/// Host functions of the elementwise kernels: what the rows of list.inc are made from.
#pragma once

#include "kernels/cpu/common/host.h"
#include "kernels/cpu/elementwise/elementwise.h"

namespace aicf::cpu::elementwise_hosts {

struct VectorHost : CpuHostBase {
  /// Every input of a point is read before the point is written.
  static bool InPlace(const abi::Problem& p, int input) { return SameElements(p, input); }
};

struct ReferenceHost : VectorHost {
  static constexpr double kFlopsShare = 0.002;
  static constexpr double kBytesShare = 0.02;
};

}  // namespace aicf::cpu::elementwise_hosts
