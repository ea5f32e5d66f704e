/// What the choose.cc files of the CUDA families share: predicted times, and helpers that make
/// candidates.
#pragma once

#include <string>
#include <vector>

#include "kernels/abi/choice.h"
#include "kernels/cuda/common/host.h"

namespace aicf::cuda {

/// The work of one launch. PredictUs predicts its time: what a launch takes in any case, plus the
/// longest of what memory, arithmetic and the latency of the waves take. The device has
/// sm_count * blocks_per_sm slots for blocks, and `blocks` fill them wave by wave.
struct Work {
  double bytes = 0;
  double flops = 0;
  double flops_per_us = 0;   ///< peak that the inner loop reaches on the whole device
  double bytes_share = 0.8;  ///< part of the memory bandwidth that the accesses reach
  double blocks = 1;
  double latency_us = 0;  ///< dependent chain of one block, paid once per wave
  int blocks_per_sm = 4;
};
double PredictUs(const Work& work, const abi::DeviceSpec& device);

/// ceil(items / per_block) blocks, at least one and at most `limit`.
int64_t GridFor(int64_t items, int64_t per_block, int64_t limit = kMaxBlocks);
/// The same for a kernel whose threads walk over the items in strides of the whole grid. Such a
/// kernel needs no more blocks than fill any device, and its stride may be kMaxGridStride at most.
int64_t StridedGridFor(int64_t items, int64_t per_block);

/// Number of blocks that can run at once in clusters of so many blocks, one to a multiprocessor. A
/// cluster has to lie within one group of 16 or so multiprocessors, and some groups are smaller: on
/// an H200 neither 31 clusters of 4 nor 24 of 5 nor 16 of 8 run at once.
int64_t ClusterRoom(int64_t cluster, int sm_count);

/// Largest vector width that suits the outputs and the operands that are read at the same points
/// (VectorOf).
int64_t WidestVector(std::string_view key, const abi::Problem& problem);
/// The same, halved as long as the grid would have fewer than two blocks of 128 threads per
/// multiprocessor.
int64_t PreferredVector(std::string_view key, const abi::Problem& problem, int sm_count);

/// The least power of two that is at least `v`, and at least 1.
int64_t PowerOfTwoAtLeast(int64_t v);

template <class Host>
abi::Candidate CandidateOf(const abi::Problem& p, abi::Parameters parameters, double cost_us) {
  return {MakeVariant(parameters, Derive<Host>(p, parameters)), cost_us};
}

/// The candidates of a host's kernel: see abi::ChoiceRow::candidates. Every host of a family's
/// CudaHosts has a specialisation, in the family's choose.cc or in a file NAME_choice.cc beside it.
/// Only hosts with a kFlopsShare (map_host.h) have none: map_choice.h lists their candidates.
template <class Host>
std::vector<abi::Candidate> CandidatesFor(const abi::Problem& problem,
                                          const abi::DeviceSpec& device);

}  // namespace aicf::cuda
