/// What the sessions of one program on one device share: weights in device memory, loaded code, and
/// the vendor library where the artifact names it. Immutable.
#pragma once

#include <memory>

#include "aicf/aicf.h"
#include "base/status.h"
#include "runtime/cuda/cublaslt.h"
#include "runtime/cuda/modules.h"

namespace aicf::cuda {

class DeviceProgram {
 public:
  /// The shared instance; made on first use and freed with its last session. Creations wait for
  /// each other, so that weights are uploaded once. Thread safety: any thread. Errors: those of
  /// Device::Retain, Modules::Load and CublasLt::Open; kResource for the weights.
  static Result<std::shared_ptr<const DeviceProgram>> Acquire(
      std::shared_ptr<const Program> program, Driver& driver, int ordinal);

  const std::shared_ptr<const Device>& device() const { return device_; }
  const schema::Program& plan() const { return program_->artifact().program(); }
  CUdeviceptr weights() const { return weights_.get(); }
  const Modules& modules() const { return modules_; }
  /// nullptr when no step needs it.
  const CublasLt* cublaslt() const { return cublaslt_.get(); }

 private:
  DeviceProgram() = default;
  static Result<std::shared_ptr<const DeviceProgram>> Load(std::shared_ptr<const Program> program,
                                                           Driver& driver, int ordinal);
  Status UploadWeights();

  std::shared_ptr<const Program> program_;
  std::shared_ptr<const Device> device_;
  DeviceMemory weights_;
  Modules modules_;
  std::unique_ptr<CublasLt> cublaslt_;
};

}  // namespace aicf::cuda
