/// The host class of a family whose only CPU kernel is its reference.
#pragma once

#include "kernels/cpu/common/host.h"

namespace aicf::cpu {

struct ReferenceOnlyHost : CpuHostBase {
  static constexpr double kFlopsShare = 0.002;
  static constexpr double kBytesShare = 0.02;
};

}  // namespace aicf::cpu
