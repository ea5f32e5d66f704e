#include <algorithm>
#include <cstdlib>
#include <iterator>

#include "kernels/cuda/common/map_choice.h"
#include "kernels/cuda/elementwise/hosts.h"

namespace aicf::cuda {

using abi::Candidate;
using abi::DeviceSpec;
using abi::Problem;

namespace {

// Threads that the whole device runs at once.
int64_t ManyThreads(const DeviceSpec& d) { return int64_t{d.threads_per_sm} * d.sm_count; }

// Number of distinct elements. Elements that repeat (stride 0) come from the nearest cache.
int64_t OwnElements(const abi::View& v) {
  int64_t count = 1;
  for (int d = 0; d < v.shape.rank(); ++d) count *= v.strides[d] == 0 ? 1 : v.shape[d];
  return count;
}

// Whether a thread should handle several vectors. Even with enough threads, memory is slow while
// each of them waits for few bytes.
bool UnrollPays(const Problem& p, int64_t vectors, int64_t vector, const DeviceSpec& d) {
  constexpr int64_t kBytesInFlight = 32;
  int64_t bytes = 0;
  for (const abi::View& v : p.inputs) {
    if (4 * OwnElements(v) >= abi::ElementsOf(v)) bytes += vector * DTypeBytes(v.dtype);
  }
  return bytes < kBytesInFlight && vectors / 2 >= ManyThreads(d);
}

// Whether neighbouring results read elements of a large operand that are far apart.
bool ReadsAcross(const Problem& p) {
  const int inner = ContiguousAxis(p.outputs[0]);
  return inner >= 0 && std::ranges::any_of(p.inputs, [&](const abi::View& v) {
           return v.shape[inner] >= 8 && std::abs(v.strides[inner]) > 1 &&
                  4 * OwnElements(v) >= abi::ElementsOf(v);
         });
}

}  // namespace

template <>
std::vector<Candidate> CandidatesFor<ElementwiseMapHost>(const Problem& p, const DeviceSpec& d) {
  const int64_t count = abi::ElementsOf(p.outputs[0]);
  const int64_t widest = WidestVector(ElementwiseMapHost::kKey, p);
  const int64_t preferred = PreferredVector(ElementwiseMapHost::kKey, p, d.sm_count);
  const double share = ReadsAcross(p) ? 0.25 : 0.8;
  std::vector<Candidate> candidates;
  const auto add = [&](int64_t vector, int64_t unroll, double factor) {
    const int64_t per_block = kMapThreads * vector * unroll;
    const int64_t blocks = StridedGridFor(count, per_block);
    const double us = PredictUs({.bytes = abi::ByteCount(p),
                                 .flops = abi::FlopCount(p),
                                 .flops_per_us = d.fp32_flops_per_us / 4,
                                 .bytes_share = share,
                                 .blocks = static_cast<double>(blocks),
                                 .latency_us = 0.8,
                                 .blocks_per_sm = 16},
                                d);
    candidates.push_back(CandidateOf<ElementwiseMapHost>(
        p, {{"vector", vector}, {"threads", kMapThreads}, {"blocks", blocks}, {"unroll", unroll}},
        us * factor));
  };
  const double unrolled = UnrollPays(p, count / widest, widest, d) ? 0.95 : 1.05;
  for (int64_t vector = preferred; vector <= widest; vector *= 2) add(vector, 1, 1);
  for (int64_t unroll = 2; unroll <= 4 && count / (widest * unroll) >= ManyThreads(d);
       unroll *= 2) {
    add(widest, unroll, unrolled);
  }
  return candidates;
}

template <>
std::vector<Candidate> CandidatesFor<ElementwiseTransposeHost>(const Problem& p,
                                                               const DeviceSpec& d) {
  const int64_t blocks = StridedGridFor(ElementwiseTransposeHost::Tiles(p), 1);
  int64_t vector = std::min<int64_t>(8, 16 / DTypeBytes(p.outputs[0].dtype));
  while (p.outputs[0].shape[ContiguousAxis(p.outputs[0])] % vector != 0) vector /= 2;
  const double us = PredictUs({.bytes = abi::ByteCount(p),
                               .flops = abi::FlopCount(p),
                               .flops_per_us = d.fp32_flops_per_us / 4,
                               .bytes_share = 0.7,
                               .blocks = static_cast<double>(blocks),
                               .latency_us = 1.2,
                               .blocks_per_sm = 8},
                              d);
  return {CandidateOf<ElementwiseTransposeHost>(p, {{"vector", vector}, {"blocks", blocks}}, us)};
}

}  // namespace aicf::cuda
