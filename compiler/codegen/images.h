/// Device code for the steps of a plan: one cubin per distinct instance, compiled in parallel,
/// taken from the disk cache where it is there already.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "kernels/abi/kernel.h"

namespace aicf {

/// One step that runs a cuda.* kernel. The pointers outlive the call.
struct ImageRequest {
  const abi::KernelInfo* kernel;
  const abi::Problem* problem;
  abi::Variant variant;
};

struct ImageOptions {
  /// "": $XDG_CACHE_HOME/aicf or ~/.cache/aicf; "none": no cache. One that cannot be written is not
  /// used.
  std::string cache_dir;
  int threads = 0;  ///< compilations at a time; 0: the cores of this machine
  /// Called with ("compiling kernels", done, total) as instances finish; calls never overlap.
  std::function<void(std::string_view phase, int done, int total)> progress;
};

struct CompiledImage {
  std::string symbol;    ///< the one function in it: abi::InstanceSymbol(key, problem, variant)
  std::string arch;      ///< "sm_90a"
  std::string compiler;  ///< "nvrtc 13.0"
  std::vector<std::byte> cubin;
};

struct CompiledImages {
  std::vector<CompiledImage> images;  ///< in order of first use
  std::vector<uint32_t> image_of;     ///< parallel to the requests: index into images
  int from_cache = 0;                 ///< of `images`, for reports and tests
};

/// Compiles every request's instance; equal instances share one image.
/// Without a request nothing is opened. Errors: kDevice when NVRTC is needed and missing, naming
/// what to install; kUnsupported when it is too old; kInternal with the compiler's log when a
/// source does not compile.
Result<CompiledImages> CompileImages(std::span<const ImageRequest> requests,
                                     const abi::DeviceSpec& device, const ImageOptions& options);

/// The function that reads guards on the device (kernels/cuda/control/guard.cuh). Errors as above.
Result<CompiledImage> CompileGuardImage(const abi::DeviceSpec& device, const ImageOptions& options);

}  // namespace aicf
