#include "kernels/cuda/attention/hosts.h"

namespace aicf::cuda {

using abi::MathMode;
using abi::Problem;

std::string AttentionHostBase::RefuseHeads(const Problem& p) {
  const abi::AttentionShape s = abi::AttentionShapeOf(p);
  if (s.head < 1 || s.value_head < 1) return "takes heads of at least one element";
  if (s.head > kMaxHead || s.value_head > kMaxHead) {
    return StrCat("takes heads of at most ", kMaxHead, " elements");
  }
  return {};
}

std::string AttentionHostBase::RefuseLaunch(const abi::LaunchConfig& launch, int64_t tiles,
                                            const abi::DeviceSpec& device) {
  if (tiles > kMaxBlocks) return "needs more blocks than a grid has";
  if (launch.dynamic_shared_bytes <= static_cast<uint64_t>(device.max_shared_bytes)) return {};
  return StrCat("needs ", launch.dynamic_shared_bytes, " bytes of shared memory, there are ",
                device.max_shared_bytes);
}

std::string AttentionTensorHost::Refusal(const Problem& p, const abi::DeviceSpec&) {
  if (p.math != MathMode::kTf32 && p.math != MathMode::kFp16 && p.math != MathMode::kBf16) {
    return StrCat("the math mode is ", abi::MathModeName(p.math),
                  ", tensor cores multiply in tf32, fp16 or bf16");
  }
  const DType data = p.inputs[0].dtype;
  if (data == DType::kF64) return "would narrow f64";
  if ((p.math == MathMode::kFp16 && data == DType::kBF16) ||
      (p.math == MathMode::kBf16 && data == DType::kF16)) {
    return StrCat("math mode ", abi::MathModeName(p.math), " would narrow ", DTypeName(data),
                  " values");
  }
  return RefuseHeads(p);
}

std::string AttentionTensorHost::Refuse(const Problem& p, const abi::Parameters& c,
                                        const abi::DeviceSpec& d) {
  const int64_t warps = c["warps"] * KeyWarps(c);
  if (warps > kMaxBlockWarps) {
    return StrCat("needs ", warps, " warps, a block has at most ", kMaxBlockWarps);
  }
  return RefuseLaunch(Launch(p, c), Tiles(abi::AttentionShapeOf(p), c["warps"] * kWarpRows), d);
}

abi::LaunchConfig AttentionTensorHost::Launch(const Problem& p, const abi::Parameters& c) {
  const abi::AttentionShape s = abi::AttentionShapeOf(p);
  const bool word = p.math == MathMode::kTf32;
  const int64_t rows = c["warps"] * kWarpRows, keys = Step(p) * KeyWarps(c), pad = word ? 4 : 8;
  const int64_t head = CeilDiv(s.head, 16) * 16 + pad, value = CeilDiv(s.value_head, 16) * 16 + pad;
  // After the last keys all groups of warps but the first leave the sums, the maximum and the total
  // of their rows where queries, keys and values were.
  const int64_t tiles = ((rows + keys) * head + keys * value) * (word ? 4 : 2);
  const int64_t sums =
      (KeyWarps(c) - 1) * c["warps"] * 32 * (CeilDiv(s.value_head, 16) * 8 + 4) * 4;
  abi::LaunchConfig l = Launch1d(Tiles(s, rows), 32);
  l.block[1] = static_cast<uint32_t>(c["warps"] * KeyWarps(c));
  l.dynamic_shared_bytes = static_cast<uint32_t>(std::max(tiles, sums));
  return l;
}

// The smallest tile is tried here already, because long heads of f64 exceed the shared memory of
// some devices with any tile.
std::string AttentionGeneralHost::Refusal(const Problem& p, const abi::DeviceSpec& d) {
  std::string refusal = RefuseHeads(p);
  return refusal.empty() ? Refuse(p, {{"tile_rows", kLeastRows}}, d) : refusal;
}

std::string AttentionGeneralHost::Refuse(const Problem& p, const abi::Parameters& c,
                                         const abi::DeviceSpec& d) {
  // A block has 16 x (tile_rows / 4) threads, which have to be whole warps.
  const std::string refusal = RefuseParts(c, "tile_rows", 2 * kThreadRows);
  if (!refusal.empty()) return refusal;
  return RefuseLaunch(Launch(p, c), Tiles(abi::AttentionShapeOf(p), c["tile_rows"]), d);
}

abi::LaunchConfig AttentionGeneralHost::Launch(const Problem& p, const abi::Parameters& c) {
  const abi::AttentionShape s = abi::AttentionShapeOf(p);
  const bool wide = p.inputs[0].dtype == DType::kF64;
  const int64_t rows = c["tile_rows"], head = s.head | 1, value = s.value_head | 1;
  abi::LaunchConfig l = Launch1d(Tiles(s, rows), 16);
  l.block[1] = static_cast<uint32_t>(rows / kThreadRows);
  const int64_t elements = (rows + kStep) * head + kStep * value + rows * (kStep + 1);
  l.dynamic_shared_bytes = static_cast<uint32_t>(elements * (wide ? 8 : 4));
  return l;
}

}  // namespace aicf::cuda
