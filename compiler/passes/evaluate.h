/// Evaluates single nodes on constants by lowering the node alone and interpreting the result on
/// the reference kernels, so that an op means the same when it is folded and when it runs.
#pragma once

#include <optional>
#include <vector>

#include "base/status.h"
#include "compiler/ir/graph.h"
#include "compiler/passes/pass.h"

namespace aicf {

/// Limits for one node, so that folding cannot grow a model or the time of a compilation without
/// bound. The budgets limit all nodes that one Folder evaluates together. A node beyond a limit is
/// not folded.
struct FoldLimits {
  int64_t output_bytes = int64_t{64} << 20;  ///< of one node, unless its inputs are larger
  double operations = 1e9;                   ///< of one node, on the scalar reference kernels
};

class Folder {
 public:
  explicit Folder(PassContext& context, FoldLimits limits = {});

  /// True when the node's results depend on nothing but constants and known shapes.
  static bool CanFold(const ir::Graph& graph, const ir::Node& node);

  /// The outputs' values, or nullopt when a limit or a missing lowering keeps the node; `why` then
  /// says which. REQUIRES: CanFold; the outputs' shapes are inferred. Errors: kInternal.
  Result<std::optional<std::vector<ir::Tensor>>> Evaluate(const ir::Graph& graph,
                                                          const ir::Node& node, std::string* why);

 private:
  Status CheckLimits(const ir::Graph& graph, const ir::Node& node) const;
  Result<std::vector<ir::Tensor>> Run(const ir::Graph& graph, const ir::Node& node);

  const FoldLimits limits_;
  const int64_t total_bytes_;
  int64_t bytes_left_;
  double operations_left_;
  DecisionLog discarded_;  ///< decisions of the throw-away lowerings
  PassContext context_;
};

}  // namespace aicf
