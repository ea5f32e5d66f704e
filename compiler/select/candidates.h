/// What the kernels of a device offer for a program's problems, found once for each.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "kernels/abi/choice.h"

namespace aicf {

/// What every kernel offers for one problem.
class ProblemCandidates {
 public:
  ProblemCandidates(abi::Problem problem, const abi::DeviceSpec& device)
      : problem_(std::move(problem)), device_(device) {}

  /// abi::CandidatesOf the kernel; valid as long as this object.
  /// REQUIRES: the kernel supports the problem.
  const std::vector<abi::Candidate>& Of(const abi::KernelInfo& kernel);

 private:
  abi::Problem problem_;
  const abi::DeviceSpec& device_;
  std::map<const abi::KernelInfo*, std::vector<abi::Candidate>> by_kernel_;
};

/// The candidates of all problems of a program. Networks repeat their layers, and a step is asked
/// about several times (which kernels can run it, at what cost, at what cost in another precision),
/// while finding what is worth choosing of one kernel means weighing hundreds of parameter sets.
/// Not thread-safe. The device must outlive it.
class Candidates {
 public:
  explicit Candidates(const abi::DeviceSpec& device) : device_(device) {}

  /// Valid as long as this object; equal problems have the same.
  ProblemCandidates& For(const abi::Problem& problem);

  const abi::DeviceSpec& device() const { return device_; }

 private:
  const abi::DeviceSpec& device_;
  std::map<std::string, ProblemCandidates> by_problem_;  // by the problem's text
};

}  // namespace aicf
