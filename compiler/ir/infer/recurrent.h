/// RNN, GRU and LSTM: what their attributes and inputs come to, for the shape rule and the
/// lowering.
#pragma once

#include "base/status.h"
#include "compiler/ir/graph.h"
#include "kernels/abi/attrs.h"

namespace aicf::ir {

/// Places of the inputs, the same for the three ops as far as they have them.
struct RecurrentInputs {
  static constexpr size_t kX = 0, kW = 1, kR = 2, kB = 3, kLengths = 4, kH = 5, kC = 6, kP = 7;
};

struct RecurrentSpec {
  /// All attributes of the step. `lengths` is set only where sequence_lens is not constant or has a
  /// length other than the number of steps.
  abi::RecurrentAttrs attrs;
  int64_t directions = 1, steps = 0, batch = 0, input = 0, hidden = 0;
  int64_t gates = 1;
  bool batch_first = false;  ///< layout 1: the batch is axis 0 of X, Y and the states
};

/// REQUIRES: dtypes and shapes of the inputs are known. Errors: kBadModel naming the rule.
Result<RecurrentSpec> ResolveRecurrent(const Graph& graph, const Node& node);

}  // namespace aicf::ir
