/// The op table: ops.def as data. A new graph op is one row there, a shape rule and a lowering.
#pragma once

#include <span>
#include <string_view>

#include "base/status.h"
#include "compiler/ir/graph.h"

namespace aicf {

class LowerContext;  // compiler/passes/lower/lower.h

namespace ir {

struct OpInfo {
  std::string_view name;
  int min_inputs;
  int max_inputs;  ///< -1: any number
  int outputs;     ///< -1: any number
  /// Sets dtype and shape of the node's outputs from its inputs (whose shapes are known) and, where
  /// an op takes shapes as tensors, from constant inputs. Errors: kBadModel naming the rule that is
  /// broken; kUnsupported when it needs the value of an input that is not constant.
  Status (*infer)(Graph&, const Node&);
  /// Emits steps for the node. REQUIRES: infer succeeded.
  Status (*lower)(LowerContext&, const Node&);
};

std::span<const OpInfo> AllOps();
const OpInfo* FindOp(std::string_view name);  ///< nullptr when unknown

}  // namespace ir
}  // namespace aicf
