#include <algorithm>

#include "kernels/cuda/attention/hosts.h"
#include "kernels/cuda/common/choice.h"

namespace aicf::cuda {
namespace {

using abi::Candidate;
using abi::DeviceSpec;
using abi::Problem;

double AttentionUs(const Problem& p, const DeviceSpec& d, int64_t blocks, double flops_per_us,
                   double key_us) {
  const abi::AttentionShape s = abi::AttentionShapeOf(p);
  // A tile walks over its keys one block after the other.
  const double pairs = std::max(1.0, static_cast<double>(s.batch * s.query_heads * s.rows));
  const double keys = abi::ScoreCount(p) / pairs;
  return PredictUs({.bytes = abi::ByteCount(p),
                    .flops = abi::FlopCount(p),
                    .flops_per_us = flops_per_us,
                    .blocks = static_cast<double>(blocks),
                    .latency_us = 2 + keys * key_us,
                    .blocks_per_sm = 2},
                   d);
}

}  // namespace

template <>
std::vector<Candidate> CandidatesFor<AttentionTensorHost>(const Problem& p, const DeviceSpec& d) {
  using Host = AttentionTensorHost;
  const int64_t packed = Host::PackedRows(abi::AttentionShapeOf(p));
  // mma.sync reaches about half of what the newer instructions do; tf32 is half as fast.
  const double share = p.math == abi::MathMode::kTf32 ? 0.15 : 0.3;
  std::vector<Candidate> all;
  for (int64_t warps = std::clamp<int64_t>(CeilDiv(packed, Host::kWarpRows), 1, 4); warps > 0;
       warps /= 2) {
    const abi::Parameters c = {{"warps", warps}};
    if (!Host::Refuse(p, c, d).empty()) continue;
    const int64_t blocks = Host::Launch(p, c).grid[0];
    // Fewer warps read the keys more often.
    const double reads = 0.02 * static_cast<double>(warps < 4 ? 5 - warps : 1);
    all.push_back(
        CandidateOf<Host>(p, c, AttentionUs(p, d, blocks, d.tensor_flops_per_us * share, reads)));
  }
  return all;
}

template <>
std::vector<Candidate> CandidatesFor<AttentionGeneralHost>(const Problem& p, const DeviceSpec& d) {
  using Host = AttentionGeneralHost;
  const bool wide = p.inputs[0].dtype == DType::kF64;
  const bool few = Host::PackedRows(abi::AttentionShapeOf(p)) <= 16;
  std::vector<Candidate> all;
  for (int64_t rows : {64, 32, 16}) {
    const abi::Parameters c = {{"tile_rows", rows}};
    if (rows > 16 && (wide || few)) continue;
    if (!Host::Refuse(p, c, d).empty()) continue;
    const double share = (wide ? 0.15 : 0.3) * (rows == 64 || wide || few ? 1 : 0.7);
    all.push_back(CandidateOf<Host>(
        p, c, AttentionUs(p, d, Host::Launch(p, c).grid[0], d.fp32_flops_per_us * share, 0.05)));
  }
  return all;
}

}  // namespace aicf::cuda
