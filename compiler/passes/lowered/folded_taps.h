/// How the taps of a convolution of few channels lie beside each other (pass fold-taps): the shapes
/// and views of its stored input and weights. From FoldedOf on, convolutions are those that
/// RefuseFolding does not refuse.
#pragma once

#include <string>

#include "compiler/ir/tensor.h"
#include "kernels/abi/problem.h"

namespace aicf {

/// The copy engine moves at least this many bytes, and strides have to be multiples of it.
inline constexpr int64_t kFoldedPieceBytes = 16;

/// A window's taps along the last axis and the channels of each as one axis. The input is stored
/// with its channels innermost, `channels` of them, and its last axis padded to `width`: the taps
/// of one window are `length` neighbours in memory, and the windows `stride` elements apart.
///
/// With `rows` above 1, groups of that many neighbouring rows (the axis before the last) are stored
/// together, as [n, height, width, rows, channels], where `height` counts groups. A window's line
/// then holds the taps of all rows of a group. Groups begin `apart` rows after each other, as
/// windows do. Where that is less than `rows`, groups overlap, and a row is stored more than once.
/// Each window begins with row `shift` of a group and spans `groups` groups, each of which begins
/// where the one before it ends, so `Dilation()` groups further on. The stored groups include the
/// padding, and the image's first row is the first row of group `first_group`. Single rows are
/// stored with the padding in front of and behind them only if that is not zeros, which a
/// convolution can add by itself; `height` is 0 otherwise.
struct Folded {
  int64_t channels = 0, width = 0, length = 0, stride = 0;
  int64_t rows = 1, apart = 1, height = 0, groups = 0, shift = 0, first_group = 0;

  int64_t Dilation() const { return rows / apart; }
};

/// Whether it is a convolution with fewer channels than such a piece has elements (`piece`), as the
/// first convolution of many models is.
bool HasFewChannels(const abi::Problem& p, int64_t piece);

/// Whether folded weights of this dtype are stored along the sum: tensor cores take weights of 16
/// bits in either order, others only so.
bool FoldedAlongSum(DType weights);

/// Empty, or why the taps of a convolution cannot be folded.
std::string RefuseFolding(const abi::Problem& p);

/// How the taps of convolution `p` are folded, with `piece` elements in 16 bytes. Rows are stored
/// together where that pays. `zero_padding`: the convolution's padding is zeros.
Folded FoldedOf(const abi::Problem& p, int64_t piece, bool zero_padding);

/// Of an input [n, c, spatial..]: the buffer [n, spatial.., c] with `width` in place of the last
/// spatial extent, or with rows beside each other.
Dims StoredShape(const Dims& shape, const Folded& f);

/// Dense elements of StoredShape as the model's axes: [n, c, spatial..], channels innermost; with
/// rows beside each other [n, c, group, row, w].
abi::View StoredView(DType dtype, const Dims& stored, const Folded& f);

/// The copy that stores the input of convolution `p`, with `fill` as its padding.
abi::Problem StoringCopy(const abi::Problem& p, const Folded& f, double fill);

/// w[o, c, taps.., s] at [taps.., s * channels + c, o], or with the last two exchanged, along the
/// sum; with rows beside each other row r at [(r + shift) / rows, (s * rows + (r + shift) % rows) *
/// channels + c, o]. Zeros for channels and rows that the model lacks.
ir::Tensor FoldedWeights(const ir::Tensor& w, const Folded& f, bool along_sum);

/// The convolution `p` over the stored input, with the weights that FoldedWeights makes. Along the
/// last axis it has a single tap, whose channels are all taps of a window.
abi::Problem FoldedProblem(const abi::Problem& p, const Folded& f, bool along_sum);

}  // namespace aicf
