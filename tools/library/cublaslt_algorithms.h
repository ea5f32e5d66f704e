/// Where the compiler gets cuBLASLt algorithms from: this machine's GPU and library.
#pragma once

#include <memory>
#include <optional>

#include "compiler/costs/library_algorithms.h"
#include "kernels/abi/kernel.h"
#include "runtime/cuda/cublaslt.h"
#include "runtime/cuda/device.h"

namespace aicf::tools {

/// The driver and the library are opened at the first call of For, so that an object costs nothing
/// where no step needs it.
/// Not thread-safe.
class CublasLtAlgorithms final : public LibraryAlgorithms {
 public:
  /// `target` is the device that is compiled for. The library is asked on the first GPU of this
  /// machine that has exactly its architecture.
  explicit CublasLtAlgorithms(const abi::DeviceSpec& target) : sm_(target.sm) {}
  ~CublasLtAlgorithms() override;

  /// Errors: kDevice, saying what helps, when the driver, a GPU of the architecture or the library
  /// is missing; kUnsupported when the library has no algorithm for the problem.
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
