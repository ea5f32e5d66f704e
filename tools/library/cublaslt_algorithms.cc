#include "tools/library/cublaslt_algorithms.h"

#include <string>

#include "kernels/cuda/gemm/matmul_layout.h"
#include "tools/library/cublaslt_heuristic.h"

namespace aicf::tools {

CublasLtAlgorithms::~CublasLtAlgorithms() = default;

Status CublasLtAlgorithms::FindDevice(cuda::Driver& driver) {
  int count = 0;
  AICF_CUDA_CHECK(driver, "counting CUDA devices", driver.DeviceGetCount(&count));
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    AICF_ASSIGN_OR_RETURN(device_, cuda::Device::Retain(driver, ordinal));
    if (device_->limits().capability == sm_) return OkStatus();
  }
  device_ = nullptr;
  return Error(Code::kDevice, "none of this machine's ", count, " CUDA devices is an sm_", sm_);
}

Status CublasLtAlgorithms::Open() {
  const Result<cuda::Driver*> driver = cuda::Driver::Get();
  if (!driver.ok()) {
    // What follows the first clause is advice about running, not about compiling.
    const std::string& message = driver.status().message();
    return Status(driver.status().code(), message.substr(0, message.find("; ")));
  }
  AICF_RETURN_IF_ERROR(FindDevice(**driver));
  const cuda::ContextScope scope(*device_);
  AICF_RETURN_IF_ERROR(scope.status());
  AICF_ASSIGN_OR_RETURN(lt_, cuda::CublasLt::Open(device_));
  return OkStatus();
}

Result<LibraryAlgorithm> CublasLtAlgorithms::For(const abi::Problem& problem) {
  if (!opened_) opened_ = Open();
  if (!opened_->ok()) {
    return Error(opened_->code(), opened_->message(), "; compile on a machine with an sm_", sm_,
                 " GPU and cuBLAS 13");
  }
  AICF_ASSIGN_OR_RETURN(const cuda::MatmulLayout layout, cuda::DescribeMatmul(problem));
  const cuda::ContextScope scope(*device_);
  AICF_RETURN_IF_ERROR(scope.status());
  return ChooseAlgorithm(*lt_, layout);
}

}  // namespace aicf::tools
