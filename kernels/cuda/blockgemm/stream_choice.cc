#include <algorithm>

#include "kernels/cuda/blockgemm/chunk_cost.h"
#include "kernels/cuda/blockgemm/hosts.h"
#include "kernels/cuda/common/choice.h"

namespace aicf::cuda {
namespace {

using abi::DeviceSpec;
using abi::Parameters;
using abi::Problem;

// With eight warps products in Q4_K were measured to be limited by memory. With 16, in one panel or
// in two, the same products took longer.
constexpr int64_t kStreamWarps = 8;

BlockFormat StreamFormat(const Problem& p) { return p.as<abi::BlockGemmAttrs>().format; }

Parameters RingOf(const Problem& p, const DeviceSpec& d) {
  // What a block's ring takes. More than half of a multiprocessor's shared memory, so that no two
  // blocks share one; less leaves the memory without requests while the block waits for its row.
  constexpr int64_t kRingBytes = 192 * 1024;
  constexpr int64_t kFlightBytes = 48 * 1024;  // more on its way makes the row arrive later
  const int64_t warps = std::clamp<int64_t>(ChunksOf(p), 2, kStreamWarps);
  const int64_t stage = warps * ChunkOf(StreamFormat(p)).bytes();
  const auto with = [&](int64_t stages) -> Parameters {
    const int64_t panels = PanelsOf(p) / ProductOf(p).halves;
    return {{"warps", warps},
            {"stages", stages},
            {"flight", std::clamp<int64_t>(CeilDiv(kFlightBytes, stage), 1, stages)},
            {"blocks", std::min<int64_t>(panels, d.sm_count)},
            {"ahead", 0}};
  };
  // A long row leaves less room.
  int64_t stages = std::clamp<int64_t>(kRingBytes / stage, 2, 64);
  while (stages > 2 && !BlockStreamHost::Refuse(p, with(stages), d).empty()) --stages;
  return with(stages);
}

}  // namespace

// Products that take much longer than filling a ring gain: gate and up of Llama-3-8B in Q4_K, 66
// MB, takes 17.1 us instead of 19.5, and logits of 55 MB gain a little. Its down product of 33 MB
// takes 2 us longer than with cuda.blockgemm.decode, whose 16 warps have multiplied what waits in
// their rings earlier, and smaller products lose more (bench/results/h200_language.md).
template <>
std::vector<abi::Candidate> CandidatesFor<BlockStreamHost>(const Problem& p, const DeviceSpec& d) {
  constexpr double kManyBytes = 4.8e7, kStartUs = 1.0, kFewUs = 4.0, kRowUs = 0.1e-3;
  constexpr int64_t kFullRing = 176 * 1024;  // a ring of 110 KB was slower than none
  const Parameters ring = RingOf(p, d);
  if (!BlockStreamHost::Refuse(p, ring, d).empty()) return {};
  const BlockFormat format = StreamFormat(p);
  const BlockChunk chunk = ChunkOf(format);
  const int64_t warps = ring["warps"], blocks = ring["blocks"], chunks = ChunksOf(p);
  const int64_t halves = ProductOf(p).halves, panels = PanelsOf(p) / halves;
  const int64_t turns = CeilDiv(panels, blocks);
  const double bytes = static_cast<double>(PanelsOf(p) * chunks) * chunk.bytes();
  // The other blocks wait for those that have a panel more.
  const double uneven = static_cast<double>(turns * blocks) / static_cast<double>(panels);
  const double reading = uneven * bytes / d.bytes_per_us;
  const ChunkCost cost = ChunkCostOf(format, /*rows=*/1, /*integers=*/true);
  const double computing = cost.Us(static_cast<double>(turns * halves * RoundUp(chunks, warps)),
                                   static_cast<double>(warps));
  const bool worth = bytes >= kManyBytes && warps == kStreamWarps && chunks % warps == 0 &&
                     ring["stages"] * warps * chunk.bytes() >= kFullRing;
  const double us = d.launch_us + kStartUs + kRowUs * static_cast<double>(ProductOf(p).length) +
                    std::max(reading, computing) + 0.1 * std::min(reading, computing) +
                    (worth ? 0 : kFewUs + 0.3 * reading);
  return {CandidateOf<BlockStreamHost>(p, ring, us)};
}

}  // namespace aicf::cuda
