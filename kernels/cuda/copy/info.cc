#include "kernels/cuda/common/host.h"
#include "kernels/cuda/copy/pieces.h"

namespace aicf::cuda {
namespace {

using abi::CopyAttrs;
using abi::DeviceSpec;
using abi::LaunchConfig;
using abi::Problem;
using abi::View;

constexpr int64_t kMaxGrid = 1 << 20;

double CopyUs(const Problem& p, const DeviceSpec& d, double share, double blocks) {
  return PredictUs({.bytes = abi::ByteCount(p),
                    .bytes_share = share,
                    .blocks = blocks,
                    .latency_us = 0.8,
                    .blocks_per_sm = 16},
                   d);
}

// Innermost axis of more than one element with stride 1, or -1.
int ContiguousAxis(const View& v) {
  for (int d = 0; d < v.shape.rank(); ++d) {
    if (v.strides[d] == 1 && v.shape[d] > 1) return d;
  }
  return -1;
}

struct PiecesHost : CudaHostBase {
  static constexpr std::string_view kKey = "cuda.copy.pieces";
  static constexpr std::string_view kSource = "copy/pieces.cuh";

  static std::string Refusal(const Problem& p, const DeviceSpec&) {
    int64_t covered = 0;
    for (const View& v : p.inputs) covered += abi::ElementsOf(v);
    if (covered == abi::ElementsOf(p.outputs[0])) return {};
    return "the pieces do not cover the output";
  }
  static LaunchConfig Launch(const Problem& p, const DeviceSpec&) {
    int64_t blocks = 1;
    for (const CopyPiece& piece : PiecesOf(p)) blocks = piece.first_block + piece.blocks;
    return Launch1d(static_cast<uint32_t>(blocks), kCopyThreads);
  }
  static bool InPlace(const Problem& p, int input) {
    // Moves nothing where the piece already lies in its place.
    return p.inputs.size() == 1 && SameElements(p, input);
  }
  static double CostUs(const Problem& p, const DeviceSpec& d) {
    bool whole_lines = true;
    for (const CopyPiece& piece : PiecesOf(p)) {
      const int inner = ContiguousAxis(piece.to);
      whole_lines = whole_lines && inner >= 0 && piece.from.strides[inner] <= 1 &&
                    piece.from.strides[inner] >= -1;
    }
    return CopyUs(p, d, whole_lines ? 0.85 : 0.25, Launch(p, d).grid[0]);
  }
};

struct TransposeHost : CudaHostBase {
  static constexpr std::string_view kKey = "cuda.copy.transpose";
  static constexpr std::string_view kSource = "copy/transpose.cuh";
  static constexpr int kTile = 32;

  static std::string Refusal(const Problem& p, const DeviceSpec&) {
    if (p.inputs.size() != 1 || p.inputs[0].shape != p.outputs[0].shape) {
      return "is for one piece that covers the output";
    }
    const int from = ContiguousAxis(p.inputs[0]);
    const int to = ContiguousAxis(p.outputs[0]);
    const Dims inner = SpacesOf(kKey, p).output.groups[0];
    if (from < 0 || to < 0 || inner.empty() || inner.back() != to) {
      return "needs an axis of stride 1 in the input and in the output";
    }
    if (from == to) return "input and output are contiguous along the same axis";
    if (p.inputs[0].shape[from] < 8 || p.inputs[0].shape[to] < 8) {
      return "an exchanged axis has fewer than 8 elements";
    }
    return {};
  }
  static LaunchConfig Launch(const Problem& p, const DeviceSpec&) {
    const Dims& shape = p.inputs[0].shape;
    const int from = ContiguousAxis(p.inputs[0]);
    const int to = ContiguousAxis(p.outputs[0]);
    const int64_t tiles = CeilDiv(shape[from], kTile) * CeilDiv(shape[to], kTile);
    const int64_t outer =
        abi::ElementsOf(p.inputs[0]) / std::max<int64_t>(1, shape[from] * shape[to]);
    LaunchConfig launch = Launch1d(GridFor(tiles * outer, 1, kMaxGrid), kTile);
    launch.block[1] = 8;
    return launch;
  }
  static double CostUs(const Problem& p, const DeviceSpec& d) {
    return CopyUs(p, d, 0.7, Launch(p, d).grid[0]);
  }
};

struct FillHost : CudaHostBase {
  static constexpr std::string_view kKey = "cuda.copy.fill";
  static constexpr std::string_view kSource = "copy/fill.cuh";

  static LaunchConfig Launch(const Problem& p, const DeviceSpec&) {
    return Launch1d(GridFor(abi::ElementsOf(p.outputs[0]), kCopyThreads, kMaxGrid), kCopyThreads);
  }
  static double CostUs(const Problem& p, const DeviceSpec& d) {
    return CopyUs(p, d, 0.4, Launch(p, d).grid[0]);
  }
};

}  // namespace
}  // namespace aicf::cuda

namespace aicf::abi {

template <>
std::span<const KernelInfo> CudaKernels<Family::kCopy>() {
  static const KernelInfo rows[] = {cuda::CudaRow<cuda::PiecesHost>(Family::kCopy),
                                    cuda::CudaRow<cuda::TransposeHost>(Family::kCopy),
                                    cuda::CudaRow<cuda::FillHost>(Family::kCopy)};
  return rows;
}

}  // namespace aicf::abi
