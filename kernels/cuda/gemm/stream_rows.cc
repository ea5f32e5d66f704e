#include "kernels/cuda/gemm/stream_rows.h"

#include "kernels/cuda/common/tiles.h"
#include "kernels/cuda/gemm/hopper.h"

namespace aicf::cuda {
namespace {

using abi::Parameters;
using abi::Problem;

int64_t TilesOf(const Problem& p, const Parameters& c) {
  return CeilDiv(ProductOf(p).columns, c["tile_n"]);
}

// The same product as a variant of cuda.gemm.hopper: what gemm/stream_rows.cuh makes constants.
Parameters AsHopper(const Problem& p, const Parameters& c) {
  return {{"tile_m", c["tile_m"]},
          {"tile_n", c["tile_n"]},
          {"tile_k", 128 / DTypeBytes(p.inputs[1].dtype)},
          {"stages", c["stages"]},
          {"cluster_m", 1},
          {"cluster", c["split"]},
          {"consumers", 1},
          {"group_m", 1},
          {"swap", 1},
          {"ping_pong", 0},
          {"vector", c["vector"]},
          {"blocks", TilesOf(p, c) * c["split"]},
          {"split", c["split"]},
          {"ahead", c["ahead"]},
          {"promote", 0}};
}

}  // namespace

std::string GemmStreamRowsHost::Refusal(const Problem& p, const abi::DeviceSpec& d) {
  if (std::string refusal = GemmHopperHost::Refusal(p, d); !refusal.empty()) return refusal;
  if (DTypeBytes(p.inputs[0].dtype) == 1) return "multiplies f16, bf16 and f32 as tf32 only";
  if (SeesMoments(p) && !ReadsParts(p)) return "sums up no moments, it reads those of parts alone";
  const ProductShape s = ProductOf(p);
  if (s.batch != 1) return StrCat("is for a single product, here are ", s.batch);
  return s.rows <= kMostRows ? "" : StrCat("is for up to ", kMostRows, " rows, here are ", s.rows);
}

std::string GemmStreamRowsHost::Refuse(const Problem& p, const Parameters& c,
                                       const abi::DeviceSpec& d) {
  const int64_t rows = ProductOf(p).rows;
  std::string refusal = rows > c["tile_m"] ? StrCat("it has no room for ", rows, " rows")
                                           : RefuseCutHopperTile(p, AsHopper(p, c), d);
  return refusal.empty() ? refusal : StrCat("does not take the tile: ", refusal);
}

abi::LaunchConfig GemmStreamRowsHost::Launch(const Problem& p, const Parameters& c) {
  return GemmHopperHost::Launch(p, AsHopper(p, c));
}

std::vector<abi::TensorMap> GemmStreamRowsHost::TensorMaps(const Problem& p, const Parameters& c) {
  return GemmHopperHost::TensorMaps(p, AsHopper(p, c));
}

}  // namespace aicf::cuda
