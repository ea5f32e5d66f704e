/// Runs CUDA instances on a machine without a GPU: the host's C++ compiler compiles the instance's
/// own text, and its threads run as fibers. This is slow but exact: barriers, shuffles, tensor-core
/// products and clusters behave as specified. Timing and the weak memory model are not emulated.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "kernels/abi/kernel.h"
#include "tests/conformance/cases.h"
#include "tests/conformance/compare.h"

namespace aicf::conformance {

/// Whether this machine has the C++ compiler (c++) that makes programs of instances.
bool CanEmulate();

class EmulatedKernel {
 public:
  /// Compiles the instance. Errors: kDevice when there is no C++ compiler; kInternal with its
  /// output.
  static Result<std::unique_ptr<EmulatedKernel>> Make(const abi::KernelInfo& kernel,
                                                      const abi::Problem& problem,
                                                      const abi::Variant& variant);
  ~EmulatedKernel();
  EmulatedKernel(const EmulatedKernel&) = delete;
  EmulatedKernel& operator=(const EmulatedKernel&) = delete;

  /// Runs the whole grid. `buffers`: inputs, then outputs, 256-byte aligned; the workspace is made
  /// here. Errors: kInternal when threads wait for each other forever.
  Status Run(const std::vector<void*>& buffers);

 private:
  EmulatedKernel() = default;
  void* library_ = nullptr;
  void* entry_ = nullptr;
  void* set_ = nullptr;
  abi::Variant variant_;
};

/// The case's buffers after the kernel ran on a copy of them. Errors: those of EmulatedKernel.
Result<Buffers> EmulatedBuffers(const abi::KernelInfo& kernel, const Case& c,
                                const abi::Variant& variant);

}  // namespace aicf::conformance
