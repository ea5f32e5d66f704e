/// What is legal for the copy kernels.
#pragma once

#include "kernels/cuda/common/map_host.h"
#include "kernels/cuda/copy/pieces.h"

namespace aicf::cuda {

/// Empty, or why a kernel that moves elements as they are cannot run the problem.
inline std::string RefuseConversion(const abi::Problem& p) {
  return p.epilogue.empty() ? std::string() : "moves elements as they are";
}

struct CopyPiecesHost : CudaHostBase {
  static constexpr std::string_view kKey = "cuda.copy.pieces";
  static constexpr std::string_view kSource = "copy/pieces.cuh";
  static constexpr abi::ParameterRange kParameters[] = {
      kThreadsRange, kVectorRange, {"least_threads", 0, int64_t{1} << 30}, kUnrollRange};

  static std::string Refusal(const abi::Problem& p, const abi::DeviceSpec&) {
    int64_t covered = 0;
    for (const abi::View& v : p.inputs) covered += abi::ElementsOf(v);
    if (covered == abi::ElementsOf(p.outputs[0])) return RefuseConversion(p);
    return "the pieces do not cover the output";
  }
  static std::string Refuse(const abi::Problem&, const abi::Parameters& given,
                            const abi::DeviceSpec&) {
    const abi::WholeParameters c(given, kParameters);
    std::string refusal = RefuseParts(c, "threads", 32);
    if (refusal.empty()) refusal = RefuseOddPower(c, "vector");
    return refusal.empty() ? RefuseOddPower(c, "unroll") : refusal;
  }
  /// At most 2^20 blocks for each of at most 56 pieces: always fewer than a grid may have.
  static int64_t Blocks(const abi::Problem& p, const abi::Parameters& c) {
    int64_t blocks = 1;
    for (const CopyPiece& piece : PiecesOf(p, c)) blocks = piece.first_block + piece.blocks;
    return blocks;
  }
  static abi::LaunchConfig Launch(const abi::Problem& p, const abi::Parameters& c) {
    return Launch1d(Blocks(p, c), c["threads"]);
  }
  static bool InPlace(const abi::Problem& p, int input) {
    // A piece that already lies in its place need not be moved.
    return p.inputs.size() == 1 && SameElements(p, input);
  }
};

/// Exchanges the contiguous axis for another one, in tiles of 32 x 32.
struct CopyTransposeHost : CudaHostBase {
  static constexpr std::string_view kKey = "cuda.copy.transpose";
  static constexpr std::string_view kSource = "copy/transpose.cuh";
  static constexpr abi::ParameterRange kParameters[] = {{"tile_rows", 1, 32}, kBlocksRange};
  static constexpr int64_t kTile = 32;

  static std::string Refusal(const abi::Problem& p, const abi::DeviceSpec&);
  static std::string Refuse(const abi::Problem&, const abi::Parameters& c, const abi::DeviceSpec&) {
    const std::string refusal = RefuseOddPower(c, "tile_rows");
    return refusal.empty() ? RefuseStride(c["blocks"], 1) : refusal;
  }
  static abi::LaunchConfig Launch(const abi::Problem&, const abi::Parameters& c) {
    abi::LaunchConfig launch = Launch1d(c["blocks"], kTile);
    launch.block[1] = static_cast<uint32_t>(c["tile_rows"]);
    return launch;
  }
};

/// A thread moves `vector` neighbours of the output's innermost axis.
struct CopyFillHost : PointHostBase {
  static constexpr std::string_view kKey = "cuda.copy.fill";
  static constexpr std::string_view kSource = "copy/fill.cuh";
  static constexpr abi::ParameterRange kParameters[] = {
      kThreadsRange, kBlocksRange, {"vector", 1, kMaxVector, 1}};  // if absent: one

  static std::string Refusal(const abi::Problem& p, const abi::DeviceSpec&) {
    return RefuseConversion(p);
  }
  /// The most neighbours that one access can store, within 16 bytes: of one line of the output's
  /// innermost axis, or several whole lines that follow each other along the axis around it.
  static int64_t MaxVector(const abi::Problem& p);
  static std::string Refuse(const abi::Problem& p, const abi::Parameters& c,
                            const abi::DeviceSpec&);
};

/// Like CopyFillHost, but for problems with an epilogue, whether or not the copy fills anything.
struct CopyConvertHost : PointHostBase {
  static constexpr std::string_view kKey = "cuda.copy.convert";
  static constexpr std::string_view kSource = "copy/convert.cuh";
  static constexpr abi::ParameterRange kParameters[] = {
      kThreadsRange, kBlocksRange, {"vector", 1, kMaxVector, 1}};  // if absent: one

  static std::string Refusal(const abi::Problem& p, const abi::DeviceSpec&) {
    return p.epilogue.empty() ? "has no epilogue, which this kernel is for" : std::string();
  }
  static std::string Refuse(const abi::Problem& p, const abi::Parameters& c,
                            const abi::DeviceSpec&);
};

/// In order of preference: ties of predicted cost go to the earlier one.
template <>
struct CudaHosts<abi::Family::kCopy> {
  using List = HostList<CopyPiecesHost, CopyTransposeHost, CopyFillHost, CopyConvertHost>;
};

}  // namespace aicf::cuda
