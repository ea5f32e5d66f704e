/// Another heuristic for every kernel: the linker hands this program's calls of CandidatesOf and
/// KernelsOf (kernels/abi) to functions that change all predicted costs and the order of all lists,
/// and that consider parameter sets which this build does not.
#pragma once

#include <cstdint>

namespace aicf::artifacts {

/// While one lives, costs and orders follow from its seed alone. One at a time.
class Perturbed {
 public:
  explicit Perturbed(uint64_t seed);
  ~Perturbed();
  Perturbed(const Perturbed&) = delete;
  Perturbed& operator=(const Perturbed&) = delete;
};

/// How often candidates have been asked for, perturbed or not.
uint64_t CandidateListsAskedFor();

}  // namespace aicf::artifacts
