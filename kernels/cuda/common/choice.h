/// What the CUDA families' choose.cc files are made from: predictions and candidates.
#pragma once

#include <string>
#include <vector>

#include "kernels/abi/choice.h"
#include "kernels/cuda/common/host.h"

namespace aicf::cuda {

/// Work of one launch, for predictions: the slower of memory and arithmetic, when `blocks` of the
/// machine's slots (sm_count * blocks_per_sm) are filled wave by wave.
struct Work {
  double bytes = 0;
  double flops = 0;
  double flops_per_us = 0;   ///< peak that the inner loop reaches on the whole machine
  double bytes_share = 0.8;  ///< part of the memory bandwidth that the accesses reach
  double blocks = 1;
  double latency_us = 0;  ///< dependent chain of one block, paid once per wave
  int blocks_per_sm = 4;
};
double PredictUs(const Work& work, const abi::DeviceSpec& device);

/// ceil(items / per_block) blocks, at least one and at most `limit`.
int64_t GridFor(int64_t items, int64_t per_block, int64_t limit = kMaxBlocks);
/// The same for a kernel that walks in strides of its grid: enough blocks to fill any machine.
int64_t StridedGridFor(int64_t items, int64_t per_block);

/// Largest vector that suits the instance's outputs and what is read at the same points.
int64_t WidestVector(std::string_view key, const abi::Problem& problem);
/// The same, narrowed while fewer than two blocks of 128 threads per multiprocessor would be left.
int64_t PreferredVector(std::string_view key, const abi::Problem& problem, int sm_count);

/// The least power of two that is at least `v`, and at least 1.
int64_t PowerOfTwoAtLeast(int64_t v);

template <class Host>
abi::Candidate CandidateOf(const abi::Problem& p, abi::Parameters parameters, double cost_us) {
  return {MakeVariant(parameters, Derive<Host>(p, parameters)), cost_us};
}

/// The candidates of a host's kernel: see abi::ChoiceRow::candidates. Every host of a family's
/// CudaHosts has a specialisation, in the family's choose.cc or in a file NAME_choice.cc beside it,
/// unless it says with kFlopsShare that it is an ordinary one of map_choice.h.
template <class Host>
std::vector<abi::Candidate> CandidatesFor(const abi::Problem& problem,
                                          const abi::DeviceSpec& device);

}  // namespace aicf::cuda
