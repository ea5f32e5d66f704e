/// Candidates of CPU kernels, among which the compiler chooses. A CPU kernel has only one variant
/// for a problem, so its candidate adds nothing but the predicted cost.
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

/// The one candidate of a row: what the host predicts, or, where it has no Cost(problem, device),
/// the roofline with the shares of the machine's rates that its algorithm reaches:
///   kFlopsShare                 part of the device's peak rate
///   kBytesShare                 part of the device's memory bandwidth
template <class Host, abi::CpuIsa kIsa>
abi::ChoiceRow ChoiceRowOf(std::string_view key) {
  return {key, [](const abi::Problem& p, const abi::DeviceSpec& d) {
            if constexpr (requires { Host::Cost(p, d); }) {
              return OneCandidate(Host::Workspace(p, d), Host::Cost(p, d));
            } else {
              const double us = RooflineUs(p, d, kIsa, Host::kFlopsShare, Host::kBytesShare);
              return OneCandidate(Host::Workspace(p, d), us);
            }
          }};
}

}  // namespace aicf::cpu
