/// Host functions of the CUDA variants: what the rows of a family's info.cc are made from.
///
/// A host class names one algorithm; CudaRow turns it into a row. A class has
///   kKey, kSource               key and device file
///   Refusal(problem, device)    empty, or why the algorithm cannot run the problem
///   Workspace(problem, device)  scratch bytes
///   Launch(problem, device)     grid and block; the source writer makes them constants
///   InPlace(problem, input)     see abi::KernelInfo::in_place
///   CostUs(problem, device)     predicted microseconds
#pragma once

#include <string>
#include <string_view>

#include "base/checked.h"
#include "kernels/abi/registry.h"
#include "kernels/cuda/common/space.h"

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

/// Sentence for a device that is not a Hopper GPU; empty for one that is.
std::string RefuseDevice(const abi::DeviceSpec& device);

/// True when input and outputs[0] occupy the same elements in the same order and all other outputs
/// are other buffers' business: the condition for reading an element just before it is overwritten.
bool SameElements(const abi::Problem& problem, int input);

/// ceil(items / per_block) blocks, at least one and at most `limit` (kernels walk in grid strides).
uint32_t GridFor(int64_t items, int64_t per_block, int64_t limit = (int64_t{1} << 31) - 1);

abi::LaunchConfig Launch1d(uint32_t grid, uint32_t block);

struct CudaHostBase {
  static std::string Refusal(const abi::Problem&, const abi::DeviceSpec&) { return {}; }
  static uint64_t Workspace(const abi::Problem&, const abi::DeviceSpec&) { return 0; }
  /// An epilogue operand is read at a point before that point is written, and nowhere else.
  static bool InPlace(const abi::Problem& p, int input) {
    return input >= p.core_inputs && SameElements(p, input);
  }
};

template <class Host>
abi::KernelInfo CudaRow(abi::Family family) {
  abi::KernelInfo row{};
  row.key = Host::kKey;
  row.family = family;
  row.backend = abi::Backend::kCuda;
  row.deterministic = true;
  row.source = Host::kSource;
  row.supports = [](const abi::Problem& p, const abi::DeviceSpec& d) {
    std::string refusal = RefuseDevice(d);
    return refusal.empty() ? Host::Refusal(p, d) : refusal;
  };
  row.workspace_bytes = &Host::Workspace;
  row.launch = &Host::Launch;
  row.in_place = &Host::InPlace;
  row.cost_us = &Host::CostUs;
  return row;
}

}  // namespace aicf::cuda
