/// What the CPU families' choose.cc files are made from. A CPU kernel has one variant of each
/// problem: what its candidate adds is the predicted cost.
#pragma once

#include <string_view>
#include <vector>

#include "kernels/abi/choice.h"
#include "kernels/cpu/common/host.h"

namespace aicf::cpu {

/// Predicted time: the slower of moving the bytes and computing, plus the launch.
double RooflineUs(const abi::Problem& problem, const abi::DeviceSpec& device, abi::CpuIsa isa,
                  double flops_share, double bytes_share);

inline std::vector<abi::Candidate> OneCandidate(uint64_t workspace_bytes, double cost_us) {
  abi::Candidate candidate;
  candidate.variant.workspace_bytes = workspace_bytes;
  candidate.cost_us = cost_us;
  return {candidate};
}

/// A host that names the shares of the machine's rates which its algorithm reaches:
///   kFlopsShare                 part of the device's peak rate
///   kBytesShare                 part of the device's memory bandwidth
template <class Host, abi::CpuIsa kIsa>
abi::ChoiceRow RooflineChoice(std::string_view key) {
  return {key, [](const abi::Problem& p, const abi::DeviceSpec& d) {
            const double us = RooflineUs(p, d, kIsa, Host::kFlopsShare, Host::kBytesShare);
            return OneCandidate(Host::Workspace(p, d), us);
          }};
}

/// A host with a prediction of its own: Cost(problem, device).
template <class Host>
abi::ChoiceRow CostChoice(std::string_view key) {
  return {key, [](const abi::Problem& p, const abi::DeviceSpec& d) {
            return OneCandidate(Host::Workspace(p, d), Host::Cost(p, d));
          }};
}

}  // namespace aicf::cpu
