#include "kernels/cuda/conv/depthwise_tile.h"

#include "kernels/cuda/conv/hosts.h"

namespace aicf::cuda {
namespace {

// Elements along an axis that the windows of `positions` neighbouring outputs span.
int64_t Reach(const abi::Problem& p, int axis, int64_t positions) {
  const auto& a = p.as<abi::ConvAttrs>();
  const int64_t taps = p.inputs[1].shape[axis + 2];
  return (positions - 1) * a.strides[axis] + (taps - 1) * a.dilations[axis] + 1;
}

int64_t Groups(const abi::Parameters& c) { return CeilDiv(c["tile_w"], c["pixels"]); }

}  // namespace

int64_t ConvDepthwiseTileHost::Workers(const abi::Parameters& c) {
  return c["tile_c"] / c["piece"] * Groups(c) * c["tile_h"];
}

int64_t ConvDepthwiseTileHost::Tiles(const abi::Problem& p, const abi::Parameters& c) {
  const Dims& y = p.outputs[0].shape;
  return y[0] * CeilDiv(y[1], c["tile_c"]) * CeilDiv(y[2], c["tile_h"]) *
         CeilDiv(y[3], c["tile_w"]);
}

int64_t ConvDepthwiseTileHost::SharedBytes(const abi::Problem& p, const abi::Parameters& c) {
  const Dims& w = p.inputs[1].shape;
  const int64_t inputs =
      Reach(p, 0, c["tile_h"]) * Reach(p, 1, Groups(c) * c["pixels"]) * (c["tile_c"] + c["pad"]);
  return w[2] * w[3] * c["tile_c"] * 4 + inputs * DTypeBytes(p.inputs[0].dtype);
}

std::string ConvDepthwiseTileHost::Refusal(const abi::Problem& p, const abi::DeviceSpec& d) {
  if (p.as<abi::ConvAttrs>().strides.rank() != 2) return "takes two spatial axes";
  std::string refusal = ConvDepthwiseHost::Refusal(p, d);
  if (!refusal.empty()) return refusal;
  const auto& a = p.as<abi::ConvAttrs>();
  // With this limit products of parameters and extents fit 64 bits, and a tile the kernel's 32.
  constexpr int64_t kMost = 256;
  if (a.strides[0] > kMost || Reach(p, 0, 1) > kMost) return "the window is too high for a tile";
  return {};
}

std::string ConvDepthwiseTileHost::Refuse(const abi::Problem& p, const abi::Parameters& c,
                                          const abi::DeviceSpec& d) {
  const int64_t piece = c["piece"], most = ConvDepthwiseHost::MaxPiece(p);
  std::string refusal = RefuseOddPower(c, "tile_c");
  if (!refusal.empty()) return refusal;
  if (piece > most || piece > c["tile_c"] || !IsPowerOfTwo(static_cast<uint64_t>(piece))) {
    return StrCat("takes a piece of a power of two up to ", std::min(most, c["tile_c"]),
                  " channels, here is ", piece);
  }
  refusal = RefuseParts(c, "pad", 8);
  if (!refusal.empty()) return refusal;
  if (c["pixels"] > c["tile_w"]) {
    return StrCat(c["pixels"], " pixels of a thread are more than the tile's ", c["tile_w"]);
  }
  if (Workers(c) > kMaxThreads) return StrCat("needs ", Workers(c), " threads, a block has 1024");
  const int64_t bytes = SharedBytes(p, c);
  if (bytes > d.max_shared_bytes) {
    return StrCat("needs ", bytes, " bytes of shared memory, there are ", d.max_shared_bytes);
  }
  return Tiles(p, c) <= kMaxBlocks ? "" : "needs more blocks than a grid has";
}

abi::LaunchConfig ConvDepthwiseTileHost::Launch(const abi::Problem& p, const abi::Parameters& c) {
  abi::LaunchConfig launch = Launch1d(Tiles(p, c), CeilDiv(Workers(c), 32) * 32);
  launch.dynamic_shared_bytes = static_cast<uint32_t>(SharedBytes(p, c));
  return launch;
}

}  // namespace aicf::cuda
