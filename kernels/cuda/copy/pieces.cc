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

std::vector<CopyPiece> PiecesOf(const abi::Problem& p) {
  // Enough blocks per piece to keep the machine busy, few enough that a block moves several
  // vectors.
  constexpr int64_t kMaxBlocks = 1 << 20;
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
    piece.vector = VectorOf({&piece.to, &piece.from}, piece.space);
    while (piece.vector > 1 && RunOf(piece.to, piece.space) < piece.vector) piece.vector /= 2;
    while (piece.vector > 1 && piece.count / piece.vector < 128 * 132) piece.vector /= 2;
    piece.first_block = next;
    piece.blocks = GridFor(piece.count, int64_t{kCopyThreads} * piece.vector, kMaxBlocks);
    next += piece.blocks;
    pieces.push_back(std::move(piece));
  }
  return pieces;
}

}  // namespace aicf::cuda
