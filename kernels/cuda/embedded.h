/// The text of every device source under kernels/cuda/, embedded at build time for NVRTC.
#pragma once

#include <span>
#include <string_view>

namespace aicf::cuda {

struct EmbeddedSource {
  std::string_view name;  ///< path below kernels/cuda/, as an include names it: "conv/direct.cuh"
  std::string_view text;
};

/// Sorted by name.
std::span<const EmbeddedSource> EmbeddedSources();

}  // namespace aicf::cuda
