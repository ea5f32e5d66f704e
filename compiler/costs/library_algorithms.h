/// Where the compiler gets algorithms of vendor libraries from. The compiler itself knows no
/// library and no device: whoever calls it and has both hands in an implementation.
#pragma once

#include <cstdint>
#include <vector>

#include "base/status.h"
#include "kernels/abi/problem.h"

namespace aicf {

/// What a library step needs besides its problem.
struct LibraryAlgorithm {
  std::vector<uint8_t> bytes;    ///< opaque; meaningful to one version of the library
  uint64_t library_version = 0;  ///< the library's own number
  uint64_t workspace_bytes = 0;  ///< at most the kernel's workspace_bytes
};

class LibraryAlgorithms {
 public:
  virtual ~LibraryAlgorithms() = default;

  /// The algorithm for a problem that the kernel supports. It gives the same bits on every run, and
  /// equal problems get equal algorithms.
  /// Errors: one sentence saying why there is none and what helps. It refuses the kernel for this
  /// step and does not end the compilation.
  virtual Result<LibraryAlgorithm> For(const abi::Problem& problem) = 0;
};

}  // namespace aicf
