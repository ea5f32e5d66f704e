/// The ways to run a problem on a GPU: every candidate of every kernel of this project that takes
/// it.
#pragma once

#include <utility>
#include <vector>

#include "compiler/costs/cost_source.h"

namespace aicf::conformance {

inline std::vector<KernelOption> DeviceOptions(const abi::Problem& problem,
                                               const abi::DeviceSpec& device) {
  std::vector<KernelOption> options;
  for (const abi::KernelInfo& kernel : abi::KernelsOf(problem.family)) {
    if (kernel.backend != abi::Backend::kCuda || !kernel.supports(problem, device).empty())
      continue;
    for (abi::Candidate& c : abi::CandidatesOf(kernel, problem, device)) {
      options.push_back({&kernel, std::move(c)});
    }
  }
  return options;
}

}  // namespace aicf::conformance
