#include "kernels/cuda/conv/hopper.h"

#include <algorithm>

#include "kernels/cuda/common/hopper_shape.h"
#include "kernels/cuda/conv/hopper_maps.h"

namespace aicf::cuda {
namespace {

using abi::Parameters;
using abi::Problem;

constexpr int64_t kPatternBytes = 1024;  // of the widest swizzle

std::string RefuseWindow(const Problem& p) {
  const auto& a = p.as<abi::ConvAttrs>();
  const int spatial = a.strides.rank();
  if (a.transposed) return "is not for transposed convolutions";
  if (a.group != 1) return "is not for grouped convolutions";
  if (spatial > 2) return "takes one or two spatial axes";
  for (int d = 0; d < spatial; ++d) {
    if (a.strides[d] > 8) return "strides above 8 are none that the copy engine takes";
  }
  return {};
}

// Empty, or why coordinates might overflow. The engine's have 32 bits and must have room for the
// last tile's overhang and the window's reach.
std::string RefuseExtents(const Problem& p, int64_t outputs) {
  constexpr int64_t kMaxExtent = int64_t{1} << 27;
  for (int operand : {0, 1}) {
    for (int64_t extent : p.inputs[static_cast<size_t>(operand)].shape) {
      if (extent > kMaxExtent) return "an operand is too long";
    }
  }
  const auto& a = p.as<abi::ConvAttrs>();
  for (int d = 0; d < a.strides.rank(); ++d) {
    if (a.dilations[d] > (kMaxExtent / p.inputs[1].shape[d + 2]) || a.pads_begin[d] > kMaxExtent ||
        p.outputs[0].shape[d + 2] > kMaxExtent) {
      return "the window reaches too far";
    }
  }
  return outputs > (int64_t{1} << 31) - (int64_t{1} << 28) ? "the output has too many elements"
                                                           : "";
}

std::string RefuseBox(const Problem& p, const Parameters& c) {
  const auto& a = p.as<abi::ConvAttrs>();
  const bool flat = c["flat"] != 0;
  const int64_t positions = c["tile_w"] * c["tile_h"] * c["tile_b"];
  if (flat && !IsFlatConv(p)) return "its positions are not one axis";
  if (flat && c["tile_h"] * c["tile_b"] != 1) return "a flat tile runs along one axis";
  if (!flat && a.strides.rank() == 1 && c["tile_h"] != 1) return "there is no second spatial axis";
  if (positions > c["tile_m"]) {
    return StrCat(positions, " positions are more than the tile's ", c["tile_m"]);
  }
  const int64_t stride_w = flat ? 1 : a.strides.back(), stride_h = flat ? 1 : a.strides[0];
  if ((c["tile_w"] - 1) * stride_w >= 256 || (c["tile_h"] - 1) * stride_h >= 256) {
    return "a box of the input spans more than 256 elements";
  }
  return {};
}

std::string RefuseSplit(const Problem& p, const Parameters& c) {
  const int64_t split = c["split"];
  if (c["blocks"] % split != 0) return "blocks that are no whole clusters";
  if (split > 1 && c["ping_pong"] != 0) return "consumers that take turns sum all of k";
  const int64_t steps = ConvHopperSteps(p, c);
  return split <= steps ? "" : StrCat(split, " blocks share ", steps, " steps of k");
}

std::string RefuseHeld(const Problem& p, const Parameters& c) {
  if (c["held_b"] == 0) return {};
  const int64_t all = ConvHopperWeightTiles(p, c);
  if (c["held_b"] != all) return StrCat("blocks hold all ", all, " tiles of weights or none");
  if (c["split"] != 1 || c["promote"] != 0) {
    return "blocks that hold the weights sum all of k on the tensor cores";
  }
  const int64_t tile = c["tile_n"] * c["tile_k"] * DTypeBytes(p.inputs[0].dtype);
  return tile % kPatternBytes == 0 ? "" : "tiles of weights are no whole swizzle patterns";
}

std::string RefuseConvHopperTile(const Problem& p, const Parameters& c, const abi::DeviceSpec& d) {
  const DType data = p.inputs[0].dtype;
  if (std::string refusal = RefuseHopperTile(c, data, {.sevens = c["swap"] != 0});
      !refusal.empty()) {
    return refusal;
  }
  if (std::string refusal = RefuseBox(p, c); !refusal.empty()) return refusal;
  if (std::string refusal = ConvHopperMaps(p, c).RefuseTile(); !refusal.empty()) return refusal;
  if (std::string refusal = RefuseSplit(p, c); !refusal.empty()) return refusal;
  if (std::string refusal = RefuseHeld(p, c); !refusal.empty()) return refusal;
  if (std::string refusal = RefuseOddPower(c, "vector"); !refusal.empty()) return refusal;
  const int64_t bytes = ConvHopperSharedBytes(c, DTypeBytes(data));
  if (bytes > d.max_shared_bytes) {
    return StrCat("it needs ", bytes, " bytes of shared memory, there are ", d.max_shared_bytes);
  }
  return {};
}

}  // namespace

int64_t ConvHopperSharedBytes(const Parameters& c, int64_t element) {
  const int64_t row = c["tile_k"] * element, held = c["held_b"];
  const int64_t stage = held == 0 ? HopperStageBytes(c, element)
                                  : CeilDiv(c["tile_m"] * row, kPatternBytes) * kPatternBytes;
  return kPatternBytes + held * c["tile_n"] * row + (held == 0 ? 0 : 16) +
         c["stages"] * (stage + 16) + c["consumers"] * HopperStoreBytes(c["split"]);
}

int64_t ConvHopperWeightTiles(const Problem& p, const Parameters& c) {
  return CeilDiv(p.outputs[0].shape[1], c["tile_n"]) * ConvHopperSteps(p, c);
}

int64_t ConvHopperTiles(const Problem& p, const Parameters& c) {
  const ConvPositions all = PositionsOf(p, c["flat"] != 0);
  return CeilDiv(p.outputs[0].shape[1], c["tile_n"]) * CeilDiv(all.w, c["tile_w"]) *
         CeilDiv(all.h, c["tile_h"]) * CeilDiv(all.b, c["tile_b"]);
}

int64_t ConvHopperSteps(const Problem& p, const Parameters& c) {
  const Dims& w = p.inputs[1].shape;
  int64_t steps = CeilDiv(w[1], c["tile_k"]);
  for (int d = 2; d < w.rank(); ++d) steps *= w[d];
  return steps;
}

std::string ConvHopperHost::Refusal(const Problem& p, const abi::DeviceSpec& d) {
  if (!d.warpgroup_products) return RefuseWithoutWarpgroups(d);
  if (std::string refusal = RefuseHopperTypes(p); !refusal.empty()) return refusal;
  if (std::string refusal = RefuseWindow(p); !refusal.empty()) return refusal;
  const int64_t outputs = abi::ElementsOf(p.outputs[0]);
  if (outputs == 0 || p.inputs[0].shape[1] == 0) return "the product is empty";
  if (RowsInner(p)) return "the output's positions are innermost";
  if (std::string refusal = RefuseExtents(p, outputs); !refusal.empty()) return refusal;
  if (std::string refusal = ConvHopperMaps::RefuseInput(p); !refusal.empty()) return refusal;
  return ConvHopperMaps::RefuseWeights(p);
}

std::string ConvHopperHost::Refuse(const Problem& p, const Parameters& c,
                                   const abi::DeviceSpec& d) {
  std::string refusal = RefuseConvHopperTile(p, c, d);
  return refusal.empty() ? refusal : StrCat("does not take the tile: ", refusal);
}

abi::LaunchConfig ConvHopperHost::Launch(const Problem& p, const Parameters& c) {
  // The producer of a single consumer is only one warp, so that a multiprocessor has registers for
  // more blocks.
  const int64_t producer = c["consumers"] == 1 ? 32 : 128;
  abi::LaunchConfig launch = Launch1d(c["blocks"], 128 * c["consumers"] + producer);
  launch.cluster[0] = static_cast<uint32_t>(c["split"]);
  launch.dynamic_shared_bytes =
      static_cast<uint32_t>(ConvHopperSharedBytes(c, DTypeBytes(p.inputs[0].dtype)));
  return launch;
}

std::vector<abi::TensorMap> ConvHopperHost::TensorMaps(const Problem& p, const Parameters& c) {
  const ConvHopperMaps maps(p, c);
  return {maps.Input(), maps.Weights()};
}

}  // namespace aicf::cuda
