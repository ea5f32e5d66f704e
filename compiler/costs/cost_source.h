/// Where the choice of kernels gets its numbers from. The compiler itself knows no device: who has
/// measurements, or a device to measure on, hands in an implementation
/// (compiler/costs/cached_costs.h).
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "compiler/costs/library_algorithms.h"
#include "kernels/abi/choice.h"

namespace aicf {

/// One way to run a step: a kernel with one of its candidates. The pointer outlives every use.
struct KernelOption {
  const abi::KernelInfo* kernel = nullptr;
  abi::Candidate candidate;

  bool IsLibrary() const { return kernel->backend == abi::Backend::kLibrary; }

  /// What timing caches and messages call it: a kernel that gains a parameter keeps its times.
  std::string Name() const {
    return abi::VariantName(kernel->key,
                            abi::Shortened(candidate.variant.parameters, kernel->parameters));
  }
};

/// One step whose kernel is to be chosen. The pointers outlive the call.
struct CostQuestion {
  std::string subject;  ///< "step 12 [Conv_3]"
  const abi::Problem* problem = nullptr;
  /// What can run the step, in order of preference; a library's kernels too where the policy does
  /// not name them: they are measured to be compared with, and never chosen for their time.
  std::vector<KernelOption> options;
  bool open = true;  ///< false: the policy has decided, whatever the times say
};

struct KernelCost {
  double predicted_us = -1;
  double measured_us = -1;  ///< -1: not measured
  double spread_us = 0;     ///< of the measured time: differences within it are noise
};

class CostSource {
 public:
  virtual ~CostSource() = default;

  /// All steps of one program, before the first question about it: what measures, measures here.
  /// Errors: end the compilation.
  virtual Status Prepare(std::span<const CostQuestion> questions,
                         const abi::DeviceSpec& device) = 0;
  /// Costs of the question's options, in their order.
  virtual std::vector<KernelCost> CostsOf(const CostQuestion& question,
                                          const abi::DeviceSpec& device) = 0;
  /// A library's algorithm that was recorded when the problem was measured.
  virtual std::optional<LibraryAlgorithm> AlgorithmOf(const abi::Problem& problem,
                                                      const abi::KernelInfo& kernel,
                                                      const abi::DeviceSpec& device) = 0;
  /// What the answers so far relied on, as a timing cache's text without problems: given back
  /// through tune::CachedCosts::FromUsed, it makes every answer again. Empty when nothing was
  /// measured.
  virtual std::string UsedTimings() const = 0;
};

}  // namespace aicf
