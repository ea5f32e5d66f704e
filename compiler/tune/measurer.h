/// The interface to what can time kernels. The compiler knows no device; tools/tune/ implements
/// this over CUDA and over this machine's CPU, tests over a simulated machine.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "compiler/costs/cost_source.h"
#include "compiler/costs/timing_cache.h"
#include "kernels/abi/kernel.h"

namespace aicf::tune {

/// One problem with the options to be timed on it. The pointers outlive their use.
struct BenchRequest {
  const abi::Problem* problem = nullptr;
  std::vector<KernelOption> options;
};

/// One problem's operands on the device, and its options ready to run on them. An option is named
/// by its place in the request.
class Bench {
 public:
  virtual ~Bench() = default;
  /// Empty, or why the kernel cannot be timed here (a library without an algorithm); it is left
  /// out.
  virtual std::string Refusal(size_t kernel) const = 0;
  /// Microseconds of one run of the kernel on operands that no cache holds. The first is as good as
  /// any: what a first run alone does (loading code) was done before. Errors: kDevice ends the
  /// tuning.
  virtual Result<double> Sample(size_t kernel) = 0;
  /// Of a library's kernel: what was timed.
  virtual LibraryAlgorithm Algorithm(size_t kernel) const = 0;
};

class Measurer {
 public:
  virtual ~Measurer() = default;

  /// The device that is measured on. Errors: kDevice when there is none for the target.
  virtual Result<DeviceId> Open(const abi::DeviceSpec& device) = 0;
  /// Timing::version of a time measured now; empty: this kernel cannot be timed here.
  virtual std::string VersionOf(const abi::KernelInfo& kernel) = 0;
  /// Does what takes long and can be done for many problems at once, such as compiling device code,
  /// for the benches that are made next. The requests outlive these benches.
  virtual Status Prepare(std::span<const BenchRequest> requests) = 0;
  /// The bench of requests[index] of the last Prepare. At most one lives at a time. Errors: kDevice
  /// ends the tuning; others (kResource: too large) leave the problem out.
  virtual Result<std::unique_ptr<Bench>> Make(size_t index) = 0;
  /// How many kernels to prepare at once so that all processors are busy.
  virtual int BatchSize() const = 0;
};

}  // namespace aicf::tune
