#include <algorithm>

#include "kernels/cuda/append/hosts.h"
#include "kernels/cuda/common/choice.h"

namespace aicf::cuda {

using abi::Candidate;
using abi::DeviceSpec;
using abi::Problem;

namespace {

constexpr int64_t kAppendThreads = 128;

// The widest vector that divides both the rotated pairs and the elements of a head, within 16 bytes
// of the new keys' type.
int64_t WidestOf(const Problem& p) {
  const abi::AppendShape s = abi::AppendShapeOf(p);
  int64_t vector = 16 / DTypeBytes(p.inputs[abi::kAppendK].dtype);
  while (s.pairs % vector != 0 || s.head % vector != 0) vector /= 2;
  return vector;
}

// Offers the widest vector first, then the next narrower one, which takes more threads.
template <class Host>
std::vector<Candidate> AppendCandidates(const Problem& p, const DeviceSpec& d) {
  std::vector<Candidate> all;
  for (int64_t vector = WidestOf(p); vector >= 1 && all.size() < 2; vector /= 2) {
    const int64_t blocks = std::min(StridedGridFor(AppendWork(p, vector).Count(), kAppendThreads),
                                    kMaxGridStride / (kAppendThreads * vector));
    const double us = PredictUs({.bytes = abi::ByteCount(p),
                                 .flops = abi::FlopCount(p),
                                 .flops_per_us = d.fp32_flops_per_us * 0.1,
                                 .bytes_share = vector > 1 ? 0.6 : 0.4,
                                 .blocks = static_cast<double>(blocks),
                                 .latency_us = 1.5,
                                 .blocks_per_sm = 16},
                                d);
    all.push_back(CandidateOf<Host>(
        p, {{"vector", vector}, {"threads", kAppendThreads}, {"blocks", blocks}}, us));
  }
  return all;
}

}  // namespace

template <>
std::vector<Candidate> CandidatesFor<AppendRotaryHost>(const Problem& p, const DeviceSpec& d) {
  return AppendCandidates<AppendRotaryHost>(p, d);
}

template <>
std::vector<Candidate> CandidatesFor<AppendRowsHost>(const Problem& p, const DeviceSpec& d) {
  return AppendCandidates<AppendRowsHost>(p, d);
}

}  // namespace aicf::cuda
