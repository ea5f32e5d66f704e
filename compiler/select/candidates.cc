#include "compiler/select/candidates.h"

namespace aicf {

const std::vector<abi::Candidate>& ProblemCandidates::Of(const abi::KernelInfo& kernel) {
  const auto known = by_kernel_.find(&kernel);
  if (known != by_kernel_.end()) return known->second;
  return by_kernel_.emplace(&kernel, abi::CandidatesOf(kernel, problem_, device_)).first->second;
}

ProblemCandidates& Candidates::For(const abi::Problem& problem) {
  return by_problem_.try_emplace(ToString(problem), problem, device_).first->second;
}

}  // namespace aicf
