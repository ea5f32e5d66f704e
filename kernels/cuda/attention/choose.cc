#include <algorithm>
#include <cmath>

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

// A block takes its keys in turns. Until the multiprocessors have all the warps that they can hold,
// a turn waits for memory longer than it multiplies. The numbers, in us, are fitted to what an H200
// takes for 27 problems with all their candidates (bench/results/h200_attention.md): within 16 % in
// the root mean square, and the chosen candidates within 1 % of the fastest on average.
double TensorUs(const Problem& p, const abi::Parameters& c, const DeviceSpec& d) {
  using Host = AttentionTensorHost;
  const abi::AttentionShape s = abi::AttentionShapeOf(p);
  const abi::LaunchConfig launch = Host::Launch(p, c);
  const bool word = p.math == abi::MathMode::kTf32;
  const bool converts = p.inputs[0].dtype == DType::kF32 ? !word : word;
  const double blocks = launch.grid[0], warps = launch.block[1], step = Host::Step(p);
  const double head = static_cast<double>(s.head + s.value_head) / 2;
  const double rows = std::max(1.0, static_cast<double>(s.batch * s.query_heads * s.rows));
  const double turns =
      std::ceil(abi::ScoreCount(p) / rows / (step * static_cast<double>(Host::KeyWarps(c))));

  const double loads = step * head * 2 / (32 * static_cast<double>(c["warps"]));  // of a thread
  const double turn_us =
      1.5 + loads * (converts ? 0.03 : 0.006) + (word ? 1.0 : 0.1) * head * step / 4096;
  const double alone_us = 2.4 + 0.2 * warps + turns * turn_us;
  constexpr int64_t kResidentWarps = 8;  // what registers leave room for
  const int64_t resident =
      std::clamp<int64_t>(d.max_shared_bytes / std::max(1u, launch.dynamic_shared_bytes), 1,
                          std::max<int64_t>(1, kResidentWarps / launch.block[1]));
  const double waves = std::ceil(blocks / static_cast<double>(d.sm_count * resident));
  const double full_us =
      2.4 + blocks * warps * turns / d.sm_count * (converts ? 0.68 : 0.34) * head / 64;
  const double memory_us = abi::ByteCount(p) / (0.8 * d.bytes_per_us);
  return d.launch_us + std::max({waves * alone_us, full_us, memory_us});
}

}  // namespace

template <>
std::vector<Candidate> CandidatesFor<AttentionTensorHost>(const Problem& p, const DeviceSpec& d) {
  using Host = AttentionTensorHost;
  constexpr int64_t kMostWarps = 8;  // larger blocks are not worth choosing
  const abi::AttentionShape s = abi::AttentionShapeOf(p);
  const int64_t packed = Host::PackedRows(s);
  std::vector<Candidate> all;
  for (int64_t warps = std::clamp<int64_t>(CeilDiv(packed, Host::kWarpRows), 1, 4); warps > 0;
       warps /= 2) {
    for (int64_t groups = 1; groups * warps <= kMostWarps; groups *= 2) {
      if (groups > 1 && (groups / 2) * Host::Step(p) >= s.keys) break;  // a group without keys
      const abi::Parameters c = {{"warps", warps}, {"key_warps", groups}};
      if (Host::Refuse(p, c, d).empty()) all.push_back(CandidateOf<Host>(p, c, TensorUs(p, c, d)));
    }
  }
  return all;
}

template <>
std::vector<Candidate> CandidatesFor<AttentionGeneralHost>(const Problem& p, const DeviceSpec& d) {
  using Host = AttentionGeneralHost;
  const bool wide = p.inputs[0].dtype == DType::kF64;
  const bool few = Host::PackedRows(abi::AttentionShapeOf(p)) <= 16;
  std::vector<Candidate> all;
  for (int64_t rows : {64, 32, 16, 8}) {
    const abi::Parameters c = {{"tile_rows", rows}};
    if (rows > 16 && (wide || few)) continue;
    if (rows < 16 && !all.empty()) continue;  // 8 rows only where no larger tile is legal
    if (!Host::Refuse(p, c, d).empty()) continue;
    const double share = (wide ? 0.15 : 0.3) * (rows == 64 || wide || few ? 1 : 0.7);
    all.push_back(CandidateOf<Host>(
        p, c, AttentionUs(p, d, Host::Launch(p, c).grid[0], d.fp32_flops_per_us * share, 0.05)));
  }
  return all;
}

}  // namespace aicf::cuda
