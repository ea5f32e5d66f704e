#include "kernels/cuda/gemm/hopper.h"

#include <algorithm>

#include "kernels/cuda/common/hopper_shape.h"
#include "kernels/cuda/common/tiles.h"
#include "kernels/cuda/gemm/hopper_operand.h"

namespace aicf::cuda {
namespace {

using abi::Problem;

std::string RefuseShape(const abi::Parameters& c, DType operands) {
  const int64_t line = c["tile_k"] * DTypeBytes(operands);
  if (line != 128) return StrCat("takes 128 bytes along k, not ", line);
  return RefuseHopperTile(c, operands, /*takes_sevens=*/false);
}

// Blocks of a cluster that share out k; 1 where the set does not have the name.
int64_t SplitOf(const abi::Parameters& c) { return std::max<int64_t>(1, c["split"]); }

std::string RefuseSplit(const abi::Parameters& c, const ProductShape& s) {
  const int64_t split = SplitOf(c), steps = CeilDiv(s.length, c["tile_k"]);
  if (split == 1) return {};
  if (c["cluster"] != split || c["cluster_m"] != 1) {
    return StrCat("a cluster whose blocks share k has ", split, " of them and shares no operands");
  }
  if (c["ping_pong"] != 0) return "consumers that take turns sum all of k";
  return split <= steps ? "" : StrCat(split, " blocks share ", steps, " steps of k");
}

std::string RefuseCluster(const abi::Parameters& c) {
  const int64_t cluster = c["cluster"] / SplitOf(c), along_m = c["cluster_m"];
  if (cluster % along_m != 0) return "a cluster of no whole rows";
  if (along_m > 1 && cluster / along_m > 1) return "a cluster in both directions";
  if (c["blocks"] % c["cluster"] != 0) return "blocks that are no whole clusters";
  if (cluster > 1 && c["ahead"] != 0) return "blocks that share operands read nothing ahead";
  return {};
}

}  // namespace

int64_t HopperSharedBytes(const abi::Parameters& c, int64_t halves) {
  return 1024 + c["stages"] * (c["tile_m"] + c["tile_n"]) * 128 + 16 * c["stages"] +
         c["consumers"] * HopperStoreBytes(SplitOf(c), halves);
}

std::string GemmHopperHost::Refusal(const Problem& p, const abi::DeviceSpec& d) {
  if (!d.warpgroup_products) return RefuseWithoutWarpgroups(d);
  if (std::string refusal = RefuseHopperTypes(p); !refusal.empty()) return refusal;
  const ProductShape s = ProductOf(p);
  if (s.rows == 0 || s.columns == 0 || s.length == 0 || s.batch == 0) return "the product is empty";
  for (int operand : {0, 1}) {
    std::string refusal = HopperOperand::Refusal(p, operand);
    if (!refusal.empty()) return StrCat("operand ", operand, " ", refusal);
  }
  return {};
}

std::string GemmHopperHost::Refuse(const Problem& p, const abi::Parameters& c,
                                   const abi::DeviceSpec& d) {
  std::string refusal = RefuseShape(c, p.inputs[0].dtype);
  if (refusal.empty()) refusal = RefuseSplit(c, ProductOf(p));
  if (refusal.empty()) refusal = RefuseCluster(c);
  for (int operand : {0, 1}) {
    if (refusal.empty()) refusal = HopperOperand(p, operand).RefuseTile(c);
  }
  if (refusal.empty()) refusal = RefuseOddPower(c, "vector");
  const int64_t shared = HopperSharedBytes(c, RawInputs(p));
  if (refusal.empty() && shared > d.max_shared_bytes) {
    refusal =
        StrCat("it needs ", shared, " bytes of shared memory, there are ", d.max_shared_bytes);
  }
  return refusal.empty() ? refusal : StrCat("does not take the tile: ", refusal);
}

abi::LaunchConfig GemmHopperHost::Launch(const Problem& p, const abi::Parameters& c) {
  abi::LaunchConfig launch = Launch1d(c["blocks"], 128 * (c["consumers"] + 1));
  launch.cluster[0] = static_cast<uint32_t>(c["cluster"]);
  launch.dynamic_shared_bytes = static_cast<uint32_t>(HopperSharedBytes(c, RawInputs(p)));
  return launch;
}

std::vector<abi::TensorMap> GemmHopperHost::TensorMaps(const Problem& p, const abi::Parameters& c) {
  return {HopperOperand(p, 0).Map(c), HopperOperand(p, 1).Map(c)};
}

}  // namespace aicf::cuda
