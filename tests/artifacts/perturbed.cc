#include "tests/artifacts/perturbed.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "base/hash.h"
#include "kernels/abi/choice.h"

namespace aicf::artifacts {

#define AICF_CANDIDATES \
  "_ZN4aicf3abi12CandidatesOfERKNS0_10KernelInfoERKNS0_7ProblemERKNS0_10DeviceSpecE"
#define AICF_KERNELS "_ZN4aicf3abi9KernelsOfENS0_6FamilyE"

std::vector<abi::Candidate> RealCandidates(const abi::KernelInfo&, const abi::Problem&,
                                           const abi::DeviceSpec&) asm("__real_" AICF_CANDIDATES);
std::vector<abi::Candidate> OtherCandidates(const abi::KernelInfo&, const abi::Problem&,
                                            const abi::DeviceSpec&) asm("__wrap_" AICF_CANDIDATES);
std::span<const abi::KernelInfo> RealKernels(abi::Family) asm("__real_" AICF_KERNELS);
std::span<const abi::KernelInfo> OtherKernels(abi::Family) asm("__wrap_" AICF_KERNELS);

namespace {

uint64_t current_seed = 0;  // 0: not perturbed
uint64_t asked = 0;

// A number that follows from the seed and the text alone.
uint64_t NumberOf(std::string_view text) {
  const std::string seeded = StrCat(current_seed, " ", text);
  return HashBytes(std::as_bytes(std::span(seeded))).low;
}

// From a nanosecond to a second, spread evenly over the orders of magnitude.
double CostOf(uint64_t number) {
  return std::pow(10.0, -3.0 + 9.0 * static_cast<double>(number % 10007) / 10007.0);
}

// Parameter sets that this build would not consider: one of the numbers doubled or halved, where
// the kernel takes that.
void AddNeighbours(const abi::KernelInfo& kernel, const abi::Problem& problem,
                   const abi::DeviceSpec& device, const abi::Parameters& own,
                   std::vector<abi::Candidate>& all) {
  for (size_t i = 0; i < own.size(); ++i) {
    std::vector<abi::Parameter> list(own.begin(), own.end());
    const int64_t value = list[i].value;
    for (const int64_t other : {value * 2, value / 2}) {
      list[i].value = other;
      const abi::Parameters changed(list);
      if (changed == own || !abi::CheckParameters(changed, kernel.parameters).empty()) continue;
      if (kernel.refuse != nullptr && !kernel.refuse(problem, changed, device).empty()) continue;
      abi::Candidate candidate;
      candidate.variant = kernel.variant(problem, changed);
      candidate.row = kernel.key;
      all.push_back(std::move(candidate));
    }
  }
}

}  // namespace

std::vector<abi::Candidate> OtherCandidates(const abi::KernelInfo& kernel,
                                            const abi::Problem& problem,
                                            const abi::DeviceSpec& device) {
  ++asked;
  std::vector<abi::Candidate> all = RealCandidates(kernel, problem, device);
  if (current_seed == 0) return all;
  const size_t considered = all.size();
  for (size_t i = 0; i < considered && kernel.derive != nullptr; ++i) {
    const abi::Parameters own = all[i].variant.parameters;
    AddNeighbours(kernel, problem, device, own, all);
  }
  const auto number = [&](const abi::Candidate& c) {
    return NumberOf(abi::VariantName(kernel.key, c.variant.parameters));
  };
  std::ranges::stable_sort(all, {}, number);
  for (abi::Candidate& c : all) c.cost_us = CostOf(number(c) / 7);
  return all;
}

// Copies are kept: what they say is what the registry says, only their order is another.
std::span<const abi::KernelInfo> OtherKernels(abi::Family family) {
  const std::span<const abi::KernelInfo> own = RealKernels(family);
  if (current_seed == 0) return own;
  static std::map<std::pair<uint64_t, abi::Family>, std::vector<abi::KernelInfo>> orders;
  std::vector<abi::KernelInfo>& order = orders[{current_seed, family}];
  if (order.empty()) {
    order.assign(own.begin(), own.end());
    std::ranges::stable_sort(order, {}, [](const abi::KernelInfo& k) { return NumberOf(k.key); });
  }
  return order;
}

Perturbed::Perturbed(uint64_t seed) { current_seed = seed; }
Perturbed::~Perturbed() { current_seed = 0; }

uint64_t CandidateListsAskedFor() { return asked; }

}  // namespace aicf::artifacts
