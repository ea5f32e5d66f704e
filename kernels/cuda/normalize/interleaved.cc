#include "kernels/cuda/normalize/hosts.h"

namespace aicf::cuda {

int64_t RunOfGroup(const abi::Problem& p) {
  const Walk walk = WalkOf(p.inputs[0], SpacesOf("", p).domain.groups[0]);
  if (walk.strides.empty()) return 0;
  if (walk.strides.back() != 1) return 1;
  return walk.strides.rank() > 1 ? walk.extents.back() : 0;
}

std::string NormalizeInterleavedHost::Refusal(const abi::Problem& p, const abi::DeviceSpec&) {
  if (abi::ElementsOf(p.inputs[0]) == 0) return "there is nothing to normalise";
  const int64_t run = RunOfGroup(p);
  if (run == 0) return "its groups do not interleave: each is one run of memory";
  if (run > kLongestRun) {
    return StrCat("takes groups in runs of at most ", kLongestRun, " elements, here are ", run);
  }
  return {};
}

std::string NormalizeInterleavedHost::Refuse(const abi::Problem& p, const abi::Parameters& given,
                                             const abi::DeviceSpec&) {
  const abi::WholeParameters c(given, kParameters);
  const int64_t of_group = c["lanes"] * c["lines"], threads = of_group * c["groups"];
  if (threads % 32 != 0 || threads > kMaxThreads) {
    return StrCat("takes groups x lanes x lines in multiples of 32 up to 1024, here are ", threads);
  }
  if (of_group < 32) return StrCat("takes at least 32 threads for a group, here are ", of_group);
  if (c["blocks"] % c["cluster"] != 0) {
    return StrCat(c["blocks"], " blocks are no whole clusters of ", c["cluster"]);
  }
  std::string refusal = RefuseOddPower(c, "vector");
  if (!refusal.empty()) return refusal;
  const int64_t length = SpacesOf(kKey, p).domain.Count(0);
  if (length % c["vector"] != 0) {
    return StrCat("takes groups of whole vectors, here are ", length, " elements and vectors of ",
                  c["vector"]);
  }
  return RefuseStride(c["blocks"], c["groups"]);
}

abi::LaunchConfig NormalizeInterleavedHost::Launch(const abi::Problem&,
                                                   const abi::Parameters& given) {
  const abi::WholeParameters c(given, kParameters);
  abi::LaunchConfig launch = Launch1d(c["blocks"], c["groups"] * c["lanes"]);
  launch.block[1] = static_cast<uint32_t>(c["lines"]);
  launch.cluster[0] = static_cast<uint32_t>(c["cluster"]);
  const int64_t threads = c["groups"] * c["lanes"] * c["lines"];
  // A value of up to 24 bytes for every thread, and four for every group.
  launch.dynamic_shared_bytes = static_cast<uint32_t>(24 * (threads + 4 * c["groups"]));
  return launch;
}

}  // namespace aicf::cuda
