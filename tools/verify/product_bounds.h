/// How far the results of a product or a sum may lie apart where its terms cancel, or where its
/// epilogue takes away nearly all of it.
///
/// The norm of a step's results stands for the magnitude of the terms that were added, and is too
/// small where large terms of both signs leave a small sum: a folded normalisation in front of a
/// large bias does that to whole channels, and so does a variance that is the mean of the squares
/// minus the square of the mean. There the terms themselves tell: with
///   delta = (4 u(added) sqrt(K + n) + 2 u(math)) * sum |a b|
/// (step_tolerance.h has the letters; 2 u(math) sum |a b| bounds what rounded operands can do), the
/// results of the step lie between those of its epilogue at the raw sum - delta and + delta. For a
/// product of two halves they lie between the least and the largest of the four combinations of
/// these ends. For a reduction, |a b| is the magnitude of its prologue's results.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "kernels/abi/problem.h"

namespace aicf::tools {

using Bytes = std::vector<std::byte>;

struct ProductBounds {
  /// Dense results at both ends, one buffer for each result of the epilogue.
  std::vector<Bytes> low, high;
};

/// Bounds the results of a gemm, conv or blockgemm of floats, or of a sum or mean of floats;
/// nullopt for any other step. Where rows become integers of 8 bits, |a| is the largest of a's
/// group. Runs reference kernels on the calling thread: the product or sum itself, once more with
/// the magnitudes of its terms and, if the epilogue reads moments of rows, a third time for these;
/// and the epilogue at each end. `operands` are the buffers of problem.inputs, unpacked.
std::optional<ProductBounds> BoundProduct(const abi::Problem& problem,
                                          const std::vector<const std::byte*>& operands,
                                          const std::vector<size_t>& operand_bytes);

}  // namespace aicf::tools
