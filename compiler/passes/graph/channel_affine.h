/// Per-channel multiplication and addition of constants, and the products whose weights can take
/// them.
#pragma once

#include <vector>

#include "compiler/passes/graph/rewrite.h"

namespace aicf {

/// y = x * scale[c] + shift[c] over the channels of a product's result.
struct ChannelAffine {
  std::vector<double> scale, shift;
};

/// The affine that a node applies to `input`, a value with the channels at `axis`. Errors:
/// kUnsupported with the sentence that says why it is none: not constant, not per channel, not
/// finite.
Result<ChannelAffine> AffineOf(const ir::Graph& graph, const ir::Node& node, ir::ValueId input,
                               int axis);

/// True for Conv, ConvTranspose and Gemm.
bool IsProduct(const ir::Node& node);

/// Channel axis of a product's result.
inline constexpr int kProductChannelAxis = 1;

/// New weights and bias, with which the product applies the affine as well; empty when nothing was
/// done.
struct FoldedProduct {
  ir::Tensor weights, bias;
};
/// REQUIRES: the product's weights are constant. Errors: kUnsupported with the reason: a bias that
/// is not constant per channel, or a result out of range.
Result<FoldedProduct> FoldAffine(const ir::Graph& graph, const ir::Node& product,
                                 const ChannelAffine& affine);

}  // namespace aicf
