/// How the taps of a convolution of few channels lie beside each other (pass fold-taps): the shapes
/// and views of its stored input and weights. All are of convolutions that the pass folds: not
/// transposed, in one group, with one or two spatial axes.
#pragma once

#include "compiler/ir/tensor.h"
#include "kernels/abi/problem.h"

namespace aicf {

/// A window's taps along the last axis and the channels of each as one axis. The input is stored
/// with its channels innermost, `channels` of them, and its last axis padded to `width`: the taps
/// of one window are `length` neighbours in memory, and the windows `stride` elements apart.
///
/// With `rows` above 1, groups of that many neighbouring rows (the axis before the last) are stored
/// together, as [n, height, width, rows, channels], where `height` counts groups. A window's line
/// then holds the taps of all rows of a group. Windows are `rows` rows apart, so that each begins
/// with row `shift` of a group and spans `groups` groups. The stored groups include the padding,
/// and the image's first row is the first row of group `first_group`.
struct Folded {
  int64_t channels = 0, width = 0, length = 0, stride = 0;
  int64_t rows = 1, height = 0, groups = 0, shift = 0, first_group = 0;
};

/// How the taps of convolution `p` are folded. `piece`: elements of the 16 bytes that the copy
/// engine moves at least. Rows are stored together where that pays.
Folded FoldedOf(const abi::Problem& p, int64_t piece);

/// Of an input [n, c, spatial..]: the buffer [n, spatial.., c] with `width` in place of the last
/// spatial extent, or with rows beside each other.
Dims StoredShape(const Dims& shape, const Folded& f);

/// Dense elements of StoredShape as the model's axes: [n, c, spatial..], channels innermost; with
/// rows beside each other [n, c, group, row, w].
abi::View StoredView(DType dtype, const Dims& stored, const Folded& f);

/// The image [n, c, h, w] with its rows in groups: [n, c, group, row, w]. Groups that no window
/// reaches are left out.
abi::View InGroups(const abi::View& image, const Folded& f);

/// w[o, c, taps.., s] at [taps.., s * channels + c, o], or with the last two exchanged, along the
/// sum; with rows beside each other row r at [(r + shift) / rows, (s * rows + (r + shift) % rows) *
/// channels + c, o]. Zeros for channels and rows that the model lacks.
ir::Tensor FoldedWeights(const ir::Tensor& w, const Folded& f, bool along_sum);

/// The weights' view [o, k, taps.., 1] of a buffer [taps, k, o] or [taps, o, k].
abi::View FoldedWeightsView(const abi::View& w, const Folded& f, bool along_sum);

}  // namespace aicf
