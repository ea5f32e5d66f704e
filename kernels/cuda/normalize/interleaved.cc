#include "kernels/cuda/normalize/hosts.h"

namespace aicf::cuda {

std::string NormalizeInterleavedHost::Refuse(const abi::Problem& p, const abi::Parameters& given,
                                             const abi::DeviceSpec&) {
  const abi::Parameters c = abi::Completed(given, kParameters);
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
  const abi::Parameters c = abi::Completed(given, kParameters);
  abi::LaunchConfig launch = Launch1d(c["blocks"], c["groups"] * c["lanes"]);
  launch.block[1] = static_cast<uint32_t>(c["lines"]);
  launch.cluster[0] = static_cast<uint32_t>(c["cluster"]);
  const int64_t threads = c["groups"] * c["lanes"] * c["lines"];
  // A value of 8 bytes for every thread, and for two sums of every group.
  launch.dynamic_shared_bytes = static_cast<uint32_t>(8 * (threads + 2 * c["groups"]));
  return launch;
}

}  // namespace aicf::cuda
