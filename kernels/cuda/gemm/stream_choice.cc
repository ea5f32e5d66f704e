#include <algorithm>

#include "kernels/cuda/common/choice.h"
#include "kernels/cuda/gemm/hosts.h"

namespace aicf::cuda {
namespace {

using abi::Parameters;
using abi::Problem;

// Columns of fewer bytes are short. Shorter than kShortestColumn, a stage of them takes longer to
// be asked for and finished than to be copied.
constexpr int64_t kShortColumn = 4096, kShortestColumn = 1024;

// How columns of up to `line` bytes are shared out.
struct Form {
  int64_t line;
  int64_t stage;   // the most bytes of a stage, so that its copy takes longer than asking for it
  int64_t warps;   // of a group; more where a lane would hold too much of the row
  int64_t groups;  // there are eight warps at least
};

// Few warps have something to do for a short column. With one for each column, logits of 272 MB
// whose columns have 1.8 KB were measured to gain. Those of 57 MB with columns of 1.2 KB took less
// time with two: what is left to do after the last copy counts more there.
Form FormOf(int64_t line) {
  constexpr Form kForms[] = {{1535, 20 * 1024, 2, 4},
                             {kShortColumn - 1, 20 * 1024, 1, 8},
                             {kShortColumn, 16 * 1024, 4, 2},
                             {INT64_MAX, 32 * 1024, 8, 2}};
  return *std::ranges::find_if(kForms, [line](const Form& f) { return line <= f.line; });
}

// Columns of results of a stage; a single one where a column is longer than a stage should be.
int64_t ColumnsOfStage(const Problem& p, int64_t line) {
  int64_t lines = 1;
  while (lines < 16 && lines * 2 * line <= FormOf(line).stage) lines *= 2;
  return std::max<int64_t>(1, lines / ProductOf(p).halves);
}

// Enough warps that a lane holds no more of the row than it may.
int64_t WarpsOfGroup(const Problem& p, int64_t line) {
  int64_t warps = FormOf(line).warps;
  while (warps < 16 && !GemmStreamHost::HoldsRow(p, warps)) warps *= 2;
  return warps;
}

Parameters CutOf(const Problem& p, const abi::DeviceSpec& d) {
  // What a block's ring takes. More than half of a multiprocessor's shared memory, so that no two
  // blocks of a launch share a multiprocessor while another one has none.
  constexpr int64_t kRingBytes = 192 * 1024;
  constexpr int64_t kFlightBytes = 64 * 1024;  // what memory needs to have under way
  const int64_t line = StreamColumnBytes(p);
  const int64_t warps = WarpsOfGroup(p, line);
  const int64_t columns = ColumnsOfStage(p, line);
  const int64_t stage = columns * ProductOf(p).halves * line;
  // Stages are the groups' alike. One group, where whole stages for two would leave much of the
  // ring unused.
  const int64_t fitting = std::clamp<int64_t>(kRingBytes / stage, 2, 48);
  const int64_t groups = warps > 8 || fitting == 3 ? 1 : FormOf(line).groups;
  const int64_t stages = fitting / groups * groups;
  return {{"columns", columns},
          {"stages", stages},
          {"flight", std::clamp<int64_t>(CeilDiv(kFlightBytes, stage), 2, stages)},
          {"groups", groups},
          {"warps", warps},
          {"blocks", d.sm_count},
          {"ahead", 0}};
}

}  // namespace

// In a chain of products and attention as a decode step has them, the ring is filled while the
// product waits, so that the memory hardly rests: the products of such steps read 4.4 TB/s on an
// H200, above the 4.2 that DeviceSpec::bytes_per_us takes for reached
// (bench/results/h200_language.md). Where B is no constant the ring cannot be filled early, and the
// prediction is too good. Products that start and end within the time in which a ring is filled are
// better left to cuda.gemm.gemv. With short columns that holds for larger products: a model whose
// columns have 1.8 KB was slower when its products of less than 16 MB streamed as well.
template <>
std::vector<abi::Candidate> CandidatesFor<GemmStreamHost>(const Problem& p,
                                                          const abi::DeviceSpec& d) {
  constexpr double kFewBytes = 6e6, kFewOfShort = 1.6e7, kShareOfBandwidth = 1.06;
  const Parameters cut = CutOf(p, d);
  if (!GemmStreamHost::Refuse(p, cut, d).empty()) return {};
  const int64_t line = StreamColumnBytes(p);
  const double few = line < kShortColumn ? kFewOfShort : kFewBytes;
  const bool worth = line >= kShortestColumn && abi::ByteCount(p) >= few;
  const double norm_us = abi::NormalizesRows(p) ? 0.2 : 0;
  const double us = PredictUs({.bytes = abi::ByteCount(p),
                               .flops = abi::FlopCount(p),
                               .flops_per_us = d.fp32_flops_per_us / 3,
                               .bytes_share = worth ? kShareOfBandwidth : 0.4,
                               .blocks = static_cast<double>(d.sm_count),
                               .latency_us = worth ? 1.5 : 4,
                               .blocks_per_sm = 1},
                              d);
  // Half of what a launch takes passes while the step before it still runs.
  return {CandidateOf<GemmStreamHost>(p, cut, us - d.launch_us / 2 + norm_us)};
}

}  // namespace aicf::cuda
