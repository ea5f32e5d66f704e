/// Host functions of the categorical kernels: what the rows of list.inc are made from.
#pragma once

#include <algorithm>

#include "kernels/cpu/categorical/categorical.h"
#include "kernels/cpu/categorical/scratch.h"
#include "kernels/cpu/common/host.h"

namespace aicf::cpu::categorical_hosts {

/// The table that draws are stored in may be updated in place.
struct DrawHost : CpuHostBase {
  static bool InPlace(const abi::Problem& p, int input) {
    return abi::StoresDraws(p) && input == static_cast<int>(abi::kDrawTable) &&
           SameElements(p, input);
  }
};

struct SelectHost : DrawHost {
  static constexpr double kFlopsShare = 0.05;
  static constexpr double kBytesShare = 0.2;
  static uint64_t Workspace(const abi::Problem& p, const abi::DeviceSpec&) {
    const Dims& x = p.inputs[0].shape;
    return static_cast<uint64_t>(std::min(x[0], kCategoricalPieces)) *
           CategoricalScratch(x[1]).bytes;
  }
};

struct ReferenceHost : DrawHost {
  static constexpr double kFlopsShare = 0.002;
  static constexpr double kBytesShare = 0.02;
};

}  // namespace aicf::cpu::categorical_hosts
