/// The compiler's source of cuBLASLt algorithms: this machine's GPU and library.
#pragma once

#include <memory>
#include <optional>

#include "compiler/costs/library_algorithms.h"
#include "kernels/abi/kernel.h"
#include "runtime/cuda/cublaslt.h"
#include "runtime/cuda/device.h"

namespace aicf::tools {

/// Opens nothing before the first question, so that it costs nothing where no step needs it.
/// Not thread-safe.
class CublasLtAlgorithms final : public LibraryAlgorithms {
 public:
  /// `target`: what is compiled for; asks the first GPU of exactly its architecture.
  explicit CublasLtAlgorithms(const abi::DeviceSpec& target) : sm_(target.sm) {}
  ~CublasLtAlgorithms() override;

  /// Errors: kDevice without driver, GPU of the architecture or library, saying what helps;
  /// kUnsupported when the library has no algorithm for the problem.
  Result<LibraryAlgorithm> For(const abi::Problem& problem) override;

 private:
  Status Open();
  Status FindDevice(cuda::Driver& driver);

  const int sm_;
  std::optional<Status> opened_;
  std::shared_ptr<const cuda::Device> device_;
  std::unique_ptr<cuda::CublasLt> lt_;
};

}  // namespace aicf::tools
