#include <algorithm>
#include <numeric>

#include "kernels/cuda/normalize/hosts.h"

namespace aicf::cuda {
namespace {

using abi::NormalizeKind;
using abi::Problem;

// The most groups that a vector touches; kParts in normalize/lines.cuh is the same.
int64_t GroupsOfVector(int64_t run, int64_t vector) {
  return (run - std::gcd(run, vector) + vector - 1) / run + 1;
}

}  // namespace

GroupedLines GroupedLinesOf(const Problem& p) {
  const Space domain = SpacesOf(NormalizeLinesHost::kKey, p).domain;
  const Dims& axes = p.as<abi::NormalizeAttrs>().axes;
  GroupedLines all = {1, 1, 1, 1};
  for (size_t g = 0; g < 2; ++g) {
    for (int64_t a : domain.groups[g]) {
      const bool normalised = std::find(axes.begin(), axes.end(), a) != axes.end();
      int64_t& count =
          g == 0 ? (normalised ? all.run : all.groups) : (normalised ? all.lines : all.batches);
      count *= domain.shape[static_cast<int>(a)];
    }
  }
  return all;
}

std::string NormalizeLinesHost::Refusal(const Problem& p, const abi::DeviceSpec&) {
  const NormalizeKind kind = p.as<abi::NormalizeAttrs>().kind;
  if (kind != NormalizeKind::kLayerNorm && kind != NormalizeKind::kRmsNorm) {
    return "makes layer and RMS norms only";
  }
  if (abi::ElementsOf(p.inputs[0]) == 0) return "there is nothing to normalise";
  if (GroupedLinesOf(p).lines == 1) return "its groups do not alternate: each is one run of memory";
  return {};
}

std::string NormalizeLinesHost::Refuse(const Problem& p, const abi::Parameters& c,
                                       const abi::DeviceSpec&) {
  const GroupedLines all = GroupedLinesOf(p);
  std::string refusal = RefuseOddPower(c, "vector");
  if (refusal.empty()) refusal = RefuseOddPower(c, "cluster");
  if (!refusal.empty()) return refusal;
  if (all.groups % c["groups"] != 0) {
    return StrCat("takes parts of a line's ", all.groups, " groups, not ", c["groups"]);
  }
  const int64_t stretch = c["groups"] * all.run, threads = stretch / c["vector"] * c["lines"];
  if (stretch % c["vector"] != 0) {
    return StrCat("takes whole vectors of ", c["vector"], " elements, here are ", stretch);
  }
  if (threads % 32 != 0 || threads > kMaxThreads) {
    return StrCat("takes threads in multiples of 32 up to 1024, here are ", threads);
  }
  if (all.groups / c["groups"] * all.batches > kMaxBlocks / c["cluster"]) {
    return "needs more blocks than a grid has";
  }
  return {};
}

abi::LaunchConfig NormalizeLinesHost::Launch(const Problem& p, const abi::Parameters& c) {
  const GroupedLines all = GroupedLinesOf(p);
  const int64_t columns = c["groups"] * all.run / c["vector"];
  abi::LaunchConfig launch =
      Launch1d(all.groups / c["groups"] * all.batches * c["cluster"], columns);
  launch.block[1] = static_cast<uint32_t>(c["lines"]);
  launch.cluster[0] = static_cast<uint32_t>(c["cluster"]);
  // Deviations have three numbers for each group that a thread's vector touches. For each group of
  // the block, OfBlock has two numbers, and Moments three and a flag, which take the room of four.
  const int64_t known = columns * c["lines"] * GroupsOfVector(all.run, c["vector"]);
  launch.dynamic_shared_bytes = static_cast<uint32_t>(24 * known + 48 * c["groups"]);
  return launch;
}

}  // namespace aicf::cuda
