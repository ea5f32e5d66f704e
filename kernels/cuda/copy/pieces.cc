#include "kernels/cuda/copy/pieces.h"

#include <algorithm>

#include "kernels/cuda/common/host.h"

namespace aicf::cuda {
namespace {

abi::View WindowOf(const abi::View& out, const Dims& start, const Dims& shape) {
  abi::View window = out;
  window.shape = shape;
  for (int d = 0; d < shape.rank(); ++d) window.offset += start[d] * out.strides[d];
  return window;
}

}  // namespace

std::vector<CopyPiece> PiecesOf(const abi::Problem& p, const abi::Parameters& parameters) {
  const int64_t threads = std::max<int64_t>(1, parameters["threads"]);
  const int64_t widest = std::max<int64_t>(1, parameters["vector"]);
  const int64_t least_threads = parameters["least_threads"];
  const int64_t unroll = std::max<int64_t>(1, parameters["unroll"]);
  std::vector<CopyPiece> pieces;
  int64_t next = 0;
  for (size_t k = 0; k < p.inputs.size(); ++k) {
    CopyPiece piece;
    piece.input = k;
    piece.from = p.inputs[k];
    piece.count = abi::ElementsOf(piece.from);
    if (piece.count == 0) continue;
    piece.to = WindowOf(p.outputs[0], p.as<abi::CopyAttrs>().starts[k], piece.from.shape);
    abi::Problem alone = p;
    alone.outputs[0] = piece.to;
    piece.space = SpacesOf("", alone).output;
    piece.vector = std::min<int64_t>(VectorOf({&piece.to, &piece.from}, piece.space), widest);
    while (piece.vector > 1 && RunOf(piece.to, piece.space) < piece.vector) piece.vector /= 2;
    while (piece.vector > 1 && piece.count / piece.vector < least_threads) piece.vector /= 2;
    piece.first_block = next;
    // Each piece is walked in strides of its own blocks.
    const int64_t per_block = threads * piece.vector * unroll;
    constexpr int64_t kEnough = 1 << 20;
    piece.blocks = std::clamp<int64_t>(CeilDiv(piece.count, per_block), 1,
                                       std::min(kEnough, kMaxGridStride / per_block));
    next += piece.blocks;
    pieces.push_back(std::move(piece));
  }
  return pieces;
}

}  // namespace aicf::cuda
