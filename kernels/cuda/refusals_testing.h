/// For tests: what a CUDA kernel says of a problem, and of parameters that break one of its rules.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/abi/choice.h"
#include "kernels/abi/validate_faults.h"

namespace aicf::abi::testing {

inline const DeviceSpec& Device() {
  static const DeviceSpec device = *FindDevice("cuda");
  return device;
}

/// What the kernel says of the problem, whatever the parameters.
inline std::string Unsupported(std::string_view key, const Problem& p) {
  return FindKernel(key)->supports(p, Device());
}

using Edits = std::vector<Parameter>;

/// What it says of its preferred parameters, some of which are changed.
inline std::string Refused(std::string_view key, const Problem& p, const Edits& edits) {
  const KernelInfo& kernel = *FindKernel(key);
  EXPECT_EQ(kernel.supports(p, Device()), "") << key;
  const Parameters own = BestCandidate(kernel, p, Device())->variant.parameters;
  EXPECT_EQ(kernel.refuse(p, own, Device()), "") << key;
  std::vector<Parameter> list(own.begin(), own.end());
  for (const Parameter& edit : edits) {
    const auto at = std::ranges::find(list, edit.name, &Parameter::name);
    if (at != list.end()) {
      at->value = edit.value;
      continue;
    }
    EXPECT_TRUE(std::ranges::count(kernel.parameters, edit.name, &ParameterRange::name) == 1)
        << key << " has no " << edit.name;
    list.push_back(edit);  // a parameter that candidates leave at its default
  }
  return kernel.refuse(p, Parameters(list), Device());
}

struct ParameterFault {
  std::string_view sentence;
  Edits edits;
};

inline void ExpectParametersRefused(std::string_view key, const Problem& p,
                                    const std::vector<ParameterFault>& faults) {
  for (const ParameterFault& fault : faults) {
    const std::string found = Refused(key, p, fault.edits);
    EXPECT_NE(found.find(fault.sentence), std::string::npos)
        << key << ", expected: " << fault.sentence << "\nfound: " << found;
  }
}

inline void ExpectUnsupported(std::string_view key, const Problem& p, std::string_view sentence) {
  EXPECT_EQ(ValidateProblem(p).message(), "") << key << ": " << sentence;
  const std::string found = Unsupported(key, p);
  EXPECT_NE(found.find(sentence), std::string::npos)
      << key << ", expected: " << sentence << "\nfound: " << found;
}

/// A legal tile of cuda.gemm.hopper, 128 x 128 of four stages, for tests that change some of it.
inline Edits HopperProductTile() {
  return {{"tile_m", 128}, {"tile_n", 128},  {"tile_k", 64}, {"stages", 4}, {"cluster_m", 1},
          {"cluster", 1},  {"consumers", 2}, {"group_m", 4}, {"swap", 0},   {"ping_pong", 0},
          {"vector", 8},   {"blocks", 4},    {"split", 1},   {"ahead", 0}};
}

/// More blocks than any rule about the stride of a grid allows.
inline constexpr int64_t kMany = int64_t{1} << 30;

}  // namespace aicf::abi::testing
