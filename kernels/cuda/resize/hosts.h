/// What is legal for the resize kernels.
#pragma once

#include "kernels/cuda/common/map_host.h"

namespace aicf::cuda {

struct ResizeTapsHost : PointHostBase {
  static constexpr std::string_view kKey = "cuda.resize.taps";
  static constexpr std::string_view kSource = "resize/taps.cuh";
};

}  // namespace aicf::cuda
