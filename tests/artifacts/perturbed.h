/// Gives every kernel another heuristic. The linker redirects this program's calls of CandidatesOf
/// and KernelsOf (kernels/abi) to functions that change all predicted costs and the order of all
/// lists, and that add parameter sets which this build would not consider.
#pragma once

#include <cstdint>

namespace aicf::artifacts {

/// While an object of this class exists, costs and orders depend on its seed alone. At most one may
/// exist at a time.
class Perturbed {
 public:
  explicit Perturbed(uint64_t seed);
  ~Perturbed();
  Perturbed(const Perturbed&) = delete;
  Perturbed& operator=(const Perturbed&) = delete;
};

/// How often CandidatesOf has been called, perturbed or not.
uint64_t CandidateListsAskedFor();

}  // namespace aicf::artifacts
