/// Attention as the steps that it replaces, for targets without a kernel for it.
#pragma once

#include <string>
#include <vector>

#include "compiler/ir/lowered.h"

namespace aicf {

/// Empty if AttentionSteps can split the step, else "name: sentence": what the step does that
/// products and a softmax cannot express.
std::string CheckSplit(const abi::Problem& attention);

/// Steps that compute what the attention step does: a product of queries and keys, its scale and
/// score expression, a softmax over the keys, a product with the values. Buffers between them are
/// added to the program. The scores are f32 (f64 for f64 data), the probabilities of the values'
/// dtype. REQUIRES: CheckSplit is empty.
std::vector<ir::LoweredStep> AttentionSteps(ir::Lowered& lowered, const ir::LoweredStep& attention);

}  // namespace aicf
